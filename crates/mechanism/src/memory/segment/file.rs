//! A plain file in a directory of the user's choice. The kernel may write it to a disk in the background.

use super::{Segment, named_memory, share_object};
use crate::{Link, LinkSpecification, NamedObject};
use furlong_model::Reach;
use furlong_os::memory::{Region, page_bytes};
use furlong_os::page_kind::rounded;
use furlong_os::{Handle, file_system};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Memory backed by a file.
#[derive(Debug)]
pub struct FileShm;

impl Segment for FileShm {
    const NAME: &'static str = "file-shm";
    const SUMMARY: &'static str = "mailbox in a mapped file (location: --file-folder)";
    const REACH: Reach = Reach::FileSystem;
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| named_memory(file_system::named_file(&path(specification)?, page_bytes())?),
        open: |specification| named_memory(open(specification)?),
        file: Some(open),
    });

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let whole = rounded(len, specification.conditions.pages())?;
        let file = file_system::unnamed_file(specification.memory_folder()?, &specification.name, whole)?;
        share_object(file, specification, len, link)
    }
}

fn path(specification: &LinkSpecification) -> io::Result<PathBuf> {
    Ok(specification.memory_folder()?.join(&specification.name))
}

fn open(specification: &LinkSpecification) -> io::Result<Handle> {
    file_system::open_file(&path(specification)?, false)
}

//! A plain file in a directory of the user's choice. The kernel may write it to a disk in the background.

use super::{Segment, share_object};
use crate::{Link, LinkSpecification};
use furlong_model::Reach;
use furlong_os::file_system;
use furlong_os::memory::Region;
use furlong_os::page_kind::rounded;
use std::io;
use std::sync::Arc;

/// Memory backed by a file.
#[derive(Debug)]
pub struct FileShm;

impl Segment for FileShm {
    const NAME: &'static str = "file-shm";
    const SUMMARY: &'static str = "mailbox in a mapped file (location: --file-folder)";
    const REACH: Reach = Reach::FileSystem;

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let whole = rounded(len, specification.conditions.pages())?;
        let file = file_system::unnamed_file(specification.memory_folder()?, &specification.name, whole)?;
        share_object(file, specification, len, link)
    }
}

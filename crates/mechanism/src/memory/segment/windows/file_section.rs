//! A section that a file backs, in a folder of the user's choice. Windows may write it to a disk in the background.

use crate::memory::segment::{Segment, share_object};
use crate::{Link, LinkSpecification};
use furlong_model::Reach;
use furlong_os::memory::Region;
use furlong_os::{AsHandle, file_system, windows::segment};
use std::io;
use std::sync::Arc;

/// Memory backed by a file.
#[derive(Debug)]
pub struct FileSection;

impl Segment for FileSection {
    const NAME: &'static str = "file-section";
    const SUMMARY: &'static str = "mailbox in a file-backed section (location: --file-folder)";
    const REACH: Reach = Reach::FileSystem;

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let file = file_system::unnamed_file(specification.memory_folder()?, &specification.name, len)?;
        let region = share_object(segment::from_file(file.as_handle(), len)?, specification, len, link)?;
        // The file is removed with its last handle, after the last mapping is closed.
        link.removes(move || {
            drop(file);
            Ok(())
        });
        Ok(region)
    }
}

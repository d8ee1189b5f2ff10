//! A section that the paging file backs: the object that `CreateFileMapping` makes without a file.

use crate::memory::segment::{Segment, share_object};
use crate::{Link, LinkSpecification};
use furlong_model::Reach;
use furlong_os::memory::{Region, anonymous_object};
use std::io;
use std::sync::Arc;

/// Memory without a file.
#[derive(Debug)]
pub struct Section;

impl Segment for Section {
    const NAME: &'static str = "section";
    const SUMMARY: &'static str = "mailbox in a section that the paging file backs (CreateFileMapping)";
    const REACH: Reach = Reach::Descriptor;

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        share_section(specification, len, link)
    }
}

/// Makes a section of `len` bytes for both roles.
pub(crate) fn share_section(
    specification: &LinkSpecification,
    len: usize,
    link: &mut Link,
) -> io::Result<Arc<Region>> {
    share_object(anonymous_object(&specification.name, len)?, specification, len, link)
}

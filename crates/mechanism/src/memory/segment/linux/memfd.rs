//! A memfd: memory with a descriptor and without a name.

use crate::memory::segment::{Segment, share_object};
use crate::{Link, LinkSpecification};
use furlong_model::{Limits, Reach, Unavailable};
use furlong_os::linux::segment;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;

/// Remedy if memfds are forbidden.
const ALLOW: &str = "in a container, allow it in the seccomp profile";

/// Memory with a descriptor.
#[derive(Debug)]
pub struct MemfdShm;

impl Segment for MemfdShm {
    const NAME: &'static str = "memfd-shm";
    const SUMMARY: &'static str = "mailbox in a memfd_create object";
    const REACH: Reach = Reach::Descriptor;

    fn probe() -> Result<Limits, Unavailable> {
        segment::memfd("probe", 1)
            .map(|_| Limits::none())
            .map_err(|error| Unavailable::call("memfd_create", &error, "Linux 3.17 or later", ALLOW))
    }

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        share_memfd(specification, len, link)
    }
}

/// Makes a memfd of `len` bytes for both roles.
pub(crate) fn share_memfd(
    specification: &LinkSpecification,
    len: usize,
    link: &mut Link,
) -> io::Result<Arc<Region>> {
    let object = segment::backed_memfd(&specification.name, len, specification.conditions.pages())?;
    share_object(object, specification, len, link)
}

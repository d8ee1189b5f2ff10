//! A POSIX shared memory object: a file in the tmpfs at /dev/shm.

use crate::memory::segment::{Segment, named_memory, share_object};
use crate::{Link, LinkSpecification, NamedObject};
use furlong_model::{Limits, Reach, Unavailable};
use furlong_os::linux::segment;
use furlong_os::memory::{Region, page_bytes};
use furlong_os::page_kind::rounded;
use std::io;
use std::sync::Arc;

/// Memory with a name.
#[derive(Debug)]
pub struct PosixShm;

impl Segment for PosixShm {
    const NAME: &'static str = "posix-shm";
    const SUMMARY: &'static str = "mailbox in a shm_open object";
    const REACH: Reach = Reach::FileSystem;
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| named_memory(segment::named_posix_shm(&specification.name, page_bytes())?),
        open: |specification| named_memory(segment::open_posix_shm(&specification.name)?),
        file: Some(|specification| segment::open_posix_shm(&specification.name)),
    });

    fn probe() -> Result<Limits, Unavailable> {
        segment::can_create_in("/dev/shm".as_ref()).map(|()| Limits::none()).map_err(|error| {
            Unavailable::new(
                format!("/dev/shm cannot be used: {error}"),
                "mount a tmpfs there that you may write to",
            )
        })
    }

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let whole = rounded(len, specification.conditions.pages())?;
        share_object(segment::posix_shm(&specification.name, whole)?, specification, len, link)
    }
}

//! A System V segment. It is marked for removal as soon as the supervisor has attached it, so that it ends with its last user.
//! Linux still lets the roles attach through its identifier.

use crate::memory::segment::Segment;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Limits, Reach, Unavailable};
use furlong_os::linux::limits::sysctl_number_or;
use furlong_os::linux::sysv_segment;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;

/// Memory with an identifier.
#[derive(Debug)]
pub struct SysvShm;

impl Segment for SysvShm {
    const NAME: &'static str = "sysv-shm";
    const SUMMARY: &'static str = "mailbox in a System V shared memory segment";
    const REACH: Reach = Reach::IpcNamespace;

    fn probe() -> Result<Limits, Unavailable> {
        match sysctl_number_or("kernel.shmmax", usize::MAX) {
            // The region holds two messages and a head.
            Some(largest) if largest < isize::MAX as usize => Ok(Limits::at(
                (largest / 2).saturating_sub(4096),
                "kernel.shmmax",
                "raise it as administrator: sysctl kernel.shmmax",
            )),
            Some(_) => Ok(Limits::none()),
            None => Err(Unavailable::new("the kernel has no System V shared memory", "CONFIG_SYSVIPC=y")),
        }
    }

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let segment = sysv_segment::create(len, specification.conditions.pages())?;
        link.give_number(segment.number);
        let region = Arc::new(segment.region);
        link.keep(&region);
        Ok(region)
    }

    fn attach(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        len: usize,
    ) -> io::Result<Arc<Region>> {
        sysv_segment::attach(setup.number()?, len, specification.conditions.pages()).map(Arc::new)
    }
}

//! The backing of shared memory: one kind per file.

#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use file::FileShm;
#[cfg(target_os = "linux")]
pub(crate) use linux::share_memfd as share_nameless;
#[cfg(target_os = "linux")]
pub use linux::{AnonShm, DriverShm, MemfdShm, PosixShm, SysvShm};
#[cfg(windows)]
pub(crate) use windows::share_section as share_nameless;
#[cfg(windows)]
pub use windows::{FileSection, Section};

use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Lifetime, Limits, Reach, Start, Unavailable};
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;

/// A kind of memory that two processes can map.
pub trait Segment: 'static {
    /// Name of the mechanism.
    const NAME: &'static str;
    /// Summary of the mechanism in one line.
    const SUMMARY: &'static str;
    /// Resource that two processes must share to map the memory.
    const REACH: Reach;
    /// Lifetime of the kernel object.
    const LIFETIME: Lifetime = Lifetime::Users;
    /// How the processes must be started.
    const START: Start = Start::Fresh;

    /// Returns the limits of this memory, or the reason why the machine does not have it.
    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    /// Makes `len` zeroed bytes, adds them to both ends, and returns the supervisor's mapping.
    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>>;

    /// Maps the memory of a role's end.
    fn attach(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        len: usize,
    ) -> io::Result<Arc<Region>> {
        attach_object(specification, setup, len)
    }
}

/// Adds a memory object to both ends and maps it.
fn share_object(
    object: Handle,
    specification: &LinkSpecification,
    len: usize,
    link: &mut Link,
) -> io::Result<Arc<Region>> {
    let region = Region::backed(object.as_handle(), len, specification.conditions.pages())?;
    link.give_both(object)?;
    Ok(Arc::new(region))
}

/// Maps the next memory object of the set-up.
pub(crate) fn attach_object(
    specification: &LinkSpecification,
    setup: &mut EndpointSetup,
    len: usize,
) -> io::Result<Arc<Region>> {
    Region::backed(setup.descriptor()?.as_handle(), len, specification.conditions.pages()).map(Arc::new)
}

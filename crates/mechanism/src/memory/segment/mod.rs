//! What backs shared memory: one kind, one file.

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
    /// The mechanism's name.
    const NAME: &'static str;
    /// One line that says what it is.
    const SUMMARY: &'static str;
    /// What two processes must have in common.
    const REACH: Reach;
    /// How long the kernel keeps it.
    const LIFETIME: Lifetime = Lifetime::Users;
    /// How the processes must be started.
    const START: Start = Start::Fresh;

    /// Whether this machine has it.
    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    /// Makes `len` zeroed bytes, hands them over, and gives the supervisor's own view of them.
    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>>;

    /// A role's view of what was handed over.
    fn attach(setup: &mut EndpointSetup, len: usize) -> io::Result<Arc<Region>> {
        attach_object(setup, len)
    }
}

/// Hands a memory object to both roles and maps it.
fn share_object(object: Handle, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
    let region = Region::of_file(object.as_handle(), len)?;
    link.give_both(object)?;
    Ok(Arc::new(region))
}

/// Maps the memory object that the set-up has next.
pub(crate) fn attach_object(setup: &mut EndpointSetup, len: usize) -> io::Result<Arc<Region>> {
    Region::of_file(setup.descriptor()?.as_handle(), len).map(Arc::new)
}

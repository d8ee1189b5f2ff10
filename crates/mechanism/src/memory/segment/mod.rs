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

#[cfg(target_os = "linux")]
use crate::NamedEnd;
use crate::{EndpointSetup, Link, LinkSpecification, NamedObject};
use furlong_model::{Lifetime, Limits, Reach, Start, Unavailable};
use furlong_os::memory::Region;
#[cfg(target_os = "linux")]
use furlong_os::memory::page_bytes;
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::Ordering;

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
    /// Memory with a name; `None` if it has no name, or if furlong does not use it.
    const NAMED: Option<NamedObject> = None;

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

/// Returns the end of memory with a name: its first word is the number.
#[cfg(target_os = "linux")]
fn named_memory(object: Handle) -> io::Result<Box<dyn NamedEnd>> {
    Ok(Box::new(Region::from_file(object.as_handle(), page_bytes())?))
}

#[cfg(target_os = "linux")]
impl NamedEnd for Region {
    fn put(&mut self, number: u32) -> io::Result<()> {
        self.word(0).store(number, Ordering::Release);
        Ok(())
    }

    fn take(&mut self) -> io::Result<u32> {
        match self.word(0).swap(0, Ordering::AcqRel) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            number => Ok(number),
        }
    }
}

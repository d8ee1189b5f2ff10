//! What holds the bytes of a region: one kind, one file.
//!
//! Whatever a kind makes has no name, or is mounted nowhere, or is in the run's journal: however a run ends, nothing is
//! left of it.

#[cfg(target_os = "linux")]
mod anonymous;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod huge_pages;
#[cfg(target_os = "linux")]
mod loop_device;
#[cfg(target_os = "linux")]
mod memfd;
#[cfg(target_os = "linux")]
mod ram_disk;
#[cfg(target_os = "linux")]
mod tmpfs;

use crate::session::{CleanupGuard, Session};
use furlong_model::{Backing, Unavailable};
#[cfg(target_os = "linux")]
use furlong_os::available_memory::available_bytes;
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle, RawHandle};
#[cfg(target_os = "linux")]
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The region, as the supervisor has it.
pub(super) enum Memory {
    /// Mapped, for forks to inherit.
    Mapped(Arc<Region>),
    /// To be mapped by each role, at this length.
    Object(Handle, usize),
}

impl Memory {
    /// The descriptor that roles inherit, and the length that they map.
    pub(super) fn object(&self) -> Option<(RawHandle, usize)> {
        match self {
            Memory::Mapped(_) => None,
            Memory::Object(object, len) => Some((object.raw_handle(), *len)),
        }
    }
}

/// A region and what it stands on. Its parts are given back in their order.
pub(super) struct BackedRegion<'a> {
    pub(super) memory: Memory,
    /// The file system and device in effect, in words.
    pub(super) in_effect: String,
    /// The file system, where it is mounted for this trial alone.
    _file_system: Option<Handle>,
    /// The device under it.
    _device: Option<File>,
    /// What outlives all processes.
    _made: Option<CleanupGuard<'a>>,
}

impl<'a> BackedRegion<'a> {
    #[cfg(target_os = "linux")]
    fn plain(memory: Memory, in_effect: impl Into<String>) -> BackedRegion<'a> {
        BackedRegion { memory, in_effect: in_effect.into(), _file_system: None, _device: None, _made: None }
    }
}

/// The memory as a role inherits it, before it is mapped.
pub(super) enum InheritedMemory {
    /// It is mapped already.
    Mapped(Arc<Region>),
    /// To be mapped at this length.
    Object(Handle, usize),
}

impl InheritedMemory {
    /// Maps it.
    pub(super) fn map(self) -> io::Result<Arc<Region>> {
        match self {
            InheritedMemory::Mapped(region) => Ok(region),
            InheritedMemory::Object(object, len) => Region::of_file(object.as_handle(), len).map(Arc::new),
        }
    }
}

/// Makes a region of `size_bytes`.
///
/// # Errors
/// Why this machine, or the rights of this process, have no such backing.
#[cfg(target_os = "linux")]
pub(super) fn make(
    backing: Backing,
    size_bytes: usize,
    session: &Session,
) -> Result<BackedRegion<'_>, Unavailable> {
    ensure_memory(backing, size_bytes)?;
    match backing {
        Backing::Anonymous => anonymous::make(size_bytes),
        Backing::Tmpfs => tmpfs::make(size_bytes),
        Backing::Memfd => memfd::make(size_bytes),
        Backing::Disk => disk::make(size_bytes, session),
        Backing::RamDisk => ram_disk::make(size_bytes, session),
        Backing::Loop => loop_device::make(size_bytes, session),
        Backing::HugePages => huge_pages::make(size_bytes, session),
    }
}

/// Makes none.
///
/// # Errors
/// Why.
#[cfg(not(target_os = "linux"))]
pub(super) fn make(
    _backing: Backing,
    _size_bytes: usize,
    _session: &Session,
) -> Result<BackedRegion<'_>, Unavailable> {
    let reason = "handovers measure what backs memory on Linux: its file systems, devices and huge pages";
    Err(Unavailable::new(reason, "run this on Linux"))
}

/// Refuses what the machine has no memory for: where it ends, the kernel kills processes, furlong or others.
#[cfg(target_os = "linux")]
fn ensure_memory(backing: Backing, size_bytes: usize) -> Result<(), Unavailable> {
    let times = match backing {
        // What is cached of a disk can be dropped.
        Backing::Disk => return Ok(()),
        // These have what the cache has once more, on the device.
        Backing::RamDisk | Backing::Loop => 2,
        Backing::Anonymous | Backing::Tmpfs | Backing::Memfd | Backing::HugePages => 1,
    };
    // File systems, page tables and the roles need some too.
    let needed = (size_bytes as u64).saturating_mul(times).saturating_add(32 << 20);
    match available_bytes() {
        Some(available) if needed > available => {
            let reason = format!("{needed} bytes of memory are needed and {available} are available");
            Err(Unavailable::new(reason, "make room, or take a smaller region"))
        }
        _ => Ok(()),
    }
}

/// The reason of an error that came of `what`, with what helps against its kind where the caller knows nothing better.
#[cfg(target_os = "linux")]
fn because(what: impl Display, error: &io::Error) -> Unavailable {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "run as root (CAP_SYS_ADMIN), in a container with its devices",
        io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => "make room, or take a smaller region",
        io::ErrorKind::Unsupported => "a newer kernel, or a filter (seccomp) that lets the call pass",
        _ => "",
    };
    Unavailable::new(format!("{what}: {error}"), remedy)
}

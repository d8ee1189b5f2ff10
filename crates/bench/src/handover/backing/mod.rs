//! The backing of a region: each kind has its own file.
//!
//! Everything that a backing creates has no name, or is not mounted anywhere, or is in the run's journal. So nothing is
//! left of it, however the run ends.

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

/// The region in the supervisor.
pub(super) enum Memory {
    /// A mapping that forks inherit.
    Mapped(Arc<Region>),
    /// An object that each role maps, and the length to map.
    Object(Handle, usize),
}

impl Memory {
    /// Returns the descriptor that roles inherit and the length that they map; `None` for a mapping.
    pub(super) fn object(&self) -> Option<(RawHandle, usize)> {
        match self {
            Memory::Mapped(_) => None,
            Memory::Object(object, len) => Some((object.raw_handle(), *len)),
        }
    }
}

/// A region and its backing. The fields are dropped in their order.
pub(super) struct BackedRegion<'a> {
    pub(super) memory: Memory,
    /// A description of the file system and device in effect.
    pub(super) in_effect: String,
    /// The file system, if it is mounted for this trial only.
    _file_system: Option<Handle>,
    /// The device under the file system.
    _device: Option<File>,
    /// The entry of a resource that outlives all processes.
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
    /// A mapping.
    Mapped(Arc<Region>),
    /// An object, and the length to map.
    Object(Handle, usize),
}

impl InheritedMemory {
    /// Maps the memory.
    pub(super) fn map(self) -> io::Result<Arc<Region>> {
        match self {
            InheritedMemory::Mapped(region) => Ok(region),
            InheritedMemory::Object(object, len) => Region::from_file(object.as_handle(), len).map(Arc::new),
        }
    }
}

/// Creates a region of `size_bytes`.
///
/// # Errors
/// Returns the reason if this machine lacks the backing, or if this process lacks the rights.
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

/// Creates nothing.
///
/// # Errors
/// Returns the reason always: only Linux has backings to compare.
#[cfg(not(target_os = "linux"))]
pub(super) fn make(
    _backing: Backing,
    _size_bytes: usize,
    _session: &Session,
) -> Result<BackedRegion<'_>, Unavailable> {
    let reason = "handovers measure what backs memory on Linux: its file systems, devices and huge pages";
    Err(Unavailable::new(reason, "run this on Linux"))
}

/// Rejects a size for which the machine lacks memory: if memory runs out, the kernel kills furlong or other processes.
#[cfg(target_os = "linux")]
fn ensure_memory(backing: Backing, size_bytes: usize) -> Result<(), Unavailable> {
    let times = match backing {
        // The kernel can drop the cached pages of a disk.
        Backing::Disk => return Ok(()),
        // The data exists twice: in the page cache and on the device.
        Backing::RamDisk | Backing::Loop => 2,
        Backing::Anonymous | Backing::Tmpfs | Backing::Memfd | Backing::HugePages => 1,
    };
    // File systems, page tables and the roles also need memory.
    let needed = (size_bytes as u64).saturating_mul(times).saturating_add(32 << 20);
    match available_bytes() {
        Some(available) if needed > available => {
            let reason = format!("{needed} bytes of memory are needed and {available} are available");
            Err(Unavailable::new(reason, "free memory or disk space, or use a smaller region"))
        }
        _ => Ok(()),
    }
}

/// Converts an error of `what` to its reason, with a remedy for its kind. The caller may know a better remedy.
#[cfg(target_os = "linux")]
fn because(what: impl Display, error: &io::Error) -> Unavailable {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "run as root (CAP_SYS_ADMIN), in a container with its devices",
        io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => {
            "free memory or disk space, or use a smaller region"
        }
        io::ErrorKind::Unsupported => "use a newer kernel, or allow the call in the seccomp filter",
        _ => "",
    };
    Unavailable::new(format!("{what}: {error}"), remedy)
}

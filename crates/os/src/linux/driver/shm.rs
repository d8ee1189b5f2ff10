//! The shared-memory device: a region that all its openers map, and a bell for each of them.
//!
//! Whoever opens the device is a peer until its last descriptor is closed and its last mapping is gone.

use super::{MAGIC, ask, tell};
use crate::error::{Context, retry};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// Peers of one device.
pub const PEERS: u32 = 64;

/// `FURLONG_SHM_*`, the requests.
pub const INFO: libc::Ioctl = libc::_IOR::<Info>(MAGIC, 0x10);
/// As above.
pub const RESIZE: libc::Ioctl = libc::_IOW::<u64>(MAGIC, 0x11);
/// As above. [`ring`] does the same by `write`.
pub const RING: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x12);
/// As above.
pub const WATCH: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x13);

/// `struct furlong_shm_info`: a region as it is now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// The version of the contract that the module speaks.
    pub abi: u32,
    /// The number in the device's name.
    pub channel: u32,
    /// The number of the peer that asks.
    pub peer: u32,
    /// How often the region is mapped, by all peers.
    pub mappings: u32,
    /// Bytes of the region.
    pub size: u64,
    /// A bit for each peer that is there.
    pub peers: u64,
    /// A bit for each peer that the asker watches.
    pub watched: u64,
    /// A bit for each of these that has gone.
    pub gone: u64,
}

const _: () = assert!(size_of::<Info>() == 48);

/// Where programs find the channel of this number.
pub fn path(channel: u32) -> PathBuf {
    super::path("shm", channel)
}

/// What the region is and who is there.
///
/// # Errors
/// For what is no shared-memory device.
pub fn info(device: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: the request is defined with this structure, and the kernel fills one.
    unsafe { ask(device, INFO, &raw mut info) }.context(|| "FURLONG_SHM_INFO")?;
    Ok(info)
}

/// Gives the region at least `bytes`, all zero, until the last peer is gone.
///
/// # Errors
/// `ResourceBusy` while it is mapped, `StorageFull` beyond the module's `memory_max`.
pub fn resize(device: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    tell(device, RESIZE, bytes).context(|| format!("FURLONG_SHM_RESIZE to {bytes} bytes"))
}

/// Has a peer's end be heard: then [`take_rings`] gives 0.
///
/// # Errors
/// If it is gone already.
pub fn watch(device: BorrowedFd<'_>, peer: u32) -> io::Result<()> {
    tell(device, WATCH, peer).context(|| format!("FURLONG_SHM_WATCH of peer {peer}"))
}

/// Rings a peer's bell.
#[inline]
pub fn ring(device: BorrowedFd<'_>, peer: u32) -> io::Result<()> {
    // SAFETY: the kernel reads 4 bytes from a u32.
    retry(|| unsafe { libc::write(device.as_raw_fd(), (&raw const peer).cast(), 4) }).map(drop)
}

/// How often one's own bell was rung since the last time; waits for that unless the device is non-blocking. 0 is the
/// end: a watched peer is gone.
#[inline]
pub fn take_rings(device: BorrowedFd<'_>) -> io::Result<u64> {
    let mut rings = 0u64;
    // SAFETY: the kernel writes 8 bytes into a u64, or none at the end.
    retry(|| unsafe { libc::read(device.as_raw_fd(), (&raw mut rings).cast(), 8) })?;
    Ok(rings)
}

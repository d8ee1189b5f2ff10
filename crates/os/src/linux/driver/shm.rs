//! The shared-memory device: a region that all its openers map, and a bell for each of them.
//!
//! Each opener of the device is a peer until its last descriptor is closed and its last mapping is removed.

use super::{MAGIC, ask, tell};
use crate::error::{Context, retry};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// Maximum number of peers of one device.
pub const PEERS: u32 = 64;

/// Request `FURLONG_SHM_INFO`, for [`info`].
pub const INFO: libc::Ioctl = libc::_IOR::<Info>(MAGIC, 0x10);
/// Request `FURLONG_SHM_RESIZE`, for [`resize`].
pub const RESIZE: libc::Ioctl = libc::_IOW::<u64>(MAGIC, 0x11);
/// Request `FURLONG_SHM_RING`. [`ring`] has the same effect through `write`.
pub const RING: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x12);
/// Request `FURLONG_SHM_WATCH`, for [`watch`].
pub const WATCH: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x13);

/// `struct furlong_shm_info`: current state of a region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// Version of the module's contract.
    pub abi: u32,
    /// Number in the device's name.
    pub channel: u32,
    /// Number of the peer that makes the request.
    pub peer: u32,
    /// Number of mappings of the region, of all peers.
    pub mappings: u32,
    /// Size of the region, in bytes.
    pub size: u64,
    /// One bit for each existing peer.
    pub peers: u64,
    /// One bit for each peer that the caller watches.
    pub watched: u64,
    /// One bit for each watched peer that has left.
    pub gone: u64,
}

const _: () = assert!(size_of::<Info>() == 48);

/// Returns the path of the channel with this number.
pub fn path(channel: u32) -> PathBuf {
    super::path("shm", channel)
}

/// Returns the state of the region and its peers.
///
/// # Errors
/// Returns an error if `device` is not a shared-memory device.
pub fn info(device: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: the request is defined with this structure, and the kernel fills one.
    unsafe { ask(device, INFO, &raw mut info) }.context(|| "FURLONG_SHM_INFO")?;
    Ok(info)
}

/// Sets the region's size to at least `bytes`, all zero, until the last peer leaves.
///
/// # Errors
/// Returns `ResourceBusy` while the region is mapped, `StorageFull` above the module's `memory_max`.
pub fn resize(device: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    tell(device, RESIZE, bytes).context(|| format!("FURLONG_SHM_RESIZE to {bytes} bytes"))
}

/// Watches a peer: once it leaves, [`take_rings`] returns 0.
///
/// # Errors
/// Returns an error if the peer has already left.
pub fn watch(device: BorrowedFd<'_>, peer: u32) -> io::Result<()> {
    tell(device, WATCH, peer).context(|| format!("FURLONG_SHM_WATCH of peer {peer}"))
}

/// Rings a peer's bell.
#[inline]
pub fn ring(device: BorrowedFd<'_>, peer: u32) -> io::Result<()> {
    // SAFETY: the kernel reads 4 bytes from a u32.
    retry(|| unsafe { libc::write(device.as_raw_fd(), (&raw const peer).cast(), 4) }).map(drop)
}

/// Returns the number of times that the own bell was rung since the last call, and waits for the first unless the device is
/// non-blocking. 0 means that a watched peer has left.
#[inline]
pub fn take_rings(device: BorrowedFd<'_>) -> io::Result<u64> {
    let mut rings = 0u64;
    // SAFETY: the kernel writes 8 bytes into a u64, or none at the end.
    retry(|| unsafe { libc::read(device.as_raw_fd(), (&raw mut rings).cast(), 8) })?;
    Ok(rings)
}

//! The message device: a bounded queue of messages in the kernel, which keeps message boundaries.

use super::{MAGIC, ask, tell};
use crate::error::Context;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// Largest configurable message size of a channel, in bytes.
pub const SIZE_MAX: u32 = 1 << 20;
/// Largest configurable number of messages of a channel.
pub const DEPTH_MAX: u32 = 65536;

/// Flag of an open device: no message is read in parts.
pub const STRICT: u32 = 1 << 0;
/// Flag of the channel: once no process has it open, its messages are discarded and its limits are those of the module again.
pub const TRANSIENT: u32 = 1 << 1;

/// Request `FURLONG_MESSAGE_INFO`, for [`info`].
pub const INFO: libc::Ioctl = libc::_IOR::<Info>(MAGIC, 0x00);
/// Request `FURLONG_MESSAGE_LIMITS`, for [`set_limits`].
pub const LIMITS: libc::Ioctl = libc::_IOW::<Limits>(MAGIC, 0x01);
/// Request `FURLONG_MESSAGE_FLAGS`, for [`set_flags`].
pub const FLAGS: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x02);
/// Request `FURLONG_MESSAGE_RESET`, for [`reset`].
pub const RESET: libc::Ioctl = libc::_IO(MAGIC, 0x03);

/// `struct furlong_message_info`: current state of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// Version of the module's contract.
    pub abi: u32,
    /// Number in the device's name.
    pub channel: u32,
    /// Maximum number of messages in the queue.
    pub depth: u32,
    /// Maximum size of a message, in bytes.
    pub size: u32,
    /// Number of messages in the queue.
    pub queued: u32,
    /// Number of open file descriptions of the device.
    pub openers: u32,
    /// Flags of this open device.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// Size of the messages in the queue, in bytes.
    pub queued_bytes: u64,
    /// Number of messages sent since the module was loaded.
    pub sent: u64,
    /// Number of messages that readers have received.
    pub received: u64,
    /// Number of messages that were discarded.
    pub discarded: u64,
}

/// `struct furlong_message_limits`: limits of a channel.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Limits {
    /// Maximum number of messages.
    pub depth: u32,
    /// Maximum size of a message, in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: [u32; 2],
}

const _: () = assert!(size_of::<Info>() == 64 && size_of::<Limits>() == 16);

/// Returns the path of the channel with this number.
pub fn path(channel: u32) -> PathBuf {
    super::path("message", channel)
}

/// Returns the state of the channel.
///
/// # Errors
/// Returns an error if `device` is not a message device.
pub fn info(device: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: the request is defined with this structure, and the kernel fills one.
    unsafe { ask(device, INFO, &raw mut info) }.context(|| "FURLONG_MESSAGE_INFO")?;
    Ok(info)
}

/// Sets the maximum number of messages in the queue, and their maximum size.
///
/// # Errors
/// Returns `ResourceBusy` if the queue holds more, `StorageFull` above the module's `memory_max`.
pub fn set_limits(device: BorrowedFd<'_>, depth: u32, size: u32) -> io::Result<()> {
    tell(device, LIMITS, Limits { depth, size, reserved: [0; 2] })
        .context(|| format!("FURLONG_MESSAGE_LIMITS of {depth} x {size} bytes"))
}

/// Sets [`STRICT`] and [`TRANSIENT`].
pub fn set_flags(device: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    tell(device, FLAGS, flags).context(|| "FURLONG_MESSAGE_FLAGS")
}

/// Discards all messages in the queue.
pub fn reset(device: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes nothing.
    unsafe { ask::<u8>(device, RESET, std::ptr::null_mut()) }.context(|| "FURLONG_MESSAGE_RESET")
}

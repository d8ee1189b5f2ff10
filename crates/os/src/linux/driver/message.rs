//! The message device: a bounded queue of messages in the kernel, in which boundaries are kept.

use super::{MAGIC, ask, tell};
use crate::error::Context;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// The largest message that a channel can be made to take, in bytes.
pub const SIZE_MAX: u32 = 1 << 20;
/// The most messages that a channel can be made to hold.
pub const DEPTH_MAX: u32 = 65536;

/// A flag of an open device: no message is read in parts.
pub const STRICT: u32 = 1 << 0;
/// A flag of the channel: when nobody has it open any more its messages go, and its limits are the module's again.
pub const TRANSIENT: u32 = 1 << 1;

/// `FURLONG_MESSAGE_*`, the requests.
pub const INFO: libc::Ioctl = libc::_IOR::<Info>(MAGIC, 0x00);
/// As above.
pub const LIMITS: libc::Ioctl = libc::_IOW::<Limits>(MAGIC, 0x01);
/// As above.
pub const FLAGS: libc::Ioctl = libc::_IOW::<u32>(MAGIC, 0x02);
/// As above.
pub const RESET: libc::Ioctl = libc::_IO(MAGIC, 0x03);

/// `struct furlong_message_info`: a channel as it is now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// The version of the contract that the module speaks.
    pub abi: u32,
    /// The number in the device's name.
    pub channel: u32,
    /// Messages that the queue holds at most.
    pub depth: u32,
    /// Bytes that a message has at most.
    pub size: u32,
    /// Messages in the queue.
    pub queued: u32,
    /// How often the device is open.
    pub openers: u32,
    /// The flags of this open device.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes of the messages in the queue.
    pub queued_bytes: u64,
    /// Messages sent since the module was loaded.
    pub sent: u64,
    /// Messages that readers took.
    pub received: u64,
    /// Messages that were thrown away.
    pub discarded: u64,
}

/// `struct furlong_message_limits`: what a channel may hold.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Limits {
    /// Messages.
    pub depth: u32,
    /// Bytes in one.
    pub size: u32,
    /// Zero.
    pub reserved: [u32; 2],
}

const _: () = assert!(size_of::<Info>() == 64 && size_of::<Limits>() == 16);

/// Where programs find the channel of this number.
pub fn path(channel: u32) -> PathBuf {
    super::path("message", channel)
}

/// What the channel is and holds.
///
/// # Errors
/// For what is no message device.
pub fn info(device: BorrowedFd<'_>) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: the request is defined with this structure, and the kernel fills one.
    unsafe { ask(device, INFO, &raw mut info) }.context(|| "FURLONG_MESSAGE_INFO")?;
    Ok(info)
}

/// Sets how many messages the queue holds, and how large they may be.
///
/// # Errors
/// `ResourceBusy` if the queue holds more, `StorageFull` beyond the module's `memory_max`.
pub fn set_limits(device: BorrowedFd<'_>, depth: u32, size: u32) -> io::Result<()> {
    tell(device, LIMITS, Limits { depth, size, reserved: [0; 2] })
        .context(|| format!("FURLONG_MESSAGE_LIMITS of {depth} x {size} bytes"))
}

/// Sets [`STRICT`] and [`TRANSIENT`].
pub fn set_flags(device: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    tell(device, FLAGS, flags).context(|| "FURLONG_MESSAGE_FLAGS")
}

/// Throws away all messages in the queue.
pub fn reset(device: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes nothing.
    unsafe { ask::<u8>(device, RESET, std::ptr::null_mut()) }.context(|| "FURLONG_MESSAGE_RESET")
}

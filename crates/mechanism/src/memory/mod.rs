//! Memory that both processes map: its backing, the layout of messages in it, and how the other end is woken.
//!
//! The three are separate, so that two benchmarks can differ in one property only: a segment (the backing) times a layout (of
//! messages) times a doorbell (to wait and wake).

pub(crate) mod channel;
pub mod doorbell;
pub(crate) mod in_place;
pub mod layout;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod published_address;
pub mod segment;
#[cfg(windows)]
pub(crate) mod windows;

#[cfg(target_os = "linux")]
use linux::channel_end;
#[cfg(windows)]
use windows::channel_end;

#[cfg(target_os = "linux")]
/// Offset of the semaphore that each role posts, each on separate cache lines behind the line of the slots.
pub(crate) const SEMAPHORE_OFFSETS: [usize; 2] = [128, 256];

/// Bytes at the start of a region that are not for payload: the line of the slots and two semaphores.
pub(crate) const HEAD_BYTES: usize = 384;

//! Memory that both processes map: what backs it, how messages lie in it, and how the other end is woken.
//!
//! The three are apart, so that two rows differ in one thing only: a segment (what backs the memory) times a
//! layout (how messages lie) times a doorbell (how to wait and wake).

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
/// Where the semaphore lies that each role posts, in lines of their own behind that of the slots.
pub(crate) const SEMAPHORE_OFFSETS: [usize; 2] = [128, 256];

/// Bytes at the start of a region that are not for payload: the line of the slots and two semaphores.
pub(crate) const HEAD_BYTES: usize = 384;

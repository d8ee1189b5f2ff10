//! POSIX semaphores inside a shared region.

use crate::error::{check, retry};
use crate::linux::memory::Region;
use std::io;

/// Size of a semaphore in bytes, and an upper bound of its alignment.
pub const BYTES: usize = size_of::<libc::sem_t>();

/// Largest value of a semaphore (`SEM_VALUE_MAX`).
pub const MOST: usize = i32::MAX as usize;

/// Initialises a semaphore at `offset` of the region to 0, shared between processes.
pub fn initialise(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: the place is inside the region and aligned, and no process uses it before this returns.
    check(unsafe { libc::sem_init(region.place(offset), 1, 0) }).map(drop)
}

/// Adds one, and wakes a waiting process.
#[inline]
pub fn post(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a semaphore was initialised there, and the region outlives the call.
    check(unsafe { libc::sem_post(region.place(offset)) }).map(drop)
}

/// Subtracts one, and waits if the value is 0.
#[inline]
pub fn wait(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a semaphore was initialised there, and the region outlives the call.
    retry(|| unsafe { libc::sem_wait(region.place(offset)) }).map(drop)
}

/// Subtracts one, or returns `WouldBlock` if the value is 0.
#[inline]
pub fn try_wait(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a semaphore was initialised there, and the region outlives the call.
    retry(|| unsafe { libc::sem_trywait(region.place(offset)) }).map(drop)
}

//! POSIX semaphores inside a shared region.

use crate::error::{check, retry};
use crate::linux::memory::Region;
use std::io;

/// Bytes that one semaphore takes; also its alignment is no larger than this.
pub const BYTES: usize = size_of::<libc::sem_t>();

/// The most that a semaphore counts to (`SEM_VALUE_MAX`).
pub const MOST: usize = i32::MAX as usize;

/// Makes a semaphore at `offset` of the region, shared between processes, at 0.
pub fn initialise(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: the place is inside the region and aligned, and nobody uses it before this returns.
    check(unsafe { libc::sem_init(region.place(offset), 1, 0) }).map(drop)
}

/// Adds one, and wakes a process that waits.
#[inline]
pub fn post(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a semaphore was made there, and the region outlives the call.
    check(unsafe { libc::sem_post(region.place(offset)) }).map(drop)
}

/// Takes one, waiting for it.
#[inline]
pub fn wait(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: as above.
    retry(|| unsafe { libc::sem_wait(region.place(offset)) }).map(drop)
}

/// Takes one, or says `WouldBlock`.
#[inline]
pub fn try_wait(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: as above.
    retry(|| unsafe { libc::sem_trywait(region.place(offset)) }).map(drop)
}

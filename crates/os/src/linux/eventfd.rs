//! Counters in the kernel that a process can wait for.

use crate::error::{check, retry};
use crate::linux::handle::own;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Creates a counter that begins at 0.
pub fn eventfd() -> io::Result<OwnedFd> {
    with_flags(libc::EFD_CLOEXEC)
}

/// Creates a counter that begins at 0, and from which [`take`] subtracts 1.
pub fn semaphore() -> io::Result<OwnedFd> {
    with_flags(libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE)
}

fn with_flags(flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: plain integers in and out; the new descriptor has no other owner.
    check(unsafe { libc::eventfd(0, flags) }).map(|number| unsafe { own(number) })
}

/// Adds `value` to the counter.
#[inline]
pub fn add(fd: BorrowedFd<'_>, value: u64) -> io::Result<()> {
    // SAFETY: the kernel reads 8 bytes from a u64.
    retry(|| unsafe { libc::write(fd.as_raw_fd(), (&raw const value).cast(), 8) }).map(drop)
}

/// Takes the whole counter, or 1 from a semaphore, and returns the amount; waits while it is 0, unless the descriptor is
/// non-blocking.
#[inline]
pub fn take(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut value = 0u64;
    // SAFETY: the kernel writes 8 bytes into a u64.
    retry(|| unsafe { libc::read(fd.as_raw_fd(), (&raw mut value).cast(), 8) })?;
    Ok(value)
}

//! Processes as descriptors, and the descriptors of another process.

use crate::error::{Context, check};
use crate::linux::handle::own;
use crate::linux::process::pidfd_open;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Opens a running process.
pub fn open(pid: i32) -> io::Result<OwnedFd> {
    pidfd_open(pid).ok_or_else(io::Error::last_os_error).context(|| format!("pidfd_open of process {pid}"))
}

/// Duplicates the descriptor `number` of that process into this process.
#[inline]
pub fn take_descriptor(process: BorrowedFd<'_>, number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain integers in and out; the new descriptor has no other owner.
    check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })
        .map(|number| unsafe { own(number as RawFd) })
}

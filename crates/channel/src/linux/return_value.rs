//! From return values of system calls to errors and descriptors.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Below 0 is the failure that `errno` names.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Takes a number that a call has just given.
pub(crate) fn own(number: RawFd) -> OwnedFd {
    // SAFETY: callers pass a descriptor that the kernel has just made for them, and nobody else owns.
    unsafe { OwnedFd::from_raw_fd(number) }
}

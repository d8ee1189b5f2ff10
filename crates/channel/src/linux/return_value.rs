//! Conversion of return values of system calls to errors and descriptors.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Returns the error of `errno` for a negative result.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Returns a descriptor that a call has just returned, as an owned value.
pub(crate) fn own(number: RawFd) -> OwnedFd {
    // SAFETY: callers pass a descriptor that the kernel has just created for them, and that has no other owner.
    unsafe { OwnedFd::from_raw_fd(number) }
}

//! Requests of the tracer to the kernel.

use crate::error::check;
use std::io;

/// Makes a request that takes integers.
pub(super) fn request(what: libc::c_uint, pid: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests made through this function reads or writes our memory.
    check(unsafe { libc::ptrace(what, pid, address, data) }).map(drop)
}

/// Ignores the error that a process is dead, because a request to resume it is then unnecessary.
pub(super) fn alive(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

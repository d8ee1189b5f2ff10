//! What the tracer asks of the kernel.

use crate::error::check;
use std::io;

/// A request that takes integers.
pub(super) fn request(what: libc::c_uint, pid: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests made with this reads or writes our memory.
    check(unsafe { libc::ptrace(what, pid, address, data) }).map(drop)
}

/// That a process is dead is no failure of a request to let it live.
pub(super) fn alive(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

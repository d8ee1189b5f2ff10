//! Probes that run in a child first, because a seccomp filter may kill the process.

use furlong_os::process::{Bond, Exit, fork};
use furlong_os::{AsHandle, handle, linux};
use std::io;

/// SIGSYS, the signal of a filter that kills.
const SIGSYS: i32 = 31;

/// Calls `probe` in a child if this process has a seccomp filter.
///
/// # Errors
/// Returns `PermissionDenied` if the filter kills the child.
pub(crate) fn survived(probe: impl FnOnce()) -> io::Result<()> {
    if !linux::conditions::is_filtered() {
        return Ok(());
    }
    let mut child = fork(&[], handle::open_null()?.as_handle(), Bond::DiesWithParent, || {
        probe();
        0
    })?;
    match child.wait() {
        Some(Exit::Signal(SIGSYS)) => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a seccomp filter kills processes that make its system calls (SIGSYS)",
        )),
        _ => Ok(()),
    }
}

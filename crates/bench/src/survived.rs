//! Probes that a seccomp filter may answer by killing the process: they are tried in a child first.

use furlong_os::process::{Bond, Exit, fork};
use furlong_os::{AsHandle, handle, linux};
use std::io;

/// SIGSYS, by which a filter kills.
const SIGSYS: i32 = 31;

/// Calls `probe` in a child if this process has a seccomp filter.
///
/// # Errors
/// `PermissionDenied` if the filter kills a process that does so.
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

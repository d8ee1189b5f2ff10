//! Probes that run in a child first, because a seccomp filter may kill the process.

use furlong_model::Unavailable;
#[cfg(target_os = "linux")]
use furlong_os::process::{Bond, Exit, fork};
#[cfg(target_os = "linux")]
use furlong_os::{AsHandle, handle, linux};
use std::io;

/// SIGSYS, the signal of a seccomp filter that kills.
#[cfg(target_os = "linux")]
const SIGSYS: i32 = 31;

/// Returns the result of `probe`. If this process has a seccomp filter, calls the probe in a child first.
///
/// # Errors
/// Returns `PermissionDenied` if the filter kills the child.
#[cfg(target_os = "linux")]
pub(crate) fn survived<T>(probe: impl Fn() -> T) -> io::Result<T> {
    if linux::conditions::is_filtered() {
        let mut child = fork(&[], handle::open_null()?.as_handle(), Bond::DiesWithParent, || {
            drop(probe());
            0
        })?;
        if let Some(Exit::Signal(SIGSYS)) = child.wait() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a seccomp filter kills processes that make its system calls (SIGSYS)",
            ));
        }
    }
    Ok(probe())
}

/// Returns the result of `probe`: other systems have no such filters.
#[cfg(not(target_os = "linux"))]
pub(crate) fn survived<T>(probe: impl Fn() -> T) -> io::Result<T> {
    Ok(probe())
}

/// Returns the error of a probe that did not survive, with its remedy.
pub(crate) fn killed(error: &io::Error) -> Unavailable {
    Unavailable::new(error.to_string(), "allow the calls in the seccomp profile of the container or service")
}

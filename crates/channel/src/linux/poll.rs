//! A wait for a descriptor that ignores signals.

use crate::linux::return_value::check;
use crate::waiting::Limit;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

/// Waits until a descriptor is readable, or hung up, and returns whether it is before the limit.
pub(crate) fn is_readable(descriptor: BorrowedFd<'_>, limit: Limit) -> io::Result<bool> {
    loop {
        let mut watch = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let limit_ms = milliseconds(limit);
        // SAFETY: one entry, which lives for the whole call.
        match check(unsafe { libc::poll(&raw mut watch, 1, limit_ms) }) {
            // A timeout that exceeds the range of poll continues.
            Ok(0) if limit_ms == 0 || milliseconds(limit) == 0 => return Ok(false),
            Ok(0) => {}
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the remaining time in milliseconds, rounded up, as a timeout of poll and epoll.
pub(crate) fn milliseconds(limit: Limit) -> libc::c_int {
    match limit {
        Limit::Now => 0,
        Limit::None => -1,
        Limit::At(end) => {
            let left = end.saturating_duration_since(Instant::now());
            libc::c_int::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(libc::c_int::MAX)
        }
    }
}

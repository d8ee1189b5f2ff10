//! Options of sockets that are measured as conditions.

use crate::error::Context;
use crate::linux::socket::{number_of, set_option};
use furlong_model::SocketOption;
use std::io;
use std::os::fd::BorrowedFd;

/// Time that a receive busy-waits for the device queue, in microseconds (Documentation/networking/napi.rst).
const BUSY_POLL_US: libc::c_int = 50;

/// Sets an option, and returns its effective value with its name in records.
///
/// # Errors
/// Returns `Unsupported` if the kernel accepts but ignores the option.
pub fn set(socket: BorrowedFd<'_>, option: SocketOption) -> io::Result<(&'static str, usize)> {
    let (level, number, value, name) = match option {
        SocketOption::NoDelay => (libc::IPPROTO_TCP, libc::TCP_NODELAY, 1, "tcp-nodelay"),
        SocketOption::Nagle => (libc::IPPROTO_TCP, libc::TCP_NODELAY, 0, "tcp-nodelay"),
        SocketOption::QuickAck => (libc::IPPROTO_TCP, libc::TCP_QUICKACK, 1, "tcp-quickack"),
        SocketOption::BusyPoll => (libc::SOL_SOCKET, libc::SO_BUSY_POLL, BUSY_POLL_US, "busy-poll-us"),
        SocketOption::ZeroCopy => (libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1, "zerocopy"),
        SocketOption::Cork => (libc::IPPROTO_TCP, libc::TCP_CORK, 1, "tcp-cork"),
    };
    set_option(&socket, level, number, &value).context(|| format!("setsockopt {option}"))?;
    if number_of(socket, level, number)? != value {
        let words = format!("setsockopt: {option} has no effect on this kernel");
        return Err(io::Error::new(io::ErrorKind::Unsupported, words));
    }
    Ok((name, value as usize))
}

/// Makes a TCP socket acknowledge received data at once. The kernel clears this again when it considers the connection
/// interactive.
#[inline]
pub fn acknowledge(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(&socket, libc::IPPROTO_TCP, libc::TCP_QUICKACK, &1)
}

/// Holds partial segments of a TCP socket back, or sends them.
#[inline]
pub fn cork(socket: BorrowedFd<'_>, is_corked: bool) -> io::Result<()> {
    set_option(&socket, libc::IPPROTO_TCP, libc::TCP_CORK, &libc::c_int::from(is_corked))
}

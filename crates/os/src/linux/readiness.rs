//! Sleeping until a descriptor can be read or written: `select`, `poll`, `epoll`.

use crate::error::{check, retry};
use crate::linux::handle::own;
use crate::wait::Interest;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Sleeps in `select`.
///
/// # Errors
/// `InvalidInput` for a descriptor of 1024 or more, which select cannot watch.
#[inline]
pub fn select(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<()> {
    let number = fd.as_raw_fd();
    if number as usize >= libc::FD_SETSIZE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    retry(|| {
        // SAFETY: zeroes are an empty set, the number fits the set, and no time-out is passed.
        unsafe {
            let mut set: libc::fd_set = std::mem::zeroed();
            libc::FD_SET(number, &raw mut set);
            let none = std::ptr::null_mut();
            let (read, write) = match interest {
                Interest::Readable => (&raw mut set, none),
                Interest::Writable => (none, &raw mut set),
            };
            libc::select(number + 1, read, write, none, std::ptr::null_mut())
        }
    })
    .map(drop)
}

/// Sleeps in `poll`.
#[inline]
pub fn poll(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<()> {
    let events = match interest {
        Interest::Readable => libc::POLLIN,
        Interest::Writable => libc::POLLOUT,
    };
    let mut watched = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    // SAFETY: one pollfd is passed, and its count says so.
    retry(|| unsafe { libc::poll(&raw mut watched, 1, -1) }).map(drop)
}

/// An epoll instance that watches one descriptor, level-triggered.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl Epoll {
    /// Watches `fd` for `interest`.
    pub fn new(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<Epoll> {
        // SAFETY: plain integers in and out; the new number is owned by nobody.
        let epoll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
            .map(|number| unsafe { own(number) })?;
        let events = match interest {
            Interest::Readable => libc::EPOLLIN,
            Interest::Writable => libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event { events: events as u32, u64: 0 };
        // SAFETY: the kernel reads one event.
        check(unsafe {
            libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &raw mut event)
        })?;
        Ok(Epoll(epoll))
    }

    /// Sleeps in `epoll_wait`.
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the kernel writes at most one event.
        retry(|| unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, -1) }).map(drop)
    }
}

/// Waits until one of `handles` can be read or has been hung up, for at most `timeout_ms` milliseconds.
/// Says which can; all `false` means that time ran out, or that a signal came.
pub fn wait_any(handles: &[BorrowedFd<'_>], timeout_ms: u64) -> io::Result<Vec<bool>> {
    let watch =
        |handle: &BorrowedFd<'_>| libc::pollfd { fd: handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut watched: Vec<_> = handles.iter().map(watch).collect();
    let timeout = libc::c_int::try_from(timeout_ms).unwrap_or(libc::c_int::MAX);
    // SAFETY: the count is that of the vector.
    match check(unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, timeout) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(watched.iter().map(|fd| fd.revents != 0).collect()),
    }
}

/// Waits until somebody connects to `listener`, or until `other` can be read; says whether that is so.
///
/// # Errors
/// What cannot be waited for.
pub fn wait_for_connection(listener: &TcpListener, other: BorrowedFd<'_>) -> io::Result<bool> {
    wait_any(&[other, listener.as_fd()], u64::MAX).map(|ready| ready[0])
}

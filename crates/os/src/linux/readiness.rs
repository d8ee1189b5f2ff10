//! Sleeping until a descriptor can be read or written: `select`, `poll`, `epoll`.

use crate::error::{check, retry};
use crate::linux::handle::own;
use crate::linux::limited::LimitContext;
use crate::wait::Interest;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Sleeps in `select`.
///
/// # Errors
/// Returns `InvalidInput` for a descriptor of 1024 or more, which select cannot watch.
#[inline]
pub fn select(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<()> {
    let number = fd.as_raw_fd();
    if number as usize >= libc::FD_SETSIZE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    retry(|| {
        // SAFETY: zeroes are an empty set, the number fits the set, and no timeout is passed.
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
    let mut watched = to_poll(fd, interest);
    // SAFETY: one pollfd is passed, and the count is one.
    retry(|| unsafe { libc::poll(&raw mut watched, 1, -1) }).map(drop)
}

/// Returns whether a descriptor is readable or writable, or has an error, without waiting.
#[inline]
pub fn is_ready(fd: BorrowedFd<'_>, interest: Interest) -> io::Result<bool> {
    let mut watched = to_poll(fd, interest);
    // SAFETY: one pollfd is passed, and the count is one.
    retry(|| unsafe { libc::poll(&raw mut watched, 1, 0) }).map(|ready| ready > 0)
}

/// Returns the entry of `poll` for a descriptor.
#[inline]
pub(super) fn to_poll(fd: BorrowedFd<'_>, interest: Interest) -> libc::pollfd {
    libc::pollfd { fd: fd.as_raw_fd(), events: events(interest), revents: 0 }
}

/// Returns the event bits of an interest, which are equal in `poll`, `epoll` and `io_uring`.
#[inline]
pub(super) fn events(interest: Interest) -> libc::c_short {
    match interest {
        Interest::Readable => libc::POLLIN,
        Interest::Writable => libc::POLLOUT,
    }
}

/// An epoll instance, level-triggered.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl Epoll {
    /// Watches each of these descriptors for `interest`.
    pub fn new(descriptors: &[BorrowedFd<'_>], interest: Interest) -> io::Result<Epoll> {
        // SAFETY: plain integers in and out; the new descriptor has no other owner.
        let epoll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
            .map(|number| unsafe { own(number) })?;
        for (place, descriptor) in descriptors.iter().enumerate() {
            let mut event = libc::epoll_event { events: events(interest) as u32, u64: place as u64 };
            let number = descriptor.as_raw_fd();
            // SAFETY: the kernel reads one event.
            check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, number, &raw mut event) })
                .limited("epoll_ctl")?;
        }
        Ok(Epoll(epoll))
    }

    /// Sleeps in `epoll_wait` until a descriptor is ready, and returns its index.
    #[inline]
    pub fn wait(&self) -> io::Result<usize> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the kernel writes at most one event.
        retry(|| unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, -1) })?;
        Ok(event.u64 as usize)
    }
}

/// Waits until one of `handles` can be read or has been hung up, for at most `timeout_ms` milliseconds. Returns for each whether
/// it is; all `false` means that the time is over, or that a signal arrived.
pub fn wait_any(handles: &[BorrowedFd<'_>], timeout_ms: u64) -> io::Result<Vec<bool>> {
    let mut watched: Vec<_> = handles.iter().map(|handle| to_poll(*handle, Interest::Readable)).collect();
    polled(&mut watched, timeout_ms)
}

fn polled(watched: &mut [libc::pollfd], timeout_ms: u64) -> io::Result<Vec<bool>> {
    let timeout = libc::c_int::try_from(timeout_ms).unwrap_or(libc::c_int::MAX);
    // SAFETY: the count is that of the slice.
    match check(unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, timeout) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(watched.iter().map(|fd| fd.revents != 0).collect()),
    }
}

/// Waits until a page can be written into `pipe` without a wait, one of `others` can be read, or `timeout_ms` milliseconds are
/// over. Returns whether the pipe has room; a pipe without a reader has.
pub fn wait_for_room(pipe: BorrowedFd<'_>, others: &[BorrowedFd<'_>], timeout_ms: u64) -> io::Result<bool> {
    let others = others.iter().map(|handle| to_poll(*handle, Interest::Readable));
    let mut watched: Vec<_> = [to_poll(pipe, Interest::Writable)].into_iter().chain(others).collect();
    polled(&mut watched, timeout_ms).map(|ready| ready[0])
}

/// Waits until a client connects to `listener`, or `other` can be read; returns whether `other` can.
///
/// # Errors
/// Returns the error of `poll`.
pub fn wait_for_connection(listener: &TcpListener, other: BorrowedFd<'_>) -> io::Result<bool> {
    wait_any(&[other, listener.as_fd()], u64::MAX).map(|ready| ready[0])
}

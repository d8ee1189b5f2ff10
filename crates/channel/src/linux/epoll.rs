//! One wait for many descriptors.

use crate::linux::poll::milliseconds;
use crate::linux::return_value::{check, own};
use crate::waiting::Limit;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Maximum number of events that one call returns.
const MOST: usize = 64;

/// An epoll instance. Reports each descriptor by its number while it is readable or hung up.
#[derive(Debug)]
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        // SAFETY: no memory is involved.
        Ok(Epoll(own(check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?)))
    }

    /// Adds a descriptor, which is reported as `number`.
    pub(crate) fn add(&self, descriptor: BorrowedFd<'_>, number: u64) -> io::Result<()> {
        let events = (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
        self.control(libc::EPOLL_CTL_ADD, descriptor, libc::epoll_event { events, u64: number })
    }

    /// Removes a descriptor. Closing it is not enough, because a fork may have a copy.
    pub(crate) fn remove(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, descriptor, libc::epoll_event { events: 0, u64: 0 })
    }

    fn control(
        &self,
        action: libc::c_int,
        descriptor: BorrowedFd<'_>,
        mut event: libc::epoll_event,
    ) -> io::Result<()> {
        // SAFETY: the event lives for the whole call.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), action, descriptor.as_raw_fd(), &raw mut event) })
            .map(drop)
    }

    /// Waits until a descriptor is ready, and reports the numbers of all ready descriptors; none after a timeout or a
    /// signal.
    pub(crate) fn wait(&self, limit: Limit, mut report: impl FnMut(u64)) -> io::Result<()> {
        let limit_ms = milliseconds(limit);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        let (epoll, most) = (self.0.as_raw_fd(), MOST as libc::c_int);
        // SAFETY: the buffer has room for this number of events.
        match check(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), most, limit_ms) }) {
            Ok(count) => events[..count as usize].iter().for_each(|event| report(event.u64)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that becomes readable once after a time, so that every wait for an [`Epoll`] ends.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    pub(crate) fn new() -> io::Result<Timer> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no memory is involved.
        Ok(Timer(own(check(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?)))
    }

    /// Makes the descriptor unreadable, and readable after `time` unless that is zero.
    pub(crate) fn set(&self, time: Duration) -> io::Result<()> {
        let nothing = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (tv_sec, tv_nsec) = (time.as_secs() as libc::time_t, libc::c_long::from(time.subsec_nanos()));
        let value = libc::timespec { tv_sec, tv_nsec };
        let timer = libc::itimerspec { it_interval: nothing, it_value: value };
        // SAFETY: the time lives for the whole call, and the old one is not requested.
        check(unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &raw const timer, std::ptr::null_mut()) })
            .map(drop)
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

//! The code that a process runs between two attempts, for each wait strategy. It is the same for every mechanism.
#![cfg_attr(not(target_os = "linux"), expect(unused_variables))]

use furlong_mechanism::Interest;
use furlong_model::Wait;
#[cfg(target_os = "linux")]
use furlong_os::linux::io_uring::{Ring, Submission};
#[cfg(target_os = "linux")]
use furlong_os::linux::readiness::{Epoll, poll, select};
use furlong_os::{BorrowedHandle, cpu};
use std::io;

/// A wait strategy and its kernel objects.
#[derive(Debug)]
pub struct BetweenAttempts {
    /// Wait strategy.
    pub wait: Wait,
    #[cfg(target_os = "linux")]
    readable: Option<Epoll>,
    #[cfg(target_os = "linux")]
    writable: Option<Epoll>,
    #[cfg(target_os = "linux")]
    ring: Option<Ring>,
}

impl BetweenAttempts {
    /// Creates the objects with which this strategy waits until the descriptors are readable and writable.
    #[inline(never)]
    pub fn new(
        wait: Wait,
        readable: Option<BorrowedHandle<'_>>,
        writable: Option<BorrowedHandle<'_>>,
    ) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        let watch = |watched: Option<BorrowedHandle<'_>>, interest| match watched {
            Some(descriptor) if wait == Wait::Epoll => Epoll::new(&[descriptor], interest).map(Some),
            _ => Ok(None),
        };
        Ok(BetweenAttempts {
            wait,
            #[cfg(target_os = "linux")]
            readable: watch(readable, Interest::Readable)?,
            #[cfg(target_os = "linux")]
            writable: watch(writable, Interest::Writable)?,
            #[cfg(target_os = "linux")]
            ring: (wait == Wait::IoUring).then(|| Ring::new(Submission::Own)).transpose()?,
        })
    }

    /// Waits once. It may return too early, because the caller tries again.
    #[inline(never)]
    pub fn wait_once(&mut self, watched: Option<BorrowedHandle<'_>>, interest: Interest) -> io::Result<()> {
        match (self.wait, watched) {
            (Wait::Yield, _) => cpu::yield_now(),
            #[cfg(target_os = "linux")]
            (Wait::Select | Wait::SelectFirst, Some(descriptor)) => select(descriptor, interest)?,
            #[cfg(target_os = "linux")]
            (Wait::Poll, Some(descriptor)) => poll(descriptor, interest)?,
            #[cfg(target_os = "linux")]
            (Wait::Epoll, Some(_)) => {
                let epoll = match interest {
                    Interest::Readable => &self.readable,
                    Interest::Writable => &self.writable,
                };
                epoll.as_ref().map_or(Ok(0), Epoll::wait)?;
            }
            #[cfg(target_os = "linux")]
            (Wait::IoUring, Some(descriptor)) => {
                self.ring.as_mut().map_or(Ok(()), |ring| ring.poll(descriptor, interest))?;
            }
            _ => cpu::pause(),
        }
        Ok(())
    }
}

//! An end of the link that always waits until it has done what it was asked: the ways to wait around calls that
//! never block.
//!
//! The way is an enum and matched in each call: a branch that always goes the same way costs nothing that can
//! be measured, and there is one loop for all of them.

use crate::channel::Channel;
use furlong_mechanism::{Endpoint, Interest, Message};
use furlong_model::Wait;
use furlong_os::cpu;
#[cfg(target_os = "linux")]
use furlong_os::linux::io_uring::{Ring, Submission};
#[cfg(target_os = "linux")]
use furlong_os::linux::readiness::{Epoll, poll, select};
use std::io;

/// An endpoint with a way of waiting.
#[derive(Debug)]
pub struct Waiting<E> {
    endpoint: E,
    wait: Wait,
    #[cfg(target_os = "linux")]
    readable: Option<Epoll>,
    #[cfg(target_os = "linux")]
    writable: Option<Epoll>,
    #[cfg(target_os = "linux")]
    ring: Option<Ring>,
}

impl<E: Endpoint> Waiting<E> {
    /// Waits in the given way; the endpoint was opened to suit it.
    pub fn new(endpoint: E, wait: Wait) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        let watch = |interest| match endpoint.readiness(interest) {
            Some(descriptor) if wait == Wait::Epoll => Epoll::new(descriptor, interest).map(Some),
            _ => Ok(None),
        };
        #[cfg(target_os = "linux")]
        let (readable, writable) = (watch(Interest::Readable)?, watch(Interest::Writable)?);
        #[cfg(target_os = "linux")]
        let ring = (wait == Wait::IoUring).then(|| Ring::new(Submission::Own)).transpose()?;
        Ok(Waiting {
            endpoint,
            wait,
            #[cfg(target_os = "linux")]
            readable,
            #[cfg(target_os = "linux")]
            writable,
            #[cfg(target_os = "linux")]
            ring,
        })
    }

    /// What can be watched to know when it can be read or written.
    #[cfg(target_os = "linux")]
    pub fn readiness(&self, interest: Interest) -> Option<furlong_os::BorrowedHandle<'_>> {
        self.endpoint.readiness(interest)
    }

    /// Sends as much of the message as goes without waiting; `WouldBlock` if that is not all of it.
    #[inline]
    pub fn try_send(&mut self, message: &mut Message) -> io::Result<()> {
        self.ask_first(Interest::Writable)?;
        self.endpoint.send(message)
    }

    /// Receives as much of a message as is there; `WouldBlock` if that is not all of it.
    #[inline]
    pub fn try_recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.ask_first(Interest::Readable)?;
        self.endpoint.recv(message)
    }

    #[inline(always)]
    fn until_done<T>(
        &mut self,
        interest: Interest,
        mut attempt: impl FnMut(&mut E) -> io::Result<T>,
    ) -> io::Result<T> {
        // One place for the attempt, also where it waits inside and never says WouldBlock: so it is compiled
        // into the loop once, and not called.
        loop {
            self.ask_first(interest)?;
            match attempt(&mut self.endpoint) {
                Ok(done) => return Ok(done),
                Err(error) => self.wait_after(error, interest)?,
            }
        }
    }

    /// Waits once where a call has said that it would wait; any other error is given back.
    #[inline(never)]
    fn wait_after(&mut self, error: io::Error, interest: Interest) -> io::Result<()> {
        would_wait(error)?;
        if self.wait == Wait::SelectFirst { Ok(()) } else { self.pass_time(interest) }
    }

    /// Asks whether a call would wait, before the call, where that is the way.
    #[inline(always)]
    fn ask_first(&mut self, interest: Interest) -> io::Result<()> {
        if self.wait == Wait::SelectFirst { self.pass_time(interest) } else { Ok(()) }
    }

    /// Waits once. It may return too early; the next attempt will tell. Not compiled into the loops: who comes here has
    /// just made a system call or is about to make one.
    #[inline(never)]
    fn pass_time(
        &mut self,
        #[cfg_attr(not(target_os = "linux"), expect(unused_variables))] interest: Interest,
    ) -> io::Result<()> {
        match self.wait {
            Wait::Yield => cpu::yield_now(),
            #[cfg(target_os = "linux")]
            Wait::Select | Wait::SelectFirst => {
                if let Some(descriptor) = self.endpoint.readiness(interest) {
                    select(descriptor, interest)?;
                }
            }
            #[cfg(target_os = "linux")]
            Wait::Poll => {
                if let Some(descriptor) = self.endpoint.readiness(interest) {
                    poll(descriptor, interest)?;
                }
            }
            #[cfg(target_os = "linux")]
            Wait::Epoll => {
                let watch = match interest {
                    Interest::Readable => &self.readable,
                    Interest::Writable => &self.writable,
                };
                if let Some(epoll) = watch {
                    epoll.wait()?;
                }
            }
            #[cfg(target_os = "linux")]
            Wait::IoUring => {
                if let Some((descriptor, ring)) = self.endpoint.readiness(interest).zip(self.ring.as_mut()) {
                    ring.poll(descriptor, interest)?;
                }
            }
            _ => cpu::pause(),
        }
        Ok(())
    }
}

/// Nothing if the error says that a call would wait, else the error.
#[inline(never)]
pub fn would_wait(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) }
}

impl<E: Endpoint> Channel for Waiting<E> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.until_done(Interest::Writable, |endpoint| endpoint.send(message))
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.until_done(Interest::Readable, |endpoint| endpoint.recv(message))
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.endpoint.unread_buffers(size_bytes)
    }
}

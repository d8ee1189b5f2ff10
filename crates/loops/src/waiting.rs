//! An end of the link that always waits until it has done what it was asked: the ways to wait around calls that
//! never block.
//!
//! The way is an enum and matched in each call: a branch that always goes the same way costs nothing that can
//! be measured, and there is one loop for all of them.

use crate::between_attempts::BetweenAttempts;
use crate::channel::Channel;
use furlong_mechanism::{Endpoint, EndpointSetup, Interest, LinkSpecification, Message};
use furlong_model::{Access, Wait};
use std::io;

/// [`Mechanism::open`](furlong_mechanism::Mechanism::open). Code that takes it is compiled for a type of endpoint, which many
/// mechanisms share.
pub type OpenEndpoint<E> = fn(&LinkSpecification, EndpointSetup) -> io::Result<E>;

/// An endpoint with a way of waiting.
#[derive(Debug)]
pub struct Waiting<E> {
    endpoint: E,
    between: BetweenAttempts,
}

impl<E: Endpoint> Waiting<E> {
    /// Opens an endpoint that suits this way of waiting. Not inlined, because all patterns open their ends with it.
    #[inline(never)]
    pub fn open(
        open: OpenEndpoint<E>,
        specification: &LinkSpecification,
        setup: EndpointSetup,
        wait: Wait,
    ) -> io::Result<Self> {
        let endpoint = open(specification, setup)?;
        let watched = |interest| endpoint.readiness(interest);
        let between = BetweenAttempts::new(wait, watched(Interest::Readable), watched(Interest::Writable))?;
        Ok(Waiting { endpoint, between })
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
        if self.between.wait == Wait::SelectFirst { Ok(()) } else { self.pass_time(interest) }
    }

    /// Asks whether a call would wait, before the call, where that is the way.
    #[inline(always)]
    fn ask_first(&mut self, interest: Interest) -> io::Result<()> {
        if self.between.wait == Wait::SelectFirst { self.pass_time(interest) } else { Ok(()) }
    }

    /// Waits once. Not compiled into the loops: who comes here has just made a system call or is about to make one.
    #[inline(never)]
    fn pass_time(&mut self, interest: Interest) -> io::Result<()> {
        self.between.wait_once(self.endpoint.readiness(interest), interest)
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
    fn send_more(&mut self, message: &mut Message) -> io::Result<()> {
        self.until_done(Interest::Writable, |endpoint| endpoint.send_more(message))
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.until_done(Interest::Readable, |endpoint| endpoint.recv(message))
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.endpoint.unread_buffers(size_bytes)
    }

    fn access(&self) -> Access {
        self.endpoint.access()
    }

    fn lost(&self) -> Option<u64> {
        self.endpoint.lost()
    }
}

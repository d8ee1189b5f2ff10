//! An end of a link whose calls wait until they are done: wait strategies around calls that never block.
//!
//! The strategy is an enum that each call matches. A branch that always goes the same way has no measurable cost, and there is
//! one loop for all strategies.

use crate::between_attempts::BetweenAttempts;
use crate::channel::Channel;
use furlong_mechanism::{Endpoint, EndpointSetup, Interest, LinkSpecification, Message, MessageBatch};
use furlong_model::{Access, Wait};
#[cfg(target_os = "linux")]
use furlong_os::linux::readiness::is_ready;
use std::io;

/// [`Mechanism::open`](furlong_mechanism::Mechanism::open). Code with this parameter is compiled per type of endpoint, which
/// many mechanisms share.
pub type OpenEndpoint<E> = fn(&LinkSpecification, EndpointSetup) -> io::Result<E>;

/// An endpoint with a wait strategy.
#[derive(Debug)]
pub struct WaitingEndpoint<E> {
    endpoint: E,
    between: BetweenAttempts,
}

impl<E: Endpoint> WaitingEndpoint<E> {
    /// Opens an endpoint for this wait strategy. Not inlined, because all patterns open their ends with it.
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
        Ok(WaitingEndpoint { endpoint, between })
    }

    /// Returns the descriptor to watch for readability or writability.
    #[cfg(target_os = "linux")]
    pub fn readiness(&self, interest: Interest) -> Option<furlong_os::BorrowedHandle<'_>> {
        self.endpoint.readiness(interest)
    }

    /// Sends as much of the message as is possible without waiting; returns `WouldBlock` if a part is left.
    #[inline]
    pub fn try_send(&mut self, message: &mut Message) -> io::Result<()> {
        self.ask_first(Interest::Writable)?;
        self.endpoint.send(message)
    }

    /// Receives as much of a message as is available; returns `WouldBlock` if a part is missing.
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
        // There is one place for the attempt, even if it waits inside and never returns WouldBlock. So it is inlined into the
        // loop once, and not called.
        loop {
            self.ask_first(interest)?;
            match attempt(&mut self.endpoint) {
                Ok(done) => return Ok(done),
                Err(error) => self.wait_after(error, interest)?,
            }
        }
    }

    /// Waits once if a call has returned `WouldBlock`; returns any other error.
    #[inline(never)]
    fn wait_after(&mut self, error: io::Error, interest: Interest) -> io::Result<()> {
        would_wait(error)?;
        if self.between.wait == Wait::SelectFirst { Ok(()) } else { self.pass_time(interest) }
    }

    /// Waits before the call, if the wait strategy does so (`select-first`).
    #[inline(always)]
    fn ask_first(&mut self, interest: Interest) -> io::Result<()> {
        if self.between.wait == Wait::SelectFirst { self.pass_time(interest) } else { Ok(()) }
    }

    /// Returns whether `recv` does not wait: the end knows it, its calls never wait, or its descriptor is readable.
    fn has_arrived(&mut self) -> io::Result<bool> {
        let wait = self.between.wait;
        if let Some(has_message) = self.endpoint.has_message() {
            return Ok(has_message);
        }
        if wait.needs_non_blocking() && wait != Wait::SelectFirst {
            return Ok(true);
        }
        #[cfg(target_os = "linux")]
        if let Some(descriptor) = self.endpoint.readiness(Interest::Readable) {
            return is_ready(descriptor, Interest::Readable);
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits once. Not inlined into the loops, because the caller has just made a system call or is about to make one.
    #[inline(never)]
    fn pass_time(&mut self, interest: Interest) -> io::Result<()> {
        self.between.wait_once(self.endpoint.readiness(interest), interest)
    }
}

/// Returns `Ok` if the error is `WouldBlock`, otherwise the error.
#[inline(never)]
pub fn would_wait(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) }
}

impl<E: Endpoint> Channel for WaitingEndpoint<E> {
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

    fn recv_if_arrived(&mut self, message: &mut Message) -> io::Result<usize> {
        if self.has_arrived()? { self.endpoint.recv(message) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        self.until_done(Interest::Writable, |endpoint| endpoint.send_batch(batch, count))
    }

    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        self.until_done(Interest::Readable, |endpoint| endpoint.recv_batch(batch))
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

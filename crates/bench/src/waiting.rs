//! The ways to wait around calls that never block.
//!
//! The way is an enum and matched in each call: a branch that always goes the same way costs nothing that can
//! be measured, and there is one loop for all of them.

use furlong_mechanism::{Endpoint, Interest, Message};
use furlong_model::Wait;
use furlong_os::cpu;
use furlong_os::readiness::{Epoll, poll, select};
use std::io;

/// An endpoint that always waits until it has done what it was asked.
#[derive(Debug)]
pub(crate) struct Waiting<E> {
    endpoint: E,
    wait: Wait,
    readable: Option<Epoll>,
    writable: Option<Epoll>,
}

impl<E: Endpoint> Waiting<E> {
    /// Waits in the given way; the endpoint was opened to suit it.
    pub(crate) fn new(endpoint: E, wait: Wait) -> io::Result<Self> {
        let watch = |interest| match endpoint.readiness(interest) {
            Some(descriptor) if wait == Wait::Epoll => Epoll::new(descriptor, interest).map(Some),
            _ => Ok(None),
        };
        let (readable, writable) = (watch(Interest::Readable)?, watch(Interest::Writable)?);
        Ok(Waiting { endpoint, wait, readable, writable })
    }

    /// Sends the whole message.
    #[inline(always)]
    pub(crate) fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.until_done(Interest::Writable, |endpoint| endpoint.send(message))
    }

    /// Receives one message and gives its length.
    #[inline(always)]
    pub(crate) fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.until_done(Interest::Readable, |endpoint| endpoint.recv(message))
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
            if self.wait == Wait::SelectFirst {
                self.pass_time(interest)?;
            }
            match attempt(&mut self.endpoint) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.wait != Wait::SelectFirst {
                self.pass_time(interest)?;
            }
        }
    }

    /// Waits once. It may return too early; the next attempt will tell.
    #[inline]
    fn pass_time(&self, interest: Interest) -> io::Result<()> {
        match self.wait {
            Wait::Yield => cpu::yield_now(),
            Wait::Select | Wait::SelectFirst => {
                if let Some(descriptor) = self.endpoint.readiness(interest) {
                    select(descriptor, interest)?;
                }
            }
            Wait::Poll => {
                if let Some(descriptor) = self.endpoint.readiness(interest) {
                    poll(descriptor, interest)?;
                }
            }
            Wait::Epoll => {
                let watch = match interest {
                    Interest::Readable => &self.readable,
                    Interest::Writable => &self.writable,
                };
                if let Some(epoll) = watch {
                    epoll.wait()?;
                }
            }
            _ => cpu::pause(),
        }
        Ok(())
    }
}

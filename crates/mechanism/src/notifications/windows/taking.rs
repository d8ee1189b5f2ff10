//! The endpoint of objects that `WaitForSingleObject` consumes: an event, or a count of a semaphore.

use crate::handle_pair::shared;
use crate::{Endpoint, EndpointSetup, LinkSpecification, Message};
use furlong_os::windows::event::{take, try_take};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// An object to signal and one to wait for; `R` is the call that signals.
#[derive(Debug)]
pub struct SignalAndWait<R> {
    send: Handle,
    receive: Handle,
    blocking: bool,
    ring: R,
}

impl<R> SignalAndWait<R> {
    /// Takes two shared objects from the set-up.
    pub(super) fn from_shared(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        ring: R,
    ) -> io::Result<SignalAndWait<R>> {
        let (send, receive) = shared(setup)?;
        Ok(SignalAndWait { send, receive, blocking: specification.blocking, ring })
    }
}

impl<R: Fn(BorrowedHandle<'_>) -> io::Result<()>> Endpoint for SignalAndWait<R> {
    #[inline]
    fn send(&mut self, _message: &mut Message) -> io::Result<()> {
        (self.ring)(self.send.as_handle())
    }

    #[inline]
    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        if self.blocking {
            take(self.receive.as_handle())?;
        } else {
            try_take(self.receive.as_handle())?;
        }
        Ok(0)
    }
}

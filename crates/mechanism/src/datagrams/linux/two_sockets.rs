//! An end with a socket of its own for each way.

use crate::datagrams::datagram::{receive_one, send_one};
use crate::handle_pair::HandlePair;
use crate::{Endpoint, Interest, Message};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A socket to send by and one to receive by, on which one call carries one message.
#[derive(Debug)]
pub struct TwoSockets {
    ways: HandlePair,
}

impl TwoSockets {
    pub(super) fn new(send: Handle, receive: Handle, blocking: bool) -> io::Result<TwoSockets> {
        Ok(TwoSockets { ways: HandlePair::new(send, receive, blocking)? })
    }
}

impl Endpoint for TwoSockets {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        send_one(self.ways.send.as_handle(), message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        receive_one(self.ways.receive.as_handle(), message)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}

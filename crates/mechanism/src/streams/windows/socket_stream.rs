//! Stream sockets: bytes in order, without boundaries.

use crate::{Endpoint, EndpointSetup, Message};
use furlong_model::{Call, Calls};
use furlong_os::socket::{send, settle};
use furlong_os::windows::socket::receive;
use furlong_os::{AsHandle, Handle};
use std::io;

/// A socket has calls of its own.
pub(crate) const STREAM_CALLS: Calls = Calls::of(&[Call::Once("send")], &[Call::Once("recv")]);

/// An end of a stream: messages are told apart by their agreed length.
#[derive(Debug)]
pub struct SocketStream {
    socket: Handle,
    /// Bytes of the message under way that are done, where a non-blocking call gave up in the middle.
    received: usize,
    sent: usize,
}

impl SocketStream {
    /// Takes a socket from the set-up.
    pub(crate) fn of_socket(setup: &mut EndpointSetup, blocking: bool) -> io::Result<SocketStream> {
        Ok(SocketStream { socket: settle(setup.descriptor()?, blocking)?, received: 0, sent: 0 })
    }
}

impl Endpoint for SocketStream {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        while self.sent < message.len() {
            self.sent += send(self.socket.as_handle(), &message[self.sent..])?;
        }
        self.sent = 0;
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        while self.received < message.len() {
            match receive(self.socket.as_handle(), &mut message[self.received..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.received += count,
            }
        }
        self.received = 0;
        Ok(message.len())
    }
}

//! What pipes, FIFOs and stream sockets share: bytes in order, without boundaries.

use crate::handle_pair::HandlePair;
use crate::{Endpoint, EndpointSetup, Message};
use furlong_model::{Call, Calls, Limits, Wait};
use furlong_os::handle::{read, write};
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A stream is written to and read from like a file.
pub(crate) const STREAM_CALLS: Calls = Calls::of(&[Call::Once("write")], &[Call::Once("read")]);

/// The ways to wait for a descriptor.
pub(crate) const DESCRIPTOR_WAITS: &[Wait] =
    &[Wait::Block, Wait::Spin, Wait::Yield, Wait::Select, Wait::Poll, Wait::Epoll, Wait::SelectFirst];

/// A stream takes messages of any size, in as many parts as it likes.
pub(crate) fn limits() -> Limits {
    Limits::none()
}

/// An end of a byte stream: messages are told apart by their agreed length.
#[derive(Debug)]
pub struct ByteStream {
    ways: HandlePair,
    /// Bytes of the message under way that are done, where a non-blocking call gave up in the middle.
    received: usize,
    sent: usize,
}

impl ByteStream {
    /// Takes a reading and a writing end from the set-up.
    pub(crate) fn of_two(setup: &mut EndpointSetup, blocking: bool) -> io::Result<ByteStream> {
        ByteStream::new(setup.descriptor()?, setup.descriptor()?, blocking)
    }

    /// Takes a socket from the set-up.
    pub(crate) fn of_socket(setup: &mut EndpointSetup, blocking: bool) -> io::Result<ByteStream> {
        let socket = setup.descriptor()?;
        ByteStream::new(socket.try_clone()?, socket, blocking)
    }

    /// The end that is written to.
    #[inline]
    pub(crate) fn writer(&self) -> BorrowedHandle<'_> {
        self.ways.send.as_handle()
    }

    fn new(reader: Handle, writer: Handle, blocking: bool) -> io::Result<ByteStream> {
        Ok(ByteStream { ways: HandlePair::new(writer, reader, blocking)?, received: 0, sent: 0 })
    }
}

impl Endpoint for ByteStream {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        while self.sent < message.len() {
            self.sent += write(self.ways.send.as_handle(), &message[self.sent..])?;
        }
        self.sent = 0;
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        while self.received < message.len() {
            match read(self.ways.receive.as_handle(), &mut message[self.received..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.received += count,
            }
        }
        self.received = 0;
        Ok(message.len())
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}

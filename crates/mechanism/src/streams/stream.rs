//! What pipes and stream sockets share on every system: bytes in order, without boundaries.

use crate::{Endpoint, Message};
use furlong_model::Limits;
use furlong_os::BorrowedHandle;
use furlong_os::wait::Interest;
use std::io;

/// A stream takes messages of any size, in as many parts as it likes.
pub(crate) fn limits() -> Limits {
    Limits::none()
}

/// What a stream is written to and read from by, a call each. A call that finds nothing to do waits or says so.
pub trait Ways {
    /// Writes some of the bytes.
    ///
    /// # Errors
    /// `WouldBlock` if it does not wait and there is no room.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads some bytes; 0 is the end.
    ///
    /// # Errors
    /// `WouldBlock` if it does not wait and there is nothing.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// What tells that it can be written to or read from, if something does.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

/// An end of a byte stream: messages are told apart by their agreed length.
#[derive(Debug)]
pub struct Stream<W> {
    pub(super) ways: W,
    /// Bytes of the message under way that are done, where a non-blocking call gave up in the middle.
    received: usize,
    sent: usize,
}

impl<W: Ways> Stream<W> {
    /// An end at which no message is under way.
    pub(super) fn over(ways: W) -> Stream<W> {
        Stream { ways, received: 0, sent: 0 }
    }
}

impl<W: Ways> Endpoint for Stream<W> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        while self.sent < message.len() {
            self.sent += self.ways.write(&message[self.sent..])?;
        }
        self.sent = 0;
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        while self.received < message.len() {
            match self.ways.read(&mut message[self.received..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.received += count,
            }
        }
        self.received = 0;
        Ok(message.len())
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.ways.readiness(interest)
    }
}

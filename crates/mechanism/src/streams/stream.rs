//! Code shared by pipes and stream sockets on every system: bytes in order, without boundaries.

use crate::{Endpoint, Message};
use furlong_model::Limits;
use furlong_os::BorrowedHandle;
use furlong_os::wait::Interest;
use std::io;

/// Returns no limits: a stream accepts messages of any size, in any number of parts.
pub(crate) fn limits() -> Limits {
    Limits::none()
}

/// The calls that write and read a stream, one call each. If a call has nothing to do, it waits or returns `WouldBlock`.
pub trait Ways {
    /// Writes some of the bytes.
    ///
    /// # Errors
    /// Returns `WouldBlock` if it does not wait and there is no room.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads some bytes; 0 is the end of the stream.
    ///
    /// # Errors
    /// Returns `WouldBlock` if it does not wait and there are no bytes.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns the descriptor to watch for readability or writability, if there is one.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

/// An end of a byte stream. Messages are separated by their agreed length.
#[derive(Debug)]
pub struct Stream<W> {
    pub(super) ways: W,
    /// Finished bytes of a partly transferred message, if a non-blocking call returned before its end.
    received: usize,
    sent: usize,
}

impl<W: Ways> Stream<W> {
    /// Creates an end without a partly transferred message.
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

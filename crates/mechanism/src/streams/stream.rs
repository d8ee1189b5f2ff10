//! Code shared by pipes and stream sockets on every system: bytes in order, without boundaries.

use crate::{Endpoint, LinkSpecification, Message, MessageBatch};
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
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads some bytes; 0 is the end of the stream.
    ///
    /// # Errors
    /// Returns `WouldBlock` if it does not wait and there are no bytes.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Holds incomplete packets back until the message is complete, if that is requested.
    ///
    /// # Errors
    /// Returns an error if the option cannot be set.
    #[inline(always)]
    fn hold(&self, _is_incomplete: bool) -> io::Result<()> {
        Ok(())
    }

    /// Returns how many sent messages may still be read out of the sender's buffers.
    fn unread_buffers(&self) -> usize {
        0
    }

    /// Returns the descriptor to watch for readability or writability, if there is one.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

/// Bytes of the first of two writes, if the message is long enough.
const HEADER_BYTES: usize = 8;

/// An end of a byte stream. Messages are separated by their agreed length.
#[derive(Debug)]
pub struct Stream<W> {
    pub(super) ways: W,
    /// Finished bytes of a partly transferred message, if a non-blocking call returned before its end.
    received: usize,
    sent: usize,
    has_two_writes: bool,
}

impl<W: Ways> Stream<W> {
    /// Creates an end without a partly transferred message.
    pub(super) fn over(ways: W) -> Stream<W> {
        Stream { ways, received: 0, sent: 0, has_two_writes: false }
    }

    /// Returns the end with the requested number of writes per message.
    pub(crate) fn with_writes(self, specification: &LinkSpecification) -> Stream<W> {
        Stream { has_two_writes: specification.conditions.has_two_writes(), ..self }
    }
}

impl<W: Ways> Endpoint for Stream<W> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let header_bytes = if self.has_two_writes { HEADER_BYTES.min(message.len() / 2) } else { 0 };
        self.ways.hold(true)?;
        while self.sent < message.len() {
            let end = if self.sent < header_bytes { header_bytes } else { message.len() };
            self.sent += self.ways.write(&message[self.sent..end])?;
        }
        self.sent = 0;
        self.ways.hold(false)
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

    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        let messages = batch.first(count);
        self.ways.hold(true)?;
        while self.sent < messages.len() {
            self.sent += self.ways.write(&messages[self.sent..])?;
        }
        self.sent = 0;
        self.ways.hold(false)
    }

    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        let size_bytes = batch.size_bytes();
        if self.received >= size_bytes {
            // The last call returned the whole messages. A part of the next one follows them.
            let whole_bytes = self.received / size_bytes * size_bytes;
            batch.room().copy_within(whole_bytes..self.received, 0);
            self.received -= whole_bytes;
        }
        while self.received < size_bytes {
            match self.ways.read(&mut batch.room()[self.received..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.received += count,
            }
        }
        let count = self.received / size_bytes;
        if self.received == count * size_bytes {
            self.received = 0;
        }
        Ok(count)
    }

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        self.ways.unread_buffers()
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.ways.readiness(interest)
    }
}

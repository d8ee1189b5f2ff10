//! Several datagrams per call, if that is requested.

use crate::{LinkSpecification, MessageBatch};
use furlong_os::BorrowedHandle;
use furlong_os::linux::message_batch::MessageHeaders;
use std::io;

/// Calls that carry several datagrams.
#[derive(Debug)]
pub(crate) struct DatagramBatches {
    /// Headers of a batch; none if each message has its own call.
    headers: MessageHeaders,
    /// Sent messages of a batch, if a non-blocking call returned before its end.
    sent: usize,
}

impl DatagramBatches {
    /// Allocates the headers for the requested batches.
    pub(crate) fn new(specification: &LinkSpecification) -> DatagramBatches {
        let headers = MessageHeaders::new(specification.conditions.batch().unwrap_or_default());
        DatagramBatches { headers, sent: 0 }
    }

    /// Sends the first `count` messages of a batch.
    pub(crate) fn send(
        &mut self,
        socket: BorrowedHandle<'_>,
        batch: &MessageBatch,
        count: usize,
    ) -> io::Result<()> {
        let size_bytes = batch.size_bytes();
        while self.sent < count {
            let rest = &batch.first(count)[self.sent * size_bytes..];
            self.sent += self.headers.send(socket, rest, size_bytes)?;
        }
        self.sent = 0;
        Ok(())
    }

    /// Receives at least one message, and returns the number of messages.
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedHandle<'_>,
        batch: &mut MessageBatch,
    ) -> io::Result<usize> {
        let size_bytes = batch.size_bytes();
        let count = self.headers.receive(socket, batch.room(), size_bytes)?;
        for (place, length) in batch.lengths.iter_mut().enumerate().take(count) {
            match self.headers.length(place) {
                // No message is empty, so the peer of a connected socket has closed it. Messages before that count.
                0 if place == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                0 => return Ok(place),
                received => *length = received,
            }
        }
        Ok(count)
    }
}

//! The interface between the loops and the ends of a link.

use furlong_mechanism::{Message, MessageBatch};
use furlong_model::Access;
use std::io;

/// An end, or a substitute for one, whose calls wait until they are done.
pub trait Channel {
    /// Sends the whole message.
    fn send(&mut self, message: &mut Message) -> io::Result<()>;

    /// Sends the whole message. Others follow at once, and the last of them is sent through `send`.
    #[inline(always)]
    fn send_more(&mut self, message: &mut Message) -> io::Result<()>
    where
        Self: Sized,
    {
        self.send(message)
    }

    /// Receives one message and returns its length.
    fn recv(&mut self, message: &mut Message) -> io::Result<usize>;

    /// Receives one message if one has arrived; returns `WouldBlock` if none has.
    fn recv_if_arrived(&mut self, _message: &mut Message) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sends the first `count` messages of a batch: see [`Endpoint::send_batch`](furlong_mechanism::Endpoint::send_batch).
    fn send_batch(&mut self, _batch: &MessageBatch, _count: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Receives at least one message into a batch: see [`Endpoint::recv_batch`](furlong_mechanism::Endpoint::recv_batch).
    fn recv_batch(&mut self, _batch: &mut MessageBatch) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns how many messages of this size may still be read out of the sender's buffers when `send` has returned.
    fn unread_buffers(&self, size_bytes: usize) -> usize;

    /// Returns how the bytes of messages are accessed.
    fn access(&self) -> Access {
        Access::Copy
    }

    /// Returns the number of messages that are known to be lost; `None` if they are not counted.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// Returns the number of retransmitted messages; `None` if the channel does not retransmit.
    fn sent_again(&self) -> Option<u64> {
        None
    }
}

impl Channel for Box<dyn Channel> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        (**self).send(message)
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        (**self).recv(message)
    }

    fn recv_if_arrived(&mut self, message: &mut Message) -> io::Result<usize> {
        (**self).recv_if_arrived(message)
    }

    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        (**self).send_batch(batch, count)
    }

    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        (**self).recv_batch(batch)
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        (**self).unread_buffers(size_bytes)
    }

    fn access(&self) -> Access {
        (**self).access()
    }

    fn lost(&self) -> Option<u64> {
        (**self).lost()
    }

    fn sent_again(&self) -> Option<u64> {
        (**self).sent_again()
    }
}

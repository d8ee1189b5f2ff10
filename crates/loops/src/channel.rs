//! What the loops send to and receive from.

use furlong_mechanism::Message;
use furlong_model::Access;
use std::io;

/// An end, or what stands for one, that waits until it has done what it was asked.
pub trait Channel {
    /// Sends the whole message.
    fn send(&mut self, message: &mut Message) -> io::Result<()>;

    /// Sends the whole message, which others follow at once, the last of them through `send`.
    #[inline(always)]
    fn send_more(&mut self, message: &mut Message) -> io::Result<()>
    where
        Self: Sized,
    {
        self.send(message)
    }

    /// Receives one message and gives its length.
    fn recv(&mut self, message: &mut Message) -> io::Result<usize>;

    /// How many messages of this size may still be read out of the sender's buffers when `send` has returned.
    fn unread_buffers(&self, size_bytes: usize) -> usize;

    /// Where it writes and reads the bytes of messages.
    fn access(&self) -> Access {
        Access::Copy
    }

    /// How many messages it knows to have lost; `None` if it does not count them.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// How many messages it has sent again, since they were not answered; `None` if it does not do so.
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

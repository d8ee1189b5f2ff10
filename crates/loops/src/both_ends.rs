//! Both ends of a link in one process: the mechanism's calls, without a second process to wait for or to wake.
//!
//! To send is to send and to receive at the other end, and to receive is to send the same message back. So one
//! round trip of the loop makes the same calls as one between two processes, all of them in one.

use crate::channel::Channel;
use crate::waiting::{Waiting, would_wait};
use furlong_mechanism::{Endpoint, Message};
use furlong_model::Access;
use std::io;

/// The initiator's end, the responder's, and the message that the responder holds.
#[derive(Debug)]
pub struct BothEnds<E> {
    initiator: Waiting<E>,
    responder: Waiting<E>,
    held: Message,
}

impl<E: Endpoint> BothEnds<E> {
    /// Two ends of one link, for messages of `size_bytes`.
    pub fn new(initiator: Waiting<E>, responder: Waiting<E>, size_bytes: usize) -> io::Result<Self> {
        Ok(BothEnds { initiator, responder, held: Message::new(size_bytes)? })
    }
}

/// Carries one message from an end to the other. Where it does not fit in one piece, as much is taken out as was
/// put in, in turns.
#[inline(always)]
pub fn carry<E: Endpoint>(
    (from, message): (&mut Waiting<E>, &mut Message),
    (to, room): (&mut Waiting<E>, &mut Message),
) -> io::Result<usize> {
    let mut sent = false;
    loop {
        if !sent {
            sent = done(from.try_send(message))?.is_some();
        }
        if let Some(length) = done(to.try_recv(room))? {
            return Ok(length);
        }
    }
}

/// What an attempt gave; nothing if it would have to wait.
#[inline(always)]
fn done<T>(attempt: io::Result<T>) -> io::Result<Option<T>> {
    match attempt {
        Ok(result) => Ok(Some(result)),
        Err(error) => would_wait(error).map(|()| None),
    }
}

impl<E: Endpoint> Channel for BothEnds<E> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.held.every_byte_counts = message.every_byte_counts;
        let length = carry((&mut self.initiator, message), (&mut self.responder, &mut self.held))?;
        if length == self.held.len() {
            return Ok(());
        }
        Err(io::Error::other(format!("{length} bytes came instead of {}", self.held.len())))
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        carry((&mut self.responder, &mut self.held), (&mut self.initiator, message))
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.initiator.unread_buffers(size_bytes)
    }

    fn access(&self) -> Access {
        self.initiator.access()
    }
}

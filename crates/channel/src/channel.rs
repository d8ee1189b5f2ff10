//! Both directions of one end: made in a pair, or of descriptors.

use crate::credentials::Credentials;
use crate::error::Result;
use crate::memory::{Lane, Promise};
use crate::options::Options;
use crate::receiver::{Message, Receiver};
use crate::sender::{Loan, Sender};
use crate::storage::shared_bytes;
use crate::sys;
use crate::trust::{Trust, Trusted, Untrusted};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Which of the two ends one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that made the channel, or listened.
    First,
    /// The other one.
    Second,
}

/// What one end is made of. They are closed on `exec` unless a program says otherwise.
#[derive(Debug)]
pub struct Descriptors {
    /// The shared memory, which both ends have.
    pub memory: OwnedFd,
    /// A socket of the direction in which this end sends.
    pub sending: OwnedFd,
    /// A socket of the direction in which this end receives.
    pub receiving: OwnedFd,
    /// Which of the ends it is.
    pub side: Side,
}

/// One end of a channel: it sends messages to the other end, and receives those of the other end.
///
/// A call that is not described here does what the one of that name of [`Sender`] or [`Receiver`] does.
#[derive(Debug)]
pub struct Channel<T: Trust = Untrusted> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    peer: Credentials,
}

impl Channel {
    /// The descriptors of both ends of a new channel, to be handed to two processes: by a fork, or through `exec` or a
    /// socket. Each makes an end of one and drops the other, or it does not notice when the other process dies.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn pair(options: &Options) -> Result<[Descriptors; 2]> {
        let memory = sys::sealed_memory(shared_bytes(options.capacity))?;
        let [there, there_other] = sys::socket_pair()?;
        let [back, back_other] = sys::socket_pair()?;
        let copy = memory.try_clone()?;
        Ok([
            Descriptors { memory, sending: there, receiving: back, side: Side::First },
            Descriptors { memory: copy, sending: back_other, receiving: there_other, side: Side::Second },
        ])
    }

    /// Both ends in this process, on its heap: for tools that cannot follow shared memory.
    #[cfg(in_one_process)]
    #[doc(hidden)]
    pub fn pair_in_one_process(options: &Options) -> Result<[Channel; 2]> {
        let peer = Credentials { process: 0, user: 0, group: 0 };
        let sockets =
            || std::os::unix::net::UnixStream::pair().map(|(one, other)| [one.into(), other.into()]);
        let ([there, back], [[a, b], [c, d]]) = (Lane::private(options.capacity), [sockets()?, sockets()?]);
        let end = |send: &Lane, sending: OwnedFd, receive: &Lane, receiving: OwnedFd| Channel {
            sender: Sender::new(send.again(), sending, options),
            receiver: Receiver::new(receive.again(), receiving, options),
            peer,
        };
        Ok([end(&there, a, &back, c), end(&back, d, &there, b)])
    }

    /// An end of descriptors that were inherited or received. Both ends are made with the same options, but for how they
    /// wait, and from each set of descriptors an end is made once.
    ///
    /// # Errors
    /// `Corrupt` if the memory is not what [`pair`](Channel::pair) makes with these options.
    pub fn from_descriptors(descriptors: Descriptors, options: &Options) -> Result<Channel> {
        let peer = sys::credentials(descriptors.sending.as_fd())?;
        Channel::connected(descriptors, options, peer)
    }

    /// The same, where it is known who is at the other end.
    pub(crate) fn connected(
        descriptors: Descriptors,
        options: &Options,
        peer: Credentials,
    ) -> Result<Channel> {
        let Descriptors { memory, sending, receiving, side } = descriptors;
        sys::check_memory(memory.as_fd(), shared_bytes(options.capacity))?;
        let [there, back] = Lane::map(memory.as_fd(), options.capacity)?;
        let (send, receive) = if side == Side::First { (there, back) } else { (back, there) };
        let sender = Sender::new(send, sending, options);
        let receiver = Receiver::new(receive, receiving, options);
        Ok(Channel { sender, receiver, peer })
    }

    /// Takes the other process at its word: messages can be written and read where they lie.
    ///
    /// # Safety
    /// The process at the other end uses this library, or follows its protocol: it never writes to a message that it has
    /// sent, or to one that it does not send. What is said of the other end holds as long as this one lives.
    pub unsafe fn trust(self) -> Channel<Trusted> {
        // SAFETY: as the caller promises.
        let promise = unsafe { Promise::new() };
        Channel {
            sender: self.sender.trust(promise),
            receiver: self.receiver.trust(promise),
            peer: self.peer,
        }
    }
}

impl<T: Trust> Channel<T> {
    /// The end that sends and the one that receives, to be used apart: by two threads, say.
    pub fn split(self) -> (Sender<T>, Receiver<T>) {
        (self.sender, self.receiver)
    }

    /// Both ends as one takes them apart, borrowed.
    pub fn both(&mut self) -> (&mut Sender<T>, &mut Receiver<T>) {
        (&mut self.sender, &mut self.receiver)
    }

    /// The process that connected or listened, or that made the pair.
    pub fn peer(&self) -> Credentials {
        self.peer
    }

    /// See [`Sender::send`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        self.sender.send(message)
    }

    /// See [`Sender::try_send`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<()> {
        self.sender.try_send(message)
    }

    /// See [`Sender::send_timeout`].
    ///
    /// # Errors
    /// As there.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<()> {
        self.sender.send_timeout(message, timeout)
    }

    /// See [`Receiver::recv`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receiver.recv(buffer)
    }

    /// See [`Receiver::try_recv`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn try_recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receiver.try_recv(buffer)
    }

    /// See [`Receiver::recv_timeout`].
    ///
    /// # Errors
    /// As there.
    pub fn recv_timeout(&mut self, buffer: &mut [u8], timeout: Duration) -> Result<usize> {
        self.receiver.recv_timeout(buffer, timeout)
    }

    /// See [`Receiver::recv_vec`].
    ///
    /// # Errors
    /// As there.
    pub fn recv_vec(&mut self) -> Result<Vec<u8>> {
        self.receiver.recv_vec()
    }
}

impl Channel<Trusted> {
    /// See [`Sender::loan`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn loan(&mut self, len: usize) -> Result<Loan<'_>> {
        self.sender.loan(len)
    }

    /// See [`Receiver::peek`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn peek(&mut self) -> Result<Message<'_>> {
        self.receiver.peek()
    }
}

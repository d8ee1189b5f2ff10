//! One end of a channel with both directions. The platform directories contain the functions that create an end.

use crate::credentials::Credentials;
use crate::error::Result;
use crate::memory::{Lane, Promise};
use crate::options::Options;
use crate::platform::shared_memory::{self, Object};
use crate::receiver::{Message, Receiver};
use crate::sender::{Loan, Sender};
use crate::storage::shared_bytes;
use crate::trust::{Trust, TrustedPeer, UntrustedPeer};
use crate::wake::Link;
use std::time::Duration;

/// The two ends of a channel.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Options, Side};
///
/// let [first, second] = Channel::pair(&Options::new())?;
/// assert_eq!((first.side, second.side), (Side::First, Side::Second));
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The end that created the channel or listened.
    First,
    /// The other end.
    Second,
}

/// One end of a channel: it sends messages to the other end and receives messages from it.
///
/// A method without its own description behaves like the method of this name of [`Sender`] or [`Receiver`].
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Options};
///
/// let options = Options::new();
/// let [first, second] = Channel::pair(&options)?;
/// let mut first = Channel::from_descriptors(first, &options)?;
/// // Usually in another process.
/// let mut second = Channel::from_descriptors(second, &options)?;
/// first.send(b"hello")?;
/// assert_eq!(second.recv_vec()?, b"hello");
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Channel<T: Trust = UntrustedPeer> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    peer: Credentials,
}

impl Channel {
    /// Returns an end for a memory object of this process or another one. The links connect it with the other end:
    /// first the link of the sending direction, then that of the receiving direction.
    ///
    /// # Errors
    /// Returns `Corrupt` if the memory is not that of a channel with these options.
    pub(crate) fn connected(
        memory: Object<'_>,
        [sending, receiving]: [Link; 2],
        side: Side,
        options: &Options,
        peer: Credentials,
    ) -> Result<Channel> {
        shared_memory::check(memory, shared_bytes(options.capacity, 2))?;
        let [there, back] = Lane::map(memory, options.capacity)?;
        let (send, receive) = if side == Side::First { (there, back) } else { (back, there) };
        let sender = Sender::new(send, sending, options);
        let receiver = Receiver::new(receive, receiving, options);
        Ok(Channel { sender, receiver, peer })
    }

    /// Returns both ends, in heap memory of this process, for tools that do not support shared memory.
    #[cfg(in_one_process)]
    pub(crate) fn both_in_one_process(
        options: &Options,
        peer: Credentials,
        [[a, b], [c, d]]: [[Link; 2]; 2],
    ) -> [Channel; 2] {
        let [there, back] = Lane::private(options.capacity);
        let end = |send: &Lane, sending: Link, receive: &Lane, receiving: Link| Channel {
            sender: Sender::new(send.again(), sending, options),
            receiver: Receiver::new(receive.again(), receiving, options),
            peer,
        };
        [end(&there, a, &back, c), end(&back, d, &there, b)]
    }

    /// Trusts the other process to follow the protocol, so that messages can be written and read in place.
    ///
    /// # Safety
    /// As long as this end lives, the process at the other end must use this library or follow its protocol. It must
    /// never write to a message that it has sent, nor to a message that it does not send.
    pub unsafe fn trust(self) -> Channel<TrustedPeer> {
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
    /// Splits the channel into its sending and its receiving end, for example for two threads.
    pub fn split(self) -> (Sender<T>, Receiver<T>) {
        (self.sender, self.receiver)
    }

    /// Borrows the sending and the receiving end.
    pub fn both(&mut self) -> (&mut Sender<T>, &mut Receiver<T>) {
        (&mut self.sender, &mut self.receiver)
    }

    /// Returns whether the other end was closed or its process has died. Unread messages may be left. Makes at most one
    /// system call.
    pub fn is_closed(&self) -> bool {
        self.receiver.is_closed()
    }

    /// Returns the credentials of the process that connected, listened or created the pair.
    pub fn peer(&self) -> Credentials {
        self.peer
    }

    /// See [`Sender::send`].
    ///
    /// # Errors
    /// Returns an error as [`Sender::send`] does.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        self.sender.send(message)
    }

    /// See [`Sender::try_send`].
    ///
    /// # Errors
    /// Returns an error as [`Sender::try_send`] does.
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<()> {
        self.sender.try_send(message)
    }

    /// See [`Sender::send_timeout`].
    ///
    /// # Errors
    /// Returns an error as [`Sender::send_timeout`] does.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<()> {
        self.sender.send_timeout(message, timeout)
    }

    /// See [`Receiver::recv`].
    ///
    /// # Errors
    /// Returns an error as [`Receiver::recv`] does.
    #[inline]
    pub fn recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receiver.recv(buffer)
    }

    /// See [`Receiver::try_recv`].
    ///
    /// # Errors
    /// Returns an error as [`Receiver::try_recv`] does.
    #[inline]
    pub fn try_recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receiver.try_recv(buffer)
    }

    /// See [`Receiver::recv_timeout`].
    ///
    /// # Errors
    /// Returns an error as [`Receiver::recv_timeout`] does.
    pub fn recv_timeout(&mut self, buffer: &mut [u8], timeout: Duration) -> Result<usize> {
        self.receiver.recv_timeout(buffer, timeout)
    }

    /// See [`Receiver::recv_vec`].
    ///
    /// # Errors
    /// Returns an error as [`Receiver::recv_vec`] does.
    pub fn recv_vec(&mut self) -> Result<Vec<u8>> {
        self.receiver.recv_vec()
    }
}

impl Channel<TrustedPeer> {
    /// See [`Sender::loan`].
    ///
    /// # Errors
    /// Returns an error as [`Sender::loan`] does.
    #[inline]
    pub fn loan(&mut self, len: usize) -> Result<Loan<'_>> {
        self.sender.loan(len)
    }

    /// See [`Receiver::peek`].
    ///
    /// # Errors
    /// Returns an error as [`Receiver::peek`] does.
    #[inline]
    pub fn peek(&mut self) -> Result<Message<'_>> {
        self.receiver.peek()
    }
}

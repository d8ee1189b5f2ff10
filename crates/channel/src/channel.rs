//! Both directions of one end. How an end is made says the folder of each platform.

use crate::credentials::Credentials;
use crate::error::Result;
use crate::memory::{Lane, Promise};
use crate::options::Options;
use crate::platform::shared_memory::{self, Object};
use crate::receiver::{Message, Receiver};
use crate::sender::{Loan, Sender};
use crate::storage::shared_bytes;
use crate::trust::{Trust, Trusted, Untrusted};
use crate::wake::Link;
use std::time::Duration;

/// Which of the two ends one is.
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
    /// The one that made the channel, or listened.
    First,
    /// The other one.
    Second,
}

/// One end of a channel: it sends messages to the other end, and receives those of the other end.
///
/// A call that is not described here does what the one of that name of [`Sender`] or [`Receiver`] does.
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
pub struct Channel<T: Trust = Untrusted> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    peer: Credentials,
}

impl Channel {
    /// An end of memory that came from this process or another one, and of what connects it with the other end: first where
    /// it sends, then where it receives.
    ///
    /// # Errors
    /// `Corrupt` if the memory is not such as a channel with these options has.
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

    /// Both ends in this process, on its heap, with what connects each: for tools that cannot follow shared memory.
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

    /// Returns whether the other end was closed or its process has died; there may be messages left. One system call.
    pub fn is_closed(&self) -> bool {
        self.receiver.is_closed()
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

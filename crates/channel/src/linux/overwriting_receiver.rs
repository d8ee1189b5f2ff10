//! A receiver of a broadcast whose sender never waits.

use crate::counters::Counters;
use crate::credentials::Credentials;
use crate::error::Result;
use crate::greeting::Offer;
use crate::linux::broadcast::{Subscription, open_subscription, subscribe};
use crate::linux::connection::is_admitted;
use crate::options::Options;
use crate::overwriting::{Reader, TakenMessage};
use crate::waiting::{CONNECT_LIMIT, Limit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// A receiver of a [`Broadcast`](crate::Broadcast) that overwrites the oldest messages when the ring is full. It gets
/// whole messages in order, each with the number of messages that it has missed before.
///
/// If the sender overtakes a receiver, the receiver continues with the oldest available message. The sender frees an
/// eighth of the ring at once, so the receiver has time to catch up. Trust, deaths and forks follow the rules of a
/// broadcast. If the sender breaks the protocol, the receiver returns `Corrupt`, and accesses no memory outside the
/// ring.
///
/// ```
/// use furlong_channel::{Broadcast, Options, OverwritingReceiver};
///
/// let options = Options::new().capacity(4096);
/// let mut broadcast = Broadcast::overwriting(&options)?;
/// let mut receiver = OverwritingReceiver::from_subscription(broadcast.subscribe()?, &options)?;
/// for number in 0..100u8 {
///     // Never waits.
///     broadcast.send(&[number; 100])?;
/// }
/// let (mut buffer, mut missed, mut received) = ([0; 100], 0, 0);
/// while let Ok(taken) = receiver.try_recv(&mut buffer) {
///     missed += taken.missed;
///     received += 1;
/// }
/// assert_eq!(missed + received, 100);
/// assert_eq!(buffer, [99; 100]);
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug)]
pub struct OverwritingReceiver(Reader);

impl OverwritingReceiver {
    /// Connects to a listener whose process accepts receivers of such a broadcast, of the same user or of root, as
    /// [`Channel::connect`](crate::Channel::connect) does. Returns a receiver of the messages from now on.
    ///
    /// # Errors
    /// Returns `OtherKind` if the listener accepts another kind of channel, or an error as `Channel::connect` does.
    pub fn subscribe(name: &str, options: &Options) -> Result<OverwritingReceiver> {
        OverwritingReceiver::subscribe_if(name, options, CONNECT_LIMIT, is_admitted)
    }

    /// Like [`subscribe`](Self::subscribe), but waits at most `timeout`, and `is_allowed` decides about listeners of all users.
    ///
    /// # Errors
    /// Returns `Refused` if `is_allowed` returns false, or an error as `subscribe` does.
    pub fn subscribe_if(
        name: &str,
        options: &Options,
        timeout: Duration,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<OverwritingReceiver> {
        let (rings, link, options) = subscribe(name, options, timeout, is_allowed, Offer::Overwriting)?;
        Ok(OverwritingReceiver(Reader::new(rings.ring, &rings.own, link, &options)))
    }

    /// Creates a receiver from inherited or received descriptors. The options must be those of the broadcast, except for the wait
    /// strategy. Use each subscription once.
    ///
    /// # Errors
    /// Returns `OtherKind` if the sender waits for its receivers, and `Corrupt` if
    /// [`Broadcast::subscribe`](crate::Broadcast::subscribe) does not return such descriptors with these options.
    pub fn from_subscription(subscription: Subscription, options: &Options) -> Result<OverwritingReceiver> {
        let (rings, link, options) = open_subscription(subscription, options, true)?;
        Ok(OverwritingReceiver(Reader::new(rings.ring, &rings.own, link, &options)))
    }

    /// Waits for the next message that is not overwritten, and copies it into `buffer`.
    ///
    /// # Errors
    /// Returns `BufferTooSmall` if the message does not fit; it stays the next message until it is overwritten. Returns
    /// `Closed` or `PeerDied` after the last message, and `Corrupt` if the sender breaks the protocol.
    pub fn recv(&mut self, buffer: &mut [u8]) -> Result<TakenMessage> {
        self.0.recv(buffer, Limit::None)
    }

    /// Like [`recv`](Self::recv), but returns `WouldBlock` if no message is available.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `recv` does.
    pub fn try_recv(&mut self, buffer: &mut [u8]) -> Result<TakenMessage> {
        self.0.recv(buffer, Limit::Now)
    }

    /// Like [`recv`](Self::recv), but waits no longer than `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `recv` does.
    pub fn recv_timeout(&mut self, buffer: &mut [u8], timeout: Duration) -> Result<TakenMessage> {
        self.0.recv(buffer, Limit::after(timeout))
    }

    /// Prepares a wait with poll or epoll, as [`Receiver::watch`](crate::Receiver::watch) does.
    ///
    /// # Errors
    /// Returns an error as [`Receiver::watch`](crate::Receiver::watch) does.
    pub fn watch(&mut self) -> Result<bool> {
        self.0.watch()
    }

    /// Returns the descriptor that becomes readable when [`watch`](Self::watch) has returned true and a message is available.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.waiter().link().as_fd()
    }

    /// Returns whether the sender was closed or its process has died. Messages may still be available. Makes at most
    /// one system call.
    pub fn is_closed(&self) -> bool {
        self.0.waiter().is_alone()
    }

    /// Returns the number of waits, sleeps and wake-ups of this end.
    pub fn counters(&self) -> Counters {
        self.0.waiter().counters()
    }
}

impl AsFd for OverwritingReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor()
    }
}

impl AsRawFd for OverwritingReceiver {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor().as_raw_fd()
    }
}

//! A broadcast: one process sends, and several processes receive every message.

use crate::broadcast;
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::greeting::{self, Offer};
use crate::linux::connection::{AcceptedOffer, Listener, give, greeted, is_admitted};
use crate::linux::link::Link;
use crate::linux::{shared_memory, socket};
use crate::memory::Lane;
use crate::options::Options;
use crate::overwriting;
use crate::receiver::Receiver;
use crate::shared_ring::SharedRing;
use crate::storage::{CONTROL_BYTES, shared_bytes};
use crate::waiting::{CONNECT_LIMIT, Limit};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The sending end of a broadcast: each receiver gets every message that is sent after it joined. All receivers share
/// one ring with one copy of each message.
///
/// **A slow receiver delays the sender**: `send` waits for the slowest receiver, and no message is lost. `send_timeout`
/// limits the wait. The sender cannot remove a live receiver, because that receiver would read overwritten messages. If
/// receivers may stop, use [`overwriting`](Self::overwriting), the policy that never waits.
///
/// **Deaths**: the sender no longer waits for a receiver that is dropped, has died or breaks the protocol. After the
/// last message, a receiver reports that the sender was closed or has died, like the receiver of a channel.
///
/// **Trust**: receivers map the ring read-only; the kernel (Linux 5.1) refuses any other mapping. Each receiver has a
/// separate page, to which it writes its position. So no receiver can change the messages of another receiver. A
/// hostile receiver can delay the sender without limit, like a slow one: [`send_timeout`](Self::send_timeout) limits
/// the wait.
///
/// **Forks** follow the rules of a channel: a fork that drops its copy closes nothing.
///
/// ```
/// use furlong_channel::{Broadcast, Listener, Options, Receiver};
///
/// # let name = format!("@furlong-channel-broadcast-{}", std::process::id());
/// let options = Options::new();
/// let listener = Listener::bind(&name, &options)?;
/// # let copy = name.clone();
/// let viewers: Vec<_> = (0..3)
///     .map(|_| {
/// #       let name = copy.clone();
///         std::thread::spawn(move || Receiver::subscribe(&name, &Options::new())?.recv_vec())
///     })
///     .collect();
/// let mut broadcast = Broadcast::new(&options)?;
/// for _ in 0..3 {
///     broadcast.accept(&listener)?;
/// }
/// broadcast.send(b"frame")?;
/// for viewer in viewers {
///     assert_eq!(viewer.join().unwrap()?, b"frame");
/// }
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug)]
pub struct Broadcast {
    ring: SharedRing,
    offer: Offer,
    memory: OwnedFd,
}

/// The descriptors of a receiver of a broadcast. They are closed on `exec` unless a program clears the flag.
///
/// After a fork or an `exec` that hands the descriptors to another process, drop the subscription in the process of the
/// sender. Its copy of `socket` would hide the death of the receiver from the sender, which would then wait for it for
/// ever.
///
/// ```
/// # use furlong_channel::{Broadcast, Options, Receiver};
/// let options = Options::new();
/// let mut broadcast = Broadcast::new(&options)?;
/// // For a child that inherits its descriptors, or for another thread as here.
/// let subscription = broadcast.subscribe()?;
/// let mut receiver = Receiver::from_subscription(subscription, &options)?;
/// broadcast.send(b"frame")?;
/// assert_eq!(receiver.recv_vec()?, b"frame");
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug)]
pub struct Subscription {
    /// The ring, which all receivers map read-only.
    pub memory: OwnedFd,
    /// The memory to which this receiver writes its position.
    pub control: OwnedFd,
    /// A socket that is connected with the sender.
    pub socket: OwnedFd,
    /// The position of the first message that this receiver gets.
    pub start: u64,
    /// Whether the sender overwrites messages that this receiver has not read.
    pub overwrites: bool,
}

impl Broadcast {
    /// Creates a broadcast without a receiver. A message has at most [`longest_message`](Self::longest_message) bytes,
    /// which is never more than 16 MiB less 8 bytes. [`Options::for_messages`] chooses a ring that is large enough for
    /// messages up to there.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn new(options: &Options) -> Result<Broadcast> {
        Broadcast::of(options, Offer::Broadcast)
    }

    /// Creates a broadcast that never waits: when the ring is full, it overwrites the oldest messages. Its receivers
    /// are [`OverwritingReceiver`](crate::OverwritingReceiver)s, which return the number of missed messages. All bytes
    /// are copied in words of 8 bytes, so long messages take longer than with [`new`](Self::new).
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn overwriting(options: &Options) -> Result<Broadcast> {
        Broadcast::of(options, Offer::Overwriting)
    }

    fn of(options: &Options, offer: Offer) -> Result<Broadcast> {
        let memory = shared_memory::new_unsealed(shared_bytes(options.capacity, 1))?;
        let [lane] = Lane::map(memory.as_fd(), options.capacity)?;
        shared_memory::seal_for_readers(memory.as_fd())?;
        let ring = match offer {
            Offer::Overwriting => overwriting::sending_ring(lane, options),
            _ => broadcast::sending_ring(lane, options),
        };
        Ok(Broadcast { ring, offer, memory })
    }

    /// Adds a receiver, and returns its descriptors. Pass them to another process through a fork, `exec` or a socket.
    /// The receiver gets the messages that are sent from now on.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn subscribe(&mut self) -> Result<Subscription> {
        let (subscription, lane, socket) = self.new_subscription()?;
        self.ring.add(lane, socket.into());
        Ok(subscription)
    }

    /// Creates the descriptors of a receiver, and the ring and the socket with which it is added. Its control words are
    /// prepared, so it may start before it is added.
    fn new_subscription(&self) -> Result<(Subscription, Lane, OwnedFd)> {
        let control = shared_memory::new(CONTROL_BYTES)?;
        let lane = self.ring.lane().with_control(control.as_fd())?;
        self.ring.prepare(&lane);
        let [own, socket] = socket::pair()?;
        let (memory, start) = (self.memory.try_clone()?, self.ring.options_of_next().start);
        let overwrites = self.offer == Offer::Overwriting;
        Ok((Subscription { memory, control, socket, start, overwrites }, lane, own))
    }

    /// Waits for a process of the same user, or of root, to call [`Receiver::subscribe`] with the name of `listener`,
    /// and adds it.
    ///
    /// # Errors
    /// Returns an error as [`Listener::accept`] does.
    pub fn accept(&mut self, listener: &Listener) -> Result<Credentials> {
        self.accept_until(listener, Limit::None, is_admitted)
    }

    /// Like [`accept`](Self::accept), but returns `WouldBlock` if no process has connected. Call it periodically, or
    /// when the descriptor of the listener is readable.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `accept` does.
    pub fn try_accept(&mut self, listener: &Listener) -> Result<Credentials> {
        self.accept_until(listener, Limit::Now, is_admitted)
    }

    /// Like [`accept`](Self::accept), but waits no longer than `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `accept` does.
    pub fn accept_timeout(&mut self, listener: &Listener, timeout: Duration) -> Result<Credentials> {
        self.accept_until(listener, Limit::after(timeout), is_admitted)
    }

    /// Like [`accept`](Self::accept), but waits no longer than `timeout`, and `is_allowed` decides about processes of all users.
    ///
    /// # Errors
    /// Returns `TimedOut`, `Refused` if `is_allowed` returns false, or an error as `accept` does.
    pub fn accept_if(
        &mut self,
        listener: &Listener,
        timeout: Duration,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<Credentials> {
        self.accept_until(listener, Limit::after(timeout), is_allowed)
    }

    fn accept_until(
        &mut self,
        listener: &Listener,
        limit: Limit,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<Credentials> {
        listener.accept_with(limit, is_allowed, |connection, process, peer| {
            let (subscription, lane, socket) = self.new_subscription()?;
            let greeting = greeting::encode(&self.ring.options_of_next(), self.offer);
            let Subscription { memory, control, socket: other, .. } = &subscription;
            if !give(connection.as_fd(), &greeting, &[memory.as_fd(), control.as_fd(), other.as_fd()])? {
                return Ok(None);
            }
            let [link] = Link::all([socket], process);
            self.ring.add(lane, link);
            Ok(Some(peer))
        })
    }

    /// Waits until the slowest receiver has room, and sends a message to every receiver. If there is no receiver, the message is
    /// dropped.
    ///
    /// # Errors
    /// Returns `TooLong`.
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        self.ring.send(message, Limit::None)
    }

    /// Like [`send`](Self::send), but returns `WouldBlock` if a receiver has no room.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `send` does. No receiver then gets the message.
    pub fn try_send(&mut self, message: &[u8]) -> Result<()> {
        self.ring.send(message, Limit::Now)
    }

    /// Like [`send`](Self::send), but waits no longer than `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `send` does. No receiver then gets the message.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<()> {
        self.ring.send(message, Limit::after(timeout))
    }

    /// Returns the number of receivers that are neither closed nor dead. Makes one system call per receiver.
    pub fn receivers(&mut self) -> usize {
        self.ring.receivers()
    }

    /// Returns the bytes in the longest message: a quarter of the ring less a header, but at most
    /// [`Options::longest_message`]. If the sender waits for slow receivers, it is also at most 16 MiB less 8 bytes.
    pub fn longest_message(&self) -> usize {
        self.ring.longest_message()
    }
}

impl Receiver {
    /// Connects to a listener whose process accepts receivers of a [`Broadcast`], of the same user or of root, as
    /// [`Channel::connect`](crate::Channel::connect) does. Returns a receiver of the messages from now on.
    ///
    /// # Errors
    /// Returns `OtherKind` if the listener accepts another kind of channel, or an error as `Channel::connect` does.
    pub fn subscribe(name: &str, options: &Options) -> Result<Receiver> {
        Receiver::subscribe_if(name, options, CONNECT_LIMIT, is_admitted)
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
    ) -> Result<Receiver> {
        let (rings, link, options) = subscribe(name, options, timeout, is_allowed, Offer::Broadcast)?;
        Ok(Receiver::new(rings.own, link, &options))
    }

    /// Creates a receiver from inherited or received descriptors. The options must be those of the [`Broadcast`],
    /// except for the wait strategy. Use each subscription once.
    ///
    /// # Errors
    /// Returns `OtherKind` if the sender overwrites messages, and `Corrupt` if [`Broadcast::subscribe`] does not return such
    /// descriptors with these options.
    pub fn from_subscription(subscription: Subscription, options: &Options) -> Result<Receiver> {
        let (rings, link, options) = open_subscription(subscription, options, false)?;
        Ok(Receiver::new(rings.own, link, &options))
    }
}

/// The ring of a receiver.
pub(crate) struct Rings {
    /// With the control words of the sender.
    pub(crate) ring: Lane,
    /// With the control words of this receiver.
    pub(crate) own: Lane,
}

/// Connects to a listener whose process accepts receivers of this kind.
pub(crate) fn subscribe(
    name: &str,
    options: &Options,
    timeout: Duration,
    is_allowed: impl Fn(&Credentials) -> bool,
    wanted: Offer,
) -> Result<(Rings, Link, Options)> {
    let AcceptedOffer { options, descriptors: [memory, control, socket], process, .. } =
        greeted(name, options, Limit::after(timeout), is_allowed, wanted)?;
    let [link] = Link::all([socket], process);
    Ok((open(&memory, &control, &options)?, link, options))
}

/// Opens an inherited or received subscription.
pub(crate) fn open_subscription(
    subscription: Subscription,
    options: &Options,
    overwrites: bool,
) -> Result<(Rings, Link, Options)> {
    if subscription.overwrites != overwrites {
        return Err(Error::OtherKind);
    }
    let Subscription { memory, control, socket, start, .. } = subscription;
    socket::check(socket.as_fd())?;
    let options = Options { start: start & !7, ..*options };
    Ok((open(&memory, &control, &options)?, socket.into(), options))
}

fn open(memory: &OwnedFd, control: &OwnedFd, options: &Options) -> Result<Rings> {
    shared_memory::check_readable(memory.as_fd(), shared_bytes(options.capacity, 1))?;
    shared_memory::check(control.as_fd(), CONTROL_BYTES)?;
    let ring = Lane::map_for_reading(memory.as_fd(), options.capacity)?;
    let own = ring.with_control(control.as_fd())?;
    Ok(Rings { ring, own })
}

#[cfg(all(test, not(any(loom, in_one_process))))]
mod tests {
    use super::*;
    use crate::OverwritingReceiver;

    #[test]
    fn receiver_that_starts_before_it_is_added_has_missed_nothing() {
        let options = Options::new().capacity(4096);
        let mut broadcast = Broadcast::overwriting(&options).unwrap();
        (0..10).for_each(|_| broadcast.send(&[0]).unwrap());
        let (subscription, lane, socket) = broadcast.new_subscription().unwrap();
        let mut receiver = OverwritingReceiver::from_subscription(subscription, &options).unwrap();
        broadcast.ring.add(lane, socket.into());
        broadcast.send(&[1]).unwrap();
        assert_eq!(receiver.recv(&mut [0]).unwrap().missed, 0);
    }
}

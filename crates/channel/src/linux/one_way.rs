//! One-way channels: one ring, in which one process sends to another.

use crate::credentials::Credentials;
use crate::error::Result;
use crate::greeting::{self, Offer};
use crate::linux::connection::{AcceptedOffer, Listener, give, greeted, is_admitted};
use crate::linux::link::Link;
use crate::linux::{shared_memory, socket};
use crate::memory::Lane;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::storage::shared_bytes;
use crate::waiting::{CONNECT_LIMIT, Limit};
use sealed::Parts;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// An end of a one-way channel: a [`Sender`] or a [`Receiver`].
///
/// ```
/// use furlong_channel::{Listener, OneWayEnd, Result};
///
/// /// Accepts three clients, all of which receive or all of which send.
/// fn accept_three<E: OneWayEnd>(listener: &Listener) -> Result<[E; 3]> {
///     Ok([listener.accept_one_way()?, listener.accept_one_way()?, listener.accept_one_way()?])
/// }
/// ```
pub trait OneWayEnd: sealed::End {}

impl OneWayEnd for Sender {}
impl OneWayEnd for Receiver {}

mod sealed {
    /// The parts of an end.
    pub struct Parts<'a> {
        pub(super) lane: super::Lane,
        pub(super) link: super::Link,
        pub(super) options: &'a super::Options,
    }

    pub trait End: Sized {
        /// Whether this end sends.
        const SENDS: bool;
        /// Creates the end.
        fn of(parts: Parts<'_>) -> Self;
    }
}

impl sealed::End for Sender {
    const SENDS: bool = true;

    fn of(Parts { lane, link, options }: Parts<'_>) -> Sender {
        Sender::new(lane, link, options)
    }
}

impl sealed::End for Receiver {
    const SENDS: bool = false;

    fn of(Parts { lane, link, options }: Parts<'_>) -> Receiver {
        Receiver::new(lane, link, options)
    }
}

/// Returns the offer of a listener that sends or receives.
const fn offer(listener_sends: bool) -> Offer {
    if listener_sends { Offer::FromListener } else { Offer::ToListener }
}

/// The descriptors of one end of a one-way channel. They are closed on `exec` unless a program clears the flag.
///
/// ```
/// # use furlong_channel::{OneWayDescriptors, Options};
/// let [own, other] = OneWayDescriptors::pair(&Options::new())?;
/// // Send `other` to another process through a UNIX socket, or let a child inherit it.
/// println!("memory {:?}, socket {:?}", other.memory, other.socket);
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug)]
pub struct OneWayDescriptors {
    /// The shared memory of both ends.
    pub memory: OwnedFd,
    /// A socket that is connected with the other end.
    pub socket: OwnedFd,
}

impl OneWayDescriptors {
    /// Returns the descriptors of both ends of a new one-way channel. Pass them to two processes through a fork, `exec`
    /// or a socket. One process creates a [`Sender`] and the other one a [`Receiver`]. Each process drops the
    /// descriptors of the other end.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    ///
    /// ```
    /// # use furlong_channel::{OneWayDescriptors, Options, Receiver, Sender};
    /// let options = Options::new().capacity(4096);
    /// let [one, other] = OneWayDescriptors::pair(&options)?;
    /// let mut sender = Sender::from_descriptors(one, &options)?;
    /// let mut receiver = Receiver::from_descriptors(other, &options)?;
    /// sender.send(b"hello")?;
    /// assert_eq!(receiver.recv_vec()?, b"hello");
    /// # Ok::<(), furlong_channel::Error>(())
    /// ```
    pub fn pair(options: &Options) -> Result<[OneWayDescriptors; 2]> {
        let memory = shared_memory::new(shared_bytes(options.capacity, 1))?;
        let [socket, other] = socket::pair()?;
        let copy = memory.try_clone()?;
        Ok([OneWayDescriptors { memory, socket }, OneWayDescriptors { memory: copy, socket: other }])
    }
}

fn open<E: sealed::End>(memory: BorrowedFd<'_>, link: Link, options: &Options) -> Result<E> {
    shared_memory::check(memory, shared_bytes(options.capacity, 1))?;
    let [lane] = Lane::map(memory, options.capacity)?;
    Ok(E::of(Parts { lane, link, options }))
}

fn connect<E: OneWayEnd>(
    name: &str,
    options: &Options,
    timeout: Duration,
    is_allowed: impl Fn(&Credentials) -> bool,
) -> Result<E> {
    let AcceptedOffer { options, descriptors: [memory, socket], process, .. } =
        greeted(name, options, Limit::after(timeout), is_allowed, offer(!E::SENDS))?;
    let [link] = Link::all([socket], process);
    open(memory.as_fd(), link, &options)
}

impl Listener {
    /// Waits for a process of the same user, or of root, to connect, and returns this end of a new one-way channel. The
    /// channel has one ring and needs half of the memory of a [`Channel`](crate::Channel). The client calls
    /// [`Receiver::connect`] if this end is a [`Sender`], and [`Sender::connect`] if it is a [`Receiver`].
    ///
    /// # Errors
    /// Returns an error as [`accept`](Self::accept) does.
    ///
    /// ```
    /// use furlong_channel::{Listener, Options, Receiver, Sender};
    ///
    /// # let name = format!("@furlong-channel-one-way-{}", std::process::id());
    /// let listener = Listener::bind(&name, &Options::new())?;
    /// # let name = name.clone();
    /// let camera = std::thread::spawn(move || {
    ///     let mut frames = Sender::connect(&name, &Options::new())?;
    ///     frames.send(b"frame")
    /// });
    /// let mut frames: Receiver = listener.accept_one_way()?;
    /// assert_eq!(frames.recv_vec()?, b"frame");
    /// # camera.join().unwrap()?;
    /// # Ok::<(), furlong_channel::Error>(())
    /// ```
    pub fn accept_one_way<E: OneWayEnd>(&self) -> Result<E> {
        self.accept_one_way_until(Limit::None, is_admitted).map(|(end, _)| end)
    }

    /// Like [`accept_one_way`](Self::accept_one_way), but returns `WouldBlock` if no process has connected.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `accept_one_way` does.
    pub fn try_accept_one_way<E: OneWayEnd>(&self) -> Result<E> {
        self.accept_one_way_until(Limit::Now, is_admitted).map(|(end, _)| end)
    }

    /// Like [`accept_one_way`](Self::accept_one_way), but waits no longer than `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `accept_one_way` does.
    pub fn accept_one_way_timeout<E: OneWayEnd>(&self, timeout: Duration) -> Result<E> {
        self.accept_one_way_until(Limit::after(timeout), is_admitted).map(|(end, _)| end)
    }

    /// Like [`accept_one_way`](Self::accept_one_way), but `is_allowed` decides about processes of all users.
    ///
    /// # Errors
    /// Returns `Refused` if `is_allowed` returns false, or an error as `accept_one_way` does.
    pub fn accept_one_way_if<E: OneWayEnd>(&self, is_allowed: impl Fn(&Credentials) -> bool) -> Result<E> {
        self.accept_one_way_until(Limit::None, is_allowed).map(|(end, _)| end)
    }

    /// Accepts a client, and returns this end with the credentials of the client's process.
    pub(crate) fn accept_one_way_until<E: OneWayEnd>(
        &self,
        limit: Limit,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<(E, Credentials)> {
        self.accept_with(limit, is_allowed, |connection, process, peer| {
            let options = self.options();
            let [OneWayDescriptors { memory, socket }, other] = OneWayDescriptors::pair(options)?;
            let greeting = greeting::encode(options, offer(E::SENDS));
            if !give(connection.as_fd(), &greeting, &[other.memory.as_fd(), other.socket.as_fd()])? {
                return Ok(None);
            }
            let [link] = Link::all([socket], process);
            Ok(Some((open(memory.as_fd(), link, options)?, peer)))
        })
    }
}

macro_rules! one_way_end {
    ($end:ident, $other:literal) => {
        impl $end {
            #[doc = concat!("Connects with a [`Listener`] that accepts a [`", $other, "`] with")]
            /// [`accept_one_way`](Listener::accept_one_way), of the same user or of root, as
            /// [`Channel::connect`](crate::Channel::connect) does.
            ///
            /// # Errors
            /// Returns `OtherKind` if the listener accepts another kind of channel, or an error as `Channel::connect` does.
            pub fn connect(name: &str, options: &Options) -> Result<$end> {
                connect(name, options, CONNECT_LIMIT, is_admitted)
            }

            /// Like [`connect`](Self::connect), but waits at most `timeout`, and `is_allowed` decides about listeners of all
            /// users.
            ///
            /// # Errors
            /// Returns `Refused` if `is_allowed` returns false, or an error as `connect` does.
            pub fn connect_if(
                name: &str,
                options: &Options,
                timeout: Duration,
                is_allowed: impl Fn(&Credentials) -> bool,
            ) -> Result<$end> {
                connect(name, options, timeout, is_allowed)
            }

            /// Creates this end from inherited or received descriptors. Both ends must have the same options, except for the wait
            /// strategy. Use each set of descriptors once.
            ///
            /// # Errors
            /// Returns `Corrupt` if [`OneWayDescriptors::pair`] does not return such descriptors with these options.
            pub fn from_descriptors(descriptors: OneWayDescriptors, options: &Options) -> Result<$end> {
                let OneWayDescriptors { memory, socket } = descriptors;
                socket::check(socket.as_fd())?;
                open(memory.as_fd(), socket.into(), options)
            }
        }
    };
}

one_way_end!(Sender, "Receiver");
one_way_end!(Receiver, "Sender");

//! Many senders and one receiver, which waits for all of them at once.
//!
//! Each sender has a one-way channel of its own, so a sender that dies or does harm is no concern of the others. A ring is either looked
//! at, or its end has announced that it waits outside and epoll reports it. A ring stays announced while others have messages, so a
//! wait costs as much as there were active senders, and not as much as there are senders.

use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::linux::connection::{Listener, is_admitted};
use crate::linux::epoll::Epoll;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::waiting::{Limit, Waiting};
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

/// How long rings are looked at before the process sleeps: what a wake-up takes.
const LOOKS_FOR: Duration = Duration::from_micros(50);

/// Messages, or looks at all rings, after which epoll is asked: for rings that are announced, and for clients.
const BETWEEN_REPORTS: u32 = 64;

/// The number under which epoll reports the listener. Senders have those from 0 on.
const LISTENER: u64 = u64::MAX;

/// A sender of an [`Inbox`]. No two senders of an inbox have the same.
///
/// ```
/// # use furlong_channel::{Event, Inbox, OneWayDescriptors, Options, Receiver, Sender};
/// # let options = Options::new();
/// # let [one, other] = OneWayDescriptors::pair(&options)?;
/// # let (mut sender, receiver) = (Sender::from_descriptors(one, &options)?, Receiver::from_descriptors(other, &options)?);
/// let mut inbox = Inbox::new(&options)?;
/// let id = inbox.add(receiver)?;
/// sender.send(b"hello")?;
/// assert_eq!(inbox.recv(&mut [0; 100])?, Event::Message { from: id, len: 5 });
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SenderId(u64);

/// What an [`Inbox`] receives.
///
/// ```
/// # use furlong_channel::{Event, Inbox, OneWayDescriptors, Options, Receiver, Sender};
/// # let options = Options::new();
/// # let [one, other] = OneWayDescriptors::pair(&options)?;
/// # let (mut sender, receiver) = (Sender::from_descriptors(one, &options)?, Receiver::from_descriptors(other, &options)?);
/// let mut inbox = Inbox::new(&options)?;
/// let id = inbox.add(receiver)?;
/// sender.send(b"hello")?;
/// match inbox.recv(&mut [0; 100])? {
///     Event::Message { from, len } => assert_eq!((from, len), (id, 5)),
///     Event::Left { reason, .. } => println!("a sender has left: {reason}"),
///     _ => {}
/// }
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A process has connected.
    Joined {
        /// The new sender.
        from: SenderId,
        /// Its process.
        peer: Credentials,
    },
    /// A message was copied into the buffer.
    Message {
        /// The message's sender.
        from: SenderId,
        /// Bytes of the message.
        len: usize,
    },
    /// The next message of a sender has more bytes than the buffer. It stays the next one of its sender, and the other senders get
    /// their turns. The event is repeated in each turn of this sender until the buffer is large enough or the sender is
    /// [removed](Inbox::remove).
    BufferTooSmall {
        /// The message's sender.
        from: SenderId,
        /// Bytes of the message, as its sender has announced them. It need not ever send them.
        len: usize,
    },
    /// A sender sends no more, and all of its messages were received.
    Left {
        /// The sender.
        from: SenderId,
        /// `Closed`, `PeerDied` or `Corrupt`.
        reason: Error,
    },
}

/// The receiving end of many senders, with one wait for all of them.
///
/// The messages of one sender arrive in order; senders take turns. Each has a ring, so a slow or full one holds up no other one. A
/// sender that closes, dies or breaks the protocol is reported as [`Event::Left`] after its messages; the others go on. Each sender is a
/// one-way channel or half of a channel, with its rules for trust, deaths and forks.
///
/// ```
/// use furlong_channel::{Event, Inbox, Options, Sender};
///
/// # let name = format!("@furlong-channel-inbox-{}", std::process::id());
/// let mut inbox = Inbox::bind(&name, &Options::new().capacity(64 << 10))?;
/// let workers: Vec<_> = (0..3u8)
///     .map(|number| {
/// #       let name = name.clone();
///         std::thread::spawn(move || Sender::connect(&name, &Options::new())?.send(&[number]))
///     })
///     .collect();
/// let (mut buffer, mut sum, mut left) = ([0; 100], 0, 0);
/// while left < workers.len() {
///     match inbox.recv(&mut buffer)? {
///         Event::Message { .. } => sum += buffer[0],
///         Event::Left { .. } => left += 1,
///         _ => {}
///     }
/// }
/// assert_eq!(sum, 0 + 1 + 2);
/// # for worker in workers { worker.join().unwrap()?; }
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug)]
pub struct Inbox {
    epoll: Epoll,
    listener: Option<Listener>,
    is_to_accept: bool,
    senders: BTreeMap<u64, Receiver>,
    /// The senders that are not announced, in the order of their turns.
    awake: VecDeque<u64>,
    /// Senders that have left, to be reported.
    left: Vec<(SenderId, Error)>,
    next: u64,
    until_report: u32,
    looks_for: Duration,
}

impl Inbox {
    /// Creates an inbox for senders that [`add`](Self::add) adds. It sleeps at once with [`Waiting::Park`], and otherwise looks for 50
    /// microseconds before it sleeps.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` for [`Waiting::Spin`].
    pub fn new(options: &Options) -> Result<Inbox> {
        let looks_for = match options.waiting {
            Waiting::Spin => return Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
            Waiting::Park => Duration::ZERO,
            Waiting::Adaptive => LOOKS_FOR,
        };
        Ok(Inbox {
            epoll: Epoll::new()?,
            listener: None,
            is_to_accept: false,
            senders: BTreeMap::new(),
            awake: VecDeque::new(),
            left: Vec::new(),
            next: 0,
            until_report: BETWEEN_REPORTS,
            looks_for,
        })
    }

    /// Creates an inbox that also accepts each process of the same user, or of root, that calls
    /// [`Sender::connect`](crate::Sender::connect) with this name. Processes of other users get nothing and are not reported.
    ///
    /// # Errors
    /// Returns an error as [`new`](Self::new) or [`Listener::bind`] does.
    pub fn bind(name: &str, options: &Options) -> Result<Inbox> {
        let mut inbox = Inbox::new(options)?;
        let listener = Listener::bind(name, options)?;
        inbox.epoll.add(listener.as_fd(), LISTENER)?;
        inbox.listener = Some(listener);
        Ok(inbox)
    }

    /// Adds the receiving end of a channel or of a one-way channel.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` if the end busy-waits.
    pub fn add(&mut self, mut receiver: Receiver) -> Result<SenderId> {
        if let Err(error @ Error::System(_)) = receiver.watch() {
            return Err(error);
        }
        let number = self.next;
        self.epoll.add(receiver.as_fd(), number)?;
        if let Some(process) = receiver.peer_process() {
            self.epoll.add(process, number)?;
        }
        self.next += 1;
        self.senders.insert(number, receiver);
        self.awake.push_back(number);
        Ok(SenderId(number))
    }

    /// Removes a sender, and returns its receiver; none if it has left.
    pub fn remove(&mut self, sender: SenderId) -> Option<Receiver> {
        let receiver = self.senders.remove(&sender.0)?;
        self.awake.retain(|number| *number != sender.0);
        self.left.retain(|(left, _)| *left != sender);
        let process = receiver.peer_process().map(|process| self.epoll.remove(process));
        // They were added, and are open.
        debug_assert!(process.is_none_or(|removed| removed.is_ok()));
        self.epoll.remove(receiver.as_fd()).ok()?;
        Some(receiver)
    }

    /// Returns the number of senders that have not left.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// Waits for the next message, and copies it into `buffer`; or for another [`Event`].
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn recv(&mut self, buffer: &mut [u8]) -> Result<Event> {
        self.recv_until(buffer, Limit::None)
    }

    /// Like [`recv`](Self::recv), but returns `WouldBlock` if there is nothing to report.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `recv` does.
    pub fn try_recv(&mut self, buffer: &mut [u8]) -> Result<Event> {
        self.recv_until(buffer, Limit::Now)
    }

    /// Like [`recv`](Self::recv), but waits no longer than `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `recv` does.
    pub fn recv_timeout(&mut self, buffer: &mut [u8], timeout: Duration) -> Result<Event> {
        self.recv_until(buffer, Limit::after(timeout))
    }

    /// Prepares a wait outside: true if [`descriptor`](Self::descriptor) becomes readable once there is something to receive; false if
    /// there is something already. Call it before each wait.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn watch(&mut self) -> Result<bool> {
        Ok(!self.announce())
    }

    /// Returns the descriptor that becomes readable when [`watch`](Self::watch) has returned true and there is something to receive.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn recv_until(&mut self, buffer: &mut [u8], limit: Limit) -> Result<Event> {
        self.until_report -= 1;
        if self.until_report == 0 {
            self.wait(Limit::Now)?;
        }
        let mut begin = None;
        loop {
            if let Some(event) = self.look(buffer)? {
                return Ok(event);
            }
            if matches!(limit, Limit::Now) {
                self.wait(Limit::Now)?;
                return self.look(buffer)?.ok_or(Error::WouldBlock);
            }
            let now = Instant::now();
            if matches!(limit, Limit::At(end) if now >= end) {
                return Err(Error::TimedOut);
            }
            if now - *begin.get_or_insert(now) < self.looks_for {
                self.until_report -= 1;
                if self.until_report == 0 {
                    self.wait(Limit::Now)?;
                }
                std::hint::spin_loop();
            } else if !self.announce() {
                self.wait(limit)?;
                begin = None;
            }
        }
    }

    /// Accepts a client, or receives the message of the first sender in turn that has one.
    fn look(&mut self, buffer: &mut [u8]) -> Result<Option<Event>> {
        if let Some(joined) = self.accept()? {
            return Ok(Some(joined));
        }
        if let Some((from, reason)) = self.left.pop() {
            self.remove(from);
            return Ok(Some(Event::Left { from, reason }));
        }
        for _ in 0..self.awake.len() {
            let Some(number) = self.awake.pop_front() else { break };
            let from = SenderId(number);
            let Some(receiver) = self.senders.get_mut(&number) else { continue };
            let received = receiver.try_recv(buffer);
            self.awake.push_back(number);
            match received {
                Ok(len) => return Ok(Some(Event::Message { from, len })),
                Err(Error::WouldBlock) => {}
                Err(Error::BufferTooSmall { len }) => return Ok(Some(Event::BufferTooSmall { from, len })),
                Err(reason) => {
                    self.remove(from);
                    return Ok(Some(Event::Left { from, reason }));
                }
            }
        }
        Ok(None)
    }

    fn accept(&mut self) -> Result<Option<Event>> {
        let Some(listener) = self.listener.as_ref().filter(|_| self.is_to_accept) else {
            return Ok(None);
        };
        self.is_to_accept = false;
        match listener.accept_one_way_until(Limit::Now, is_admitted) {
            Ok((receiver, peer)) => {
                let from = self.add(receiver)?;
                Ok(Some(Event::Joined { from, peer }))
            }
            Err(Error::WouldBlock | Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Announces to all senders that are looked at that this process waits; says whether one has something to report.
    fn announce(&mut self) -> bool {
        let Inbox { senders, awake, left, .. } = self;
        awake.retain(|number| match senders.get_mut(number).map(Receiver::watch) {
            Some(Ok(is_announced)) => !is_announced,
            Some(Err(reason)) => {
                left.push((SenderId(*number), reason));
                false
            }
            None => false,
        });
        !awake.is_empty() || !left.is_empty() || self.is_to_accept
    }

    /// Waits until epoll reports something.
    fn wait(&mut self, limit: Limit) -> Result<()> {
        self.until_report = BETWEEN_REPORTS;
        let Inbox { epoll, senders, awake, is_to_accept, .. } = self;
        epoll.wait(limit, |number| {
            if number == LISTENER {
                *is_to_accept = true;
            } else if senders.contains_key(&number) && !awake.contains(&number) {
                awake.push_back(number);
            }
        })?;
        Ok(())
    }
}

impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor()
    }
}

impl AsRawFd for Inbox {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor().as_raw_fd()
    }
}

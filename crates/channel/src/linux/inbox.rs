//! Many senders, and one receiver that waits for all of them at once.
//!
//! Each sender has a separate one-way channel, so a sender that dies or does harm does not affect the others. The
//! receiver either checks a ring, or has announced in the ring that it waits, and epoll reports the ring's socket.
//! Before the receiver sleeps, it announces its wait in all rings. While it is busy, it does so in the ring of a sender
//! that was silent during [`SILENT_FOR`] messages of others. So the cost of a message depends on the number of active
//! senders, and not on the number of connected senders.

use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::linux::connection::{Listener, is_admitted};
use crate::linux::epoll::{Epoll, Timer};
use crate::options::Options;
use crate::receiver::Receiver;
use crate::waiting::{Limit, WaitStrategy};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

/// Time for which rings are polled before the process sleeps: the duration of a wake-up.
const LOOKS_FOR: Duration = Duration::from_micros(50);

/// Number of messages, or of polls of all rings, after which epoll is queried for announced rings and for clients.
const BETWEEN_REPORTS: u32 = 64;

/// Number of messages of others during which a silent sender is still polled. A poll reads words of memory. An
/// announcement with its wake-up costs several system calls.
const SILENT_FOR: u64 = 128;

/// Number of reports of a socket without a message after which epoll no longer reports it. Signals without end would
/// otherwise prevent every sleep.
const VAIN_REPORTS: u32 = 64;

/// The interval at which senders are polled that epoll no longer reports.
const LOOKS_EVERY: Duration = Duration::from_millis(1);

/// The time from a failed accept to the next one, unless a sender leaves earlier.
const ACCEPTS_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Number of senders up to which clients are accepted. Each has two descriptors, and a process usually may have 1024.
const MOST_SENDERS: usize = 256;

/// The numbers under which epoll reports the listener and the timer. Senders have the numbers from 0.
const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// The identity of a sender of an [`Inbox`]. It is unique within the inbox.
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

/// An event that an [`Inbox`] receives.
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
    /// A client could not be accepted, for example because the process has too many descriptors. The inbox tries again after 100
    /// milliseconds, or once a sender has left. Further failures are not reported until a client was accepted.
    NotAccepted {
        /// The error, usually `System`.
        reason: Error,
    },
    /// A message was copied into the buffer.
    Message {
        /// The message's sender.
        from: SenderId,
        /// Bytes of the message.
        len: usize,
    },
    /// The next message of a sender has more bytes than the buffer. It stays the next one of its sender, and the other
    /// senders get their turns. The event is repeated in each turn of this sender until the buffer is large enough or
    /// the sender is [removed](Inbox::remove).
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
/// The messages of one sender arrive in order, and senders take turns. Each sender has a ring, so a slow sender or a
/// full ring does not delay the others. A sender that closes, dies or breaks the protocol is reported as
/// [`Event::Left`] after its messages; the others continue. Each sender is a one-way channel or half of a channel. The
/// rules of that channel for trust, deaths and forks apply.
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
    entrance: Option<Entrance>,
    /// The number of senders from which no client is accepted.
    most: usize,
    senders: BTreeMap<u64, Member>,
    /// The senders that are not announced, in the order of their turns.
    awake: VecDeque<u64>,
    /// The senders whose sockets epoll does not report.
    unreported: Vec<u64>,
    /// Senders that have left, to be reported.
    left: Vec<(SenderId, Error)>,
    next: u64,
    /// Messages received.
    messages: u64,
    until_report: u32,
    looks_for: Duration,
    timer: Timer,
    /// The time for which the timer was set, until epoll reports it.
    timer_set: Option<Duration>,
}

/// A sender and its receiving end.
#[derive(Debug)]
struct Member {
    receiver: Receiver,
    /// Whether it is in [`Inbox::awake`].
    is_awake: bool,
    /// Whether epoll reports its socket. Its process is always reported.
    is_reported: bool,
    /// Announcements since its last message.
    vain: u32,
    /// [`Inbox::messages`] at its last message.
    last: u64,
}

/// The listener through which senders join.
struct Entrance {
    listener: Listener,
    admits: Box<dyn Fn(&Credentials) -> bool + Send>,
    /// Whether epoll reports the listener.
    is_reported: bool,
    /// Whether epoll has reported it.
    is_to_accept: bool,
    /// When the next client is accepted, after a failure.
    accepts_again: Option<Instant>,
    /// Whether the last client could not be accepted, and this was reported.
    has_failed: bool,
}

impl fmt::Debug for Entrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entrance").field(&self.listener).finish()
    }
}

impl Inbox {
    /// Creates an inbox for senders that [`add`](Self::add) adds. With [`WaitStrategy::Park`] it sleeps at once. Otherwise
    /// it polls for 50 microseconds before it sleeps.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` for [`WaitStrategy::Spin`].
    pub fn new(options: &Options) -> Result<Inbox> {
        let looks_for = match options.waiting {
            WaitStrategy::Spin => return Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
            WaitStrategy::Park => Duration::ZERO,
            WaitStrategy::Adaptive => LOOKS_FOR,
        };
        let (epoll, timer) = (Epoll::new()?, Timer::new()?);
        epoll.add(timer.as_fd(), TIMER)?;
        Ok(Inbox {
            epoll,
            entrance: None,
            most: MOST_SENDERS,
            senders: BTreeMap::new(),
            awake: VecDeque::new(),
            unreported: Vec::new(),
            left: Vec::new(),
            next: 0,
            messages: 0,
            until_report: BETWEEN_REPORTS,
            looks_for,
            timer,
            timer_set: None,
        })
    }

    /// Creates an inbox that also accepts each process of the same user, or of root, that calls
    /// [`Sender::connect`](crate::Sender::connect) with this name. Processes of other users are rejected without an event.
    ///
    /// Each sender has a ring of [`Options::capacity`] and two descriptors. While the inbox has 256 senders, further
    /// clients wait; see [`limit_senders`](Self::limit_senders).
    ///
    /// # Errors
    /// Returns an error as [`new`](Self::new) or [`Listener::bind`] does.
    pub fn bind(name: &str, options: &Options) -> Result<Inbox> {
        Inbox::bind_if(name, options, is_admitted)
    }

    /// Like [`bind`](Self::bind), but `is_allowed` decides about processes of all users. It can, for example, reject a
    /// process that has joined already.
    ///
    /// # Errors
    /// Returns an error as `bind` does.
    pub fn bind_if(
        name: &str,
        options: &Options,
        is_allowed: impl Fn(&Credentials) -> bool + Send + 'static,
    ) -> Result<Inbox> {
        let mut inbox = Inbox::new(options)?;
        let listener = Listener::bind(name, options)?;
        inbox.epoll.add(listener.as_fd(), LISTENER)?;
        inbox.entrance = Some(Entrance {
            listener,
            admits: Box::new(is_allowed),
            is_reported: true,
            is_to_accept: false,
            accepts_again: None,
            has_failed: false,
        });
        Ok(inbox)
    }

    /// Sets the number of senders from which no further client is accepted. [default: 256] Further clients wait until a
    /// sender has left or is [removed](Self::remove), or until their [`Sender::connect`](crate::Sender::connect)
    /// returns `TimedOut`. [`add`](Self::add) is not limited.
    pub fn limit_senders(&mut self, most: usize) {
        self.most = most;
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
            if let Err(error) = self.epoll.add(process, number) {
                // A fork of this process may keep the socket open.
                self.epoll.remove(receiver.as_fd())?;
                return Err(error.into());
            }
        }
        self.next += 1;
        let member = Member { receiver, is_awake: true, is_reported: true, vain: 0, last: self.messages };
        self.senders.insert(number, member);
        self.awake.push_back(number);
        Ok(SenderId(number))
    }

    /// Removes a sender, and returns its receiver; `None` if the sender has left.
    pub fn remove(&mut self, sender: SenderId) -> Option<Receiver> {
        let Member { receiver, is_reported, .. } = self.senders.remove(&sender.0)?;
        self.awake.retain(|number| *number != sender.0);
        self.unreported.retain(|number| *number != sender.0);
        self.left.retain(|(left, _)| *left != sender);
        if let Some(entrance) = &mut self.entrance {
            entrance.accepts_again = None;
        }
        let process = receiver.peer_process().map(|process| self.epoll.remove(process));
        // The descriptors were added, and are open.
        debug_assert!(process.is_none_or(|removed| removed.is_ok()));
        if is_reported {
            self.epoll.remove(receiver.as_fd()).ok()?;
        }
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

    /// Prepares a wait with poll or epoll. Returns true if [`descriptor`](Self::descriptor) becomes readable with the
    /// next event, and false if an event is available. Call it before each wait.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn watch(&mut self) -> Result<bool> {
        self.prepare_reports();
        let is_announced = !self.announce();
        self.set_timer()?;
        Ok(is_announced)
    }

    /// Returns the descriptor that becomes readable when [`watch`](Self::watch) has returned true and an event is available.
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
            let now = Instant::now();
            if matches!(limit, Limit::Now) || matches!(limit, Limit::At(end) if now >= end) {
                self.wait(Limit::Now)?;
                return self.look(buffer)?.ok_or(limit.exceeded());
            }
            if now - *begin.get_or_insert(now) < self.looks_for {
                self.until_report -= 1;
                if self.until_report == 0 {
                    self.wait(Limit::Now)?;
                }
                std::hint::spin_loop();
            } else {
                // A sender of endless parts prevents every sleep. The messages of announced senders are reported
                // nevertheless.
                let limit = if self.announce() { Limit::Now } else { limit };
                self.wait(limit)?;
                begin = None;
            }
        }
    }

    /// Accepts a client, or receives a message from the first sender in turn that has one.
    fn look(&mut self, buffer: &mut [u8]) -> Result<Option<Event>> {
        if let Some(event) = self.accept() {
            return Ok(Some(event));
        }
        if let Some((from, reason)) = self.left.pop() {
            self.remove(from);
            return Ok(Some(Event::Left { from, reason }));
        }
        for _ in 0..self.awake.len() {
            let Some(number) = self.awake.pop_front() else { break };
            let from = SenderId(number);
            let Some(member) = self.senders.get_mut(&number) else { continue };
            match member.receiver.try_recv(buffer) {
                Ok(len) => {
                    self.awake.push_back(number);
                    self.messages += 1;
                    member.last = self.messages;
                    member.vain = 0;
                    if !member.is_reported {
                        self.report_again(number);
                    }
                    return Ok(Some(Event::Message { from, len }));
                }
                Err(Error::WouldBlock) if self.messages - member.last >= SILENT_FOR => {
                    member.last = self.messages;
                    self.announce_one(number);
                }
                Err(Error::WouldBlock) => self.awake.push_back(number),
                Err(Error::BufferTooSmall { len }) => {
                    self.awake.push_back(number);
                    return Ok(Some(Event::BufferTooSmall { from, len }));
                }
                Err(reason) => {
                    self.remove(from);
                    return Ok(Some(Event::Left { from, reason }));
                }
            }
        }
        Ok(None)
    }

    fn accept(&mut self) -> Option<Event> {
        let is_full = self.is_full();
        let entrance = self.entrance.as_mut()?;
        if !std::mem::take(&mut entrance.is_to_accept) || is_full {
            return None;
        }
        let accepted = entrance.listener.accept_one_way_until(Limit::Now, &entrance.admits);
        let result = match accepted {
            Ok((receiver, peer)) => self.add(receiver).map(|from| Event::Joined { from, peer }),
            Err(Error::WouldBlock | Error::Refused(_)) => return None,
            Err(error) => Err(error),
        };
        let entrance = self.entrance.as_mut()?;
        let had_failed = std::mem::replace(&mut entrance.has_failed, result.is_err());
        match result {
            Ok(joined) => Some(joined),
            Err(reason) => {
                entrance.accepts_again = Some(Instant::now() + ACCEPTS_AGAIN_AFTER);
                (!had_failed).then_some(Event::NotAccepted { reason })
            }
        }
    }

    fn is_full(&self) -> bool {
        self.senders.len() >= self.most
    }

    /// Announces to all polled senders that this process waits, and returns whether there is something to report.
    fn announce(&mut self) -> bool {
        for _ in 0..self.awake.len() {
            let Some(number) = self.awake.pop_front() else { break };
            self.announce_one(number);
        }
        let is_to_accept = self.entrance.as_ref().is_some_and(|entrance| entrance.is_to_accept);
        !self.awake.is_empty() || !self.left.is_empty() || is_to_accept
    }

    /// Announces to a sender that is not among the awake ones that this process waits. It is awake again if it has a
    /// message.
    fn announce_one(&mut self, number: u64) {
        let Some(member) = self.senders.get_mut(&number) else { return };
        let announced = member.receiver.watch();
        member.is_awake = matches!(announced, Ok(false));
        match announced {
            Ok(false) => self.awake.push_back(number),
            Ok(true) => {
                member.vain = member.vain.saturating_add(1);
                if member.is_reported && member.vain > VAIN_REPORTS {
                    member.is_reported = self.epoll.remove(member.receiver.as_fd()).is_err();
                    self.unreported.extend((!member.is_reported).then_some(number));
                }
            }
            Err(reason) => self.left.push((SenderId(number), reason)),
        }
    }

    /// Lets epoll report the socket of a sender again. If the system refuses, the sender is still polled at intervals.
    fn report_again(&mut self, number: u64) {
        let Some(member) = self.senders.get_mut(&number) else { return };
        member.is_reported = self.epoll.add(member.receiver.as_fd(), number).is_ok();
        if member.is_reported {
            self.unreported.retain(|other| *other != number);
        }
    }

    /// Lets epoll report the listener only while clients are accepted. Otherwise a waiting client would end each wait.
    fn prepare_reports(&mut self) {
        let is_full = self.is_full();
        let Some(entrance) = &mut self.entrance else { return };
        entrance.accepts_again = entrance.accepts_again.filter(|time| Instant::now() < *time);
        let is_wanted = !is_full && entrance.accepts_again.is_none();
        if is_wanted != entrance.is_reported {
            let listener = entrance.listener.as_fd();
            let change =
                if is_wanted { self.epoll.add(listener, LISTENER) } else { self.epoll.remove(listener) };
            match change {
                Ok(()) => entrance.is_reported = is_wanted,
                Err(_) => entrance.accepts_again = Some(Instant::now() + ACCEPTS_AGAIN_AFTER),
            }
        }
    }

    /// Sets the timer that ends a wait, because epoll does not report some senders or the listener.
    fn set_timer(&mut self) -> Result<()> {
        let again =
            self.entrance.as_ref().and_then(|entrance| entrance.accepts_again).map(|_| ACCEPTS_AGAIN_AFTER);
        let time = if self.unreported.is_empty() { again } else { Some(LOOKS_EVERY) };
        if let Some(time) = time.filter(|time| self.timer_set.is_none_or(|set| *time < set)) {
            self.timer.set(time)?;
            self.timer_set = Some(time);
        }
        Ok(())
    }

    /// Waits until epoll reports an event.
    fn wait(&mut self, limit: Limit) -> Result<()> {
        self.until_report = BETWEEN_REPORTS;
        self.prepare_reports();
        self.set_timer()?;
        let Inbox { epoll, senders, awake, entrance, .. } = self;
        let mut wake = |number| {
            if let Some(member) = senders.get_mut(&number).filter(|member| !member.is_awake) {
                member.is_awake = true;
                awake.push_back(number);
            }
        };
        let mut is_time = false;
        epoll.wait(limit, |number| match (number, &mut *entrance) {
            (TIMER, _) => is_time = true,
            (LISTENER, Some(entrance)) => entrance.is_to_accept = true,
            _ => wake(number),
        })?;
        if is_time {
            self.unreported.iter().for_each(|number| wake(*number));
            self.timer_set = None;
            self.timer.set(Duration::ZERO)?;
        }
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

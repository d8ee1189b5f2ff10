//! The receiving end of a direction.

use crate::coalescing::{self, Coalescing};
use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::memory::{Lane, Promise};
use crate::options::Options;
use crate::ring::{Consumer, Kind, Record};
use crate::trust::{Trust, TrustedPeer, UntrustedPeer};
use crate::waiting::{Limit, Waiter};
use crate::wake::Link;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

/// The receiving end of a direction. When it is dropped, calls of the sender return [`Closed`](Error::Closed).
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{Channel, Error, Options};
/// # let options = Options::new();
/// # let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// # let (first, second) = (first?, second?);
/// let (mut sender, _) = first.split();
/// let (_, mut receiver) = second.split();
/// let thread = std::thread::spawn(move || sender.send_all([b"one", b"two"]));
/// let mut bytes = 0;
/// while let Ok(_) = receiver.recv_each(100, |message| bytes += message.len()) {}
/// assert_eq!(bytes, 6);
/// # thread.join().unwrap()?;
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
pub struct Receiver<T: Trust = UntrustedPeer> {
    end: ReceivingEnd,
    trust: T,
}

/// A receiving end without its type parameter.
struct ReceivingEnd {
    ring: Consumer,
    waiter: Waiter,
    coalescing: Coalescing,
    /// A message, or its first parts, that arrived in parts: in a call that could not wait for all parts, or that had
    /// too small a buffer.
    gathered: Vec<u8>,
    /// Whether `gathered` is a whole message.
    is_whole: bool,
    /// The buffer of `recv_each`.
    copy: Vec<u8>,
}

impl Drop for ReceivingEnd {
    fn drop(&mut self) {
        self.waiter.close();
    }
}

impl Receiver {
    pub(crate) fn new(lane: Lane, link: Link, options: &Options) -> Receiver {
        let coalescing = Coalescing::new(options.coalesces, lane.capacity());
        let waiter = Waiter::new(options.waiting, options.membarrier, lane.ends_of_receiver(), link);
        let ring = Consumer::new(lane, options.start, options.longest);
        let end = ReceivingEnd {
            ring,
            waiter,
            coalescing,
            gathered: Vec::new(),
            is_whole: false,
            copy: Vec::new(),
        };
        Receiver { end, trust: UntrustedPeer(()) }
    }

    /// Returns the end of a channel whose other process is trusted.
    pub(crate) fn trust(self, promise: Promise) -> Receiver<TrustedPeer> {
        Receiver { end: self.end, trust: TrustedPeer(promise) }
    }
}

impl<T: Trust> Receiver<T> {
    /// Waits for the next message, copies it into `buffer`, and returns its length.
    ///
    /// # Errors
    /// Returns `BufferTooSmall` if `buffer` is too short, and the message stays the next one. Returns `Closed` or
    /// `PeerDied` after all messages were received, and `Corrupt` if the other end broke the protocol.
    #[inline]
    pub fn recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if let Some(len) = self.end.recv_at_once(buffer) {
            return Ok(len);
        }
        self.end.recv_until(buffer, Limit::None)
    }

    /// Like [`recv`](Self::recv), but returns `WouldBlock` if no message is available. One call receives at most as
    /// many parts of a long message as the ring holds.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `recv` does: `Closed` at once, and `PeerDied` at most 100 milliseconds
    /// after the death.
    #[inline]
    pub fn try_recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if let Some(len) = self.end.recv_at_once(buffer) {
            return Ok(len);
        }
        self.end.recv_until(buffer, Limit::Now)
    }

    /// Like [`recv`](Self::recv), but waits at most `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `recv` does.
    pub fn recv_timeout(&mut self, buffer: &mut [u8], timeout: Duration) -> Result<usize> {
        if let Some(len) = self.end.recv_at_once(buffer) {
            return Ok(len);
        }
        self.end.recv_until(buffer, Limit::after(timeout))
    }

    /// Waits for the next message and returns it.
    ///
    /// # Errors
    /// Returns an error as [`recv`](Self::recv) does, but never `BufferTooSmall`.
    pub fn recv_vec(&mut self) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        self.end.recv_vec(&mut message, Limit::None)?;
        Ok(message)
    }

    /// Like [`recv_vec`](Self::recv_vec), but returns `WouldBlock` if no message is available.
    ///
    /// # Errors
    /// Returns `WouldBlock`, or an error as `recv_vec` does.
    pub fn try_recv_vec(&mut self) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        self.end.recv_vec(&mut message, Limit::Now)?;
        Ok(message)
    }

    /// Waits for a message, passes a copy of each available message to `take`, at most `most` of them, and returns
    /// their number. A sender that keeps up does not prolong the call: it receives at most as many bytes as the ring
    /// holds, plus the rest of the last message.
    ///
    /// # Errors
    /// Returns an error as [`recv_vec`](Self::recv_vec) does, if no message was received.
    pub fn recv_each(&mut self, most: usize, take: impl FnMut(&[u8])) -> Result<usize> {
        self.end.recv_each(most, Limit::None, take)
    }

    /// Like [`recv_each`](Self::recv_each), but does not wait.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no message is available, or an error as `recv_each` does.
    pub fn try_recv_each(&mut self, most: usize, take: impl FnMut(&[u8])) -> Result<usize> {
        self.end.recv_each(most, Limit::Now, take)
    }

    /// Returns the number of waits, sleeps and wake-ups of this end.
    pub fn counters(&self) -> Counters {
        self.end.waiter.counters()
    }

    /// Returns the number of messages of which at least the first part is in the ring, but at most `most`. A long
    /// message counts before its last part has arrived, and also if the sender has abandoned it. The call reads a word
    /// of each message, so its duration grows with `most`. A sender that breaks the protocol can make the number wrong.
    pub fn unread(&self, most: usize) -> usize {
        let gathered = usize::from(!self.end.gathered.is_empty()).min(most);
        gathered + self.end.ring.unread(most - gathered)
    }

    /// Returns whether the other end was closed or its process has died. Unread messages may be left. Makes at most one
    /// system call.
    pub fn is_closed(&self) -> bool {
        self.end.waiter.is_alone()
    }

    /// Returns the link that reports the event that [`watch`](Self::watch) waits for.
    pub(crate) fn link(&self) -> &Link {
        self.end.waiter.link()
    }

    /// Prepares a wait with poll or epoll for a message. Call it again before each wait.
    ///
    /// Returns true if the file descriptor of `descriptor` becomes readable once a message is available, or once the
    /// other end is closed or dead. Returns false if a message may be available already. On Windows, wait for the
    /// handle of `handle`, whose documentation lists the events that it does not report.
    ///
    /// # Errors
    /// Returns `Closed` or `PeerDied` after all messages were received, `Corrupt` if the other end broke the protocol,
    /// and `System` if this end busy-waits ([`WaitStrategy::Spin`](crate::WaitStrategy::Spin)).
    pub fn watch(&mut self) -> Result<bool> {
        let ReceivingEnd { ring, waiter, is_whole, .. } = &mut self.end;
        Ok(!*is_whole && waiter.watch(|| Ok(ring.look()?.is_some()))?)
    }
}

impl Receiver<TrustedPeer> {
    /// Waits for the next message and returns it in place, without a copy. A message that arrived in parts is copied
    /// into one piece.
    ///
    /// # Errors
    /// Returns an error as [`recv_vec`](Receiver::recv_vec) does.
    #[inline]
    pub fn peek(&mut self) -> Result<Message<'_>> {
        self.peek_until(Limit::None)
    }

    /// Like [`peek`](Self::peek), but does not wait.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no message is available, or an error as `peek` does.
    #[inline]
    pub fn try_peek(&mut self) -> Result<Message<'_>> {
        self.peek_until(Limit::Now)
    }

    /// Like [`peek`](Self::peek), but waits at most `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `peek` does.
    pub fn peek_timeout(&mut self, timeout: Duration) -> Result<Message<'_>> {
        self.peek_until(Limit::after(timeout))
    }

    #[inline(always)]
    fn peek_until(&mut self, limit: Limit) -> Result<Message<'_>> {
        let record = self.end.peek(limit)?;
        Ok(Message { end: &mut self.end, record, promise: self.trust.0 })
    }
}

/// A message in place. If it is dropped without `release`, it stays the next message.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{Channel, Options};
/// # let options = Options::new();
/// # let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// # // SAFETY: both ends are this library's.
/// # let (mut first, mut second) = unsafe { (first?.trust(), second?.trust()) };
/// first.send(b"in place")?;
/// let message = second.peek()?;
/// assert!(message.starts_with(b"in"));
/// message.release();
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
pub struct Message<'a> {
    end: &'a mut ReceivingEnd,
    /// Its record; `None` if the message was copied into one piece.
    record: Option<Record>,
    promise: Promise,
}

impl Message<'_> {
    /// Removes the message. Its room is freed for the sender now or later, as [`Sender::fill`](crate::Sender::fill)
    /// describes.
    #[inline]
    pub fn release(self) {
        match self.record {
            Some(record) => self.end.pass(&record),
            None => self.end.forget_gathered(),
        }
    }
}

impl Deref for Message<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.record {
            Some(record) => self.end.ring.in_place(self.promise, record),
            None => &self.end.gathered,
        }
    }
}

/// The limit of one call for unfinished messages, because a sender could send parts without end.
struct Budget {
    limit: Limit,
    /// Position at which the call began.
    position: u64,
}

impl Budget {
    fn of(limit: Limit, ring: &Consumer) -> Budget {
        Budget { limit, position: ring.position() }
    }

    /// Returns an error if the call must end although more parts may follow. It then has received as many bytes as the
    /// ring could hold when it began, and its time is over.
    fn check(&self, ring: &Consumer) -> Result<()> {
        if ring.position().wrapping_sub(self.position) < ring.capacity() as u64 {
            return Ok(());
        }
        self.limit.check()
    }
}

impl ReceivingEnd {
    /// Returns the next record.
    #[inline(always)]
    fn look(&mut self, limit: Limit) -> Result<Record> {
        if !self.ring.has_header() {
            let ReceivingEnd { ring, waiter, coalescing, .. } = self;
            let pause = || coalescing.pause(|| ring.has_records(coalescing::ENOUGH));
            waiter.wait(limit, pause, || Ok(ring.awaits_header()))?;
        }
        self.ring.take()
    }

    /// Moves past a record, and reports freed room to the sender once per eighth of the ring.
    #[inline(always)]
    fn pass(&mut self, record: &Record) {
        self.ring.pass(record);
        if self.ring.release_much() {
            self.report_room();
        }
    }

    /// Wakes a sender that waits for the released room. A dead sender has left no more than the ring holds.
    #[inline(never)]
    fn report_room(&mut self) {
        self.waiter.is_busy();
        self.waiter.wake_sleeper();
        if self.waiter.finds_death() {
            self.ring.expect_end();
        }
    }

    /// Receives a message that has the length of the last one, if it is available. Returns `None` if `recv_until` must
    /// find out more. The compiler inlines only this function into the caller, so a stream of messages saves no
    /// registers for the loop that waits.
    #[inline(always)]
    fn recv_at_once(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if !self.gathered.is_empty() {
            return None;
        }
        let record = self.ring.usual_record().filter(|record| record.len <= buffer.len())?;
        self.ring.copy_out(&record, buffer);
        self.pass(&record);
        Some(record.len)
    }

    #[inline(never)]
    fn recv_until(&mut self, buffer: &mut [u8], limit: Limit) -> Result<usize> {
        if self.gathered.is_empty() {
            let record = self.look(limit)?;
            if record.kind == Kind::Whole && record.len <= buffer.len() {
                self.ring.copy_out(&record, buffer);
                self.pass(&record);
                return Ok(record.len);
            }
        }
        self.recv_otherwise(buffer, limit)
    }

    /// Receives a message that arrives in parts, or rejects a message that is too long.
    #[inline(never)]
    fn recv_otherwise(&mut self, buffer: &mut [u8], limit: Limit) -> Result<usize> {
        let budget = Budget::of(limit, &self.ring);
        loop {
            if !self.gathered.is_empty() {
                self.gather(&budget)?;
                if self.is_whole {
                    return self.copy_gathered(buffer);
                }
            } else {
                let record = self.look(limit)?;
                if record.message > buffer.len() {
                    return Err(Error::BufferTooSmall { len: record.message });
                }
                if record.kind == Kind::Whole {
                    self.ring.copy_out(&record, buffer);
                    self.pass(&record);
                    return Ok(record.len);
                }
                if self.recv_parts(&mut buffer[..record.message], &budget)? {
                    return Ok(record.message);
                }
            }
            budget.check(&self.ring)?;
        }
    }

    /// Copies the parts of a message directly into the buffer. Returns false if the sender has abandoned it. If the
    /// parts do not arrive in time, stores those that arrived.
    fn recv_parts(&mut self, message: &mut [u8], budget: &Budget) -> Result<bool> {
        let mut len = 0;
        while len < message.len() {
            let in_budget = if len > 0 { budget.check(&self.ring) } else { Ok(()) };
            let record = match in_budget.and_then(|()| self.look(budget.limit)) {
                Ok(record) => record,
                Err(error) => {
                    self.gathered.extend_from_slice(&message[..len]);
                    return Err(error);
                }
            };
            if record.kind != Kind::Abort {
                self.ring.copy_out(&record, &mut message[len..]);
                len += record.len;
            }
            self.pass(&record);
            if record.kind == Kind::Abort {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the parts of a message to the parts that arrived before. If the sender has abandoned the message, drops
    /// its parts.
    fn gather(&mut self, budget: &Budget) -> Result<()> {
        let begin = self.ring.position();
        while !self.is_whole {
            if self.ring.position() != begin {
                budget.check(&self.ring)?;
            }
            let record = self.look(budget.limit)?;
            if record.kind == Kind::Abort {
                self.pass(&record);
                self.gathered.clear();
                return Ok(());
            }
            let len = self.gathered.len();
            self.gathered.resize(len + record.len, 0);
            self.ring.copy_out(&record, &mut self.gathered[len..]);
            self.pass(&record);
            self.is_whole = !self.ring.is_within_message();
        }
        Ok(())
    }

    fn copy_gathered(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let len = self.gathered.len();
        let Some(room) = buffer.get_mut(..len) else {
            return Err(Error::BufferTooSmall { len });
        };
        room.copy_from_slice(&self.gathered);
        self.forget_gathered();
        Ok(len)
    }

    fn forget_gathered(&mut self) {
        self.gathered.clear();
        self.is_whole = false;
    }

    /// Waits for a message, and replaces the contents of `message` with a copy of it.
    fn recv_vec(&mut self, message: &mut Vec<u8>, limit: Limit) -> Result<()> {
        let budget = Budget::of(limit, &self.ring);
        loop {
            if self.gathered.is_empty() {
                let record = self.look(limit)?;
                if record.kind == Kind::Whole {
                    message.resize(record.len, 0);
                    self.ring.copy_out(&record, message);
                    self.pass(&record);
                    return Ok(());
                }
            }
            self.gather(&budget)?;
            if self.is_whole {
                std::mem::swap(message, &mut self.gathered);
                self.forget_gathered();
                return Ok(());
            }
            budget.check(&self.ring)?;
        }
    }

    fn recv_each(&mut self, most: usize, limit: Limit, mut take: impl FnMut(&[u8])) -> Result<usize> {
        let (mut count, mut message) = (0, std::mem::take(&mut self.copy));
        // Without this limit, a sender that never pauses would keep the call busy.
        let budget = Budget::of(Limit::Now, &self.ring);
        let result = loop {
            if count == most || budget.check(&self.ring).is_err() {
                break Ok(count);
            }
            match self.recv_vec(&mut message, if count == 0 { limit } else { Limit::Now }) {
                Ok(()) => take(&message),
                Err(_) if count > 0 => break Ok(count),
                Err(error) => break Err(error),
            }
            count += 1;
        };
        self.copy = message;
        result
    }

    /// Waits for a message for zero-copy access, and returns its record; `None` if the message was copied into one
    /// piece.
    #[inline(always)]
    fn peek(&mut self, limit: Limit) -> Result<Option<Record>> {
        if self.gathered.is_empty() {
            let record = self.look(limit)?;
            if record.kind == Kind::Whole {
                return Ok(Some(record));
            }
        }
        self.peek_otherwise(limit)
    }

    #[inline(never)]
    fn peek_otherwise(&mut self, limit: Limit) -> Result<Option<Record>> {
        let budget = Budget::of(limit, &self.ring);
        loop {
            self.gather(&budget)?;
            if self.is_whole {
                return Ok(None);
            }
            budget.check(&self.ring)?;
            let record = self.look(limit)?;
            if record.kind == Kind::Whole {
                return Ok(Some(record));
            }
        }
    }
}

impl<T: Trust> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("ring", &self.end.ring).finish_non_exhaustive()
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("record", &self.record).finish_non_exhaustive()
    }
}

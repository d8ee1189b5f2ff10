//! The sending end of a direction.

pub(crate) mod long;

use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::memory::{Lane, Promise};
use crate::options::Options;
use crate::ring::{Kind, Place, Producer};
use crate::trust::{Trust, TrustedPeer, UntrustedPeer};
use crate::waiting::{Limit, Waiter};
use crate::wake::{self, Link};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// The sending end of a direction. When it is dropped, the other end still receives all sent messages, and then
/// [`Closed`](Error::Closed).
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{Channel, Options};
/// # let options = Options::new();
/// # let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// # let (first, mut second) = (first?, second?);
/// let (mut sender, _receiver) = first.split();
/// sender.send(b"one")?;
/// sender.send_all(["two", "three"])?;
/// assert_eq!(second.recv_vec()?, b"one");
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
pub struct Sender<T: Trust = UntrustedPeer> {
    end: SendingEnd,
    trust: T,
}

/// A sending end without its type parameter.
struct SendingEnd {
    ring: Producer,
    waiter: Waiter,
    longest: usize,
    /// Bytes in the longest message that is sent without a function call if there is room.
    longest_short: usize,
    /// Times at which the last long message was begun and sent.
    last_long: Option<[Instant; 2]>,
}

/// Messages that become visible together, at the latest when the batch is dropped, even if the caller's iterator
/// panics.
struct Batch<'a>(&'a mut SendingEnd);

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.0.publish();
    }
}

impl Drop for SendingEnd {
    fn drop(&mut self) {
        self.waiter.close();
    }
}

impl Sender {
    pub(crate) fn new(lane: Lane, link: Link, options: &Options) -> Sender {
        let waiter = Waiter::new(options.waiting, options.membarrier, lane.ends_of_sender(), link);
        let ring = Producer::new(lane, options.start);
        let longest = options.longest;
        let longest_short = longest.min(ring.undivided());
        Sender {
            end: SendingEnd { ring, waiter, longest, longest_short, last_long: None },
            trust: UntrustedPeer(()),
        }
    }

    /// Returns the end of a channel whose other process is trusted.
    pub(crate) fn trust(self, promise: Promise) -> Sender<TrustedPeer> {
        Sender { end: self.end, trust: TrustedPeer(promise) }
    }
}

impl<T: Trust> Sender<T> {
    /// Waits until there is room, and sends a message.
    ///
    /// # Errors
    /// Returns `TooLong` if the message exceeds [`Options::longest_message`], `Closed` if the other end was closed, and
    /// `PeerDied` or `Corrupt` if there is no room. After the other process has died, messages are lost until this end
    /// detects the death.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        if self.end.sends_at_once(message) {
            return Ok(());
        }
        self.end.send_until(message, Limit::None)
    }

    /// Sends a message if there is room for it.
    ///
    /// # Errors
    /// Returns `WouldBlock` if there is no room, `TooLong` also if the message would not fit in an empty ring, and other
    /// errors as [`send`](Self::send) does.
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<()> {
        if self.end.sends_at_once(message) {
            return Ok(());
        }
        self.end.send_until(message, Limit::Now)
    }

    /// Like [`send`](Self::send), but waits at most `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, and then nothing of the message arrives, or an error as `send` does.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<()> {
        if self.end.sends_at_once(message) {
            return Ok(());
        }
        self.end.send_until(message, Limit::after(timeout))
    }

    /// Sends messages in order. Messages that fit into the ring without a wait become visible together. While the
    /// iterator waits for something, the receiver does not see the previous messages. If the iterator panics, they are
    /// sent.
    ///
    /// # Errors
    /// Returns an error as [`send`](Self::send) does. The messages before the failed one were sent.
    pub fn send_all<M: AsRef<[u8]>>(&mut self, messages: impl IntoIterator<Item = M>) -> Result<()> {
        self.send_all_until(messages, Limit::None)
    }

    /// Like [`send_all`](Self::send_all), but waits at most `timeout` in total.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `send_all` does. The messages before the failed one were sent.
    pub fn send_all_timeout<M: AsRef<[u8]>>(
        &mut self,
        messages: impl IntoIterator<Item = M>,
        timeout: Duration,
    ) -> Result<()> {
        self.send_all_until(messages, Limit::after(timeout))
    }

    fn send_all_until<M: AsRef<[u8]>>(
        &mut self,
        messages: impl IntoIterator<Item = M>,
        limit: Limit,
    ) -> Result<()> {
        let batch = Batch(&mut self.end);
        messages.into_iter().try_for_each(|message| batch.0.stage_or_send(message.as_ref(), limit))
    }

    /// Sends as many of the messages as there is room for, in order, makes them visible together, and returns their
    /// number.
    ///
    /// # Errors
    /// Returns `TooLong` if a message does not fit into one record, or an error as [`send`](Self::send) does. The
    /// messages before it were sent.
    pub fn try_send_all<M: AsRef<[u8]>>(&mut self, messages: impl IntoIterator<Item = M>) -> Result<usize> {
        let mut sent = 0;
        let batch = Batch(&mut self.end);
        let result = messages.into_iter().try_for_each(|message| {
            let message = message.as_ref();
            if batch.0.stage_short(message)? {
                sent += 1;
                return Ok(());
            }
            if sent == 0 {
                // Reports that the other end was closed or that its process has died.
                batch.0.wait_for_place(message.len(), Limit::Now)?;
            }
            Err(Error::WouldBlock)
        });
        match result {
            Ok(()) | Err(Error::WouldBlock) => Ok(sent),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of waits, sleeps and wake-ups of this end.
    pub fn counters(&self) -> Counters {
        self.end.waiter.counters()
    }

    /// Returns the bytes of the ring, headers included, that were sent and that the receiver has not freed. A receiver
    /// frees room only after it has received an eighth of the ring, so the result can be above 0 after all messages
    /// were received. Near [`capacity`](Self::capacity), there is no room for another message.
    pub fn fill(&self) -> usize {
        self.end.ring.unread_bytes()
    }

    /// Returns the capacity of the ring in bytes.
    pub fn capacity(&self) -> usize {
        self.end.ring.capacity()
    }

    /// Returns whether the other end was closed or its process has died. Makes at most one system call.
    pub fn is_closed(&self) -> bool {
        self.end.waiter.is_alone()
    }

    /// Returns the link that reports the event that [`watch`](Self::watch) waits for.
    pub(crate) fn link(&self) -> &Link {
        self.end.waiter.link()
    }

    /// Prepares a wait with poll or epoll for room for a message of `len` bytes. Call it again before each wait.
    ///
    /// Returns true if the file descriptor of `descriptor` becomes readable once there may be room, or once the other
    /// end is closed or dead. Returns false if there may be room already. On Windows, wait for the handle of `handle`,
    /// whose documentation lists the events that it does not report.
    ///
    /// # Errors
    /// Returns `TooLong` if the message would not fit in an empty ring, `Closed`, `PeerDied` or `Corrupt` as
    /// [`send`](Self::send) does, and `System` if this end busy-waits ([`WaitStrategy::Spin`](crate::WaitStrategy::Spin)).
    pub fn watch(&mut self, len: usize) -> Result<bool> {
        let SendingEnd { ring, waiter, .. } = &mut self.end;
        if len <= ring.longest_record() {
            return waiter.watch(|| Ok(ring.place(len)?.is_some()));
        }
        check_length(len, ring.longest_at_once())?;
        let part = ring.longest_record();
        waiter.watch(|| ring.has_room_for_parts(len, part))
    }
}

impl Sender<TrustedPeer> {
    /// Waits for room for a message of `len` bytes, and returns the room for zero-copy access. Its initial contents are
    /// unspecified.
    ///
    /// # Errors
    /// Returns `TooLong` if `len` exceeds [`longest_loan`](Self::longest_loan), or an error as [`send`](Self::send)
    /// does.
    #[inline]
    pub fn loan(&mut self, len: usize) -> Result<Loan<'_>> {
        self.loan_until(len, Limit::None)
    }

    /// Like [`loan`](Self::loan), but does not wait.
    ///
    /// # Errors
    /// Returns `WouldBlock` if there is no room, or an error as `loan` does.
    #[inline]
    pub fn try_loan(&mut self, len: usize) -> Result<Loan<'_>> {
        self.loan_until(len, Limit::Now)
    }

    /// Like [`loan`](Self::loan), but waits at most `timeout`.
    ///
    /// # Errors
    /// Returns `TimedOut`, or an error as `loan` does.
    pub fn loan_timeout(&mut self, len: usize, timeout: Duration) -> Result<Loan<'_>> {
        self.loan_until(len, Limit::after(timeout))
    }

    #[inline(always)]
    fn loan_until(&mut self, len: usize, limit: Limit) -> Result<Loan<'_>> {
        check_length(len, self.longest_loan())?;
        self.end.check_open()?;
        self.end.give_up_begun();
        let place = self.end.place(len, limit)?;
        Ok(Loan { end: &mut self.end, place, promise: self.trust.0 })
    }

    /// Returns the bytes in the longest message that can be loaned: a quarter of the ring or 16 MiB, whichever is less,
    /// less 8 bytes, but at most [`Options::longest_message`].
    pub fn longest_loan(&self) -> usize {
        self.end.ring.longest_record().min(self.end.longest)
    }
}

/// Room in the ring for one message. If it is dropped without `commit`, nothing is sent.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{Channel, Options};
/// let options = Options::new();
/// let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// // SAFETY: both ends are this library's.
/// let (mut first, mut second) = unsafe { (first?.trust(), second?.trust()) };
/// let mut loan = first.loan(1000)?;
/// loan[..5].copy_from_slice(b"hello");
/// loan.commit_len(5);
/// assert_eq!(&second.peek()?[..], b"hello");
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
pub struct Loan<'a> {
    end: &'a mut SendingEnd,
    place: Place,
    promise: Promise,
}

impl Loan<'_> {
    /// Sends the message.
    #[inline]
    pub fn commit(self) {
        self.end.ring.stage_whole(self.place);
        self.end.publish();
    }

    /// Sends the first `len` bytes, for a message that is shorter than the room.
    ///
    /// # Panics
    /// Panics if the loan has fewer bytes.
    #[inline]
    pub fn commit_len(mut self, len: usize) {
        self.place = self.place.shortened(len);
        self.commit();
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.end.ring.in_place(self.promise, self.place)
    }
}

impl DerefMut for Loan<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.end.ring.in_place_mut(self.promise, self.place)
    }
}

/// Returns `TooLong` for a message with more than `most` bytes.
#[inline]
pub(crate) fn check_length(len: usize, most: usize) -> Result<()> {
    if len > most { Err(Error::TooLong { len, most }) } else { Ok(()) }
}

/// Returns whether a long message that begins at `now` belongs to a stream: the sender did not wait for an answer to
/// the last one. `last` has the times at which the last one was begun and sent.
fn is_stream(last: Option<[Instant; 2]>, now: Instant) -> bool {
    last.is_some_and(|[begin, end]| 4 * now.saturating_duration_since(end) < end - begin)
}

impl SendingEnd {
    /// Makes the staged messages visible, and wakes the receiver if it sleeps.
    #[inline(always)]
    fn publish(&mut self) {
        self.ring.publish();
        self.waiter.wake();
    }

    /// Returns an error if the other end was closed, even if there is room.
    #[inline(always)]
    fn check_open(&self) -> Result<()> {
        if self.waiter.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Returns a place for a record.
    #[inline(always)]
    fn place(&mut self, len: usize, limit: Limit) -> Result<Place> {
        if let Some(place) = self.ring.place(len)? {
            return Ok(place);
        }
        self.wait_for_place(len, limit)
    }

    #[inline(never)]
    fn wait_for_place(&mut self, len: usize, limit: Limit) -> Result<Place> {
        self.waiter.wait(limit, || {}, || Ok(self.ring.place(len)?.is_some()))?;
        // Room that was found remains available.
        self.ring.place(len)?.ok_or(Error::WouldBlock)
    }

    /// Sends a short message if the channel is open and certainly has room. Returns false if `send_until` must find out
    /// more. The compiler inlines only this function into the caller, so a stream of small messages saves no registers
    /// for the slow path.
    #[inline(always)]
    fn sends_at_once(&mut self, message: &[u8]) -> bool {
        let is_sent = message.len() <= self.longest_short
            && !self.waiter.is_closed()
            && self.ring.send_at_once(message);
        if is_sent {
            self.waiter.wake();
        }
        is_sent
    }

    /// Sends a message of any length.
    #[inline(never)]
    fn send_until(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        if message.len() > self.ring.undivided() {
            return self.send_long(message, limit);
        }
        self.send_short(message, limit)
    }

    #[inline(always)]
    fn send_short(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        check_length(message.len(), self.longest)?;
        self.check_open()?;
        if self.ring.send_at_once(message) {
            self.waiter.wake();
            return Ok(());
        }
        self.send_in_time(message, limit)
    }

    #[inline(never)]
    fn send_in_time(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        self.give_up_begun();
        let place = self.place(message.len(), limit)?;
        self.ring.fill(place, message);
        self.ring.stage_whole(place);
        self.publish();
        Ok(())
    }

    /// Stages a message that fits into one record. Returns whether there was room.
    #[inline(always)]
    fn stage_short(&mut self, message: &[u8]) -> Result<bool> {
        check_length(message.len(), self.longest.min(self.ring.longest_record()))?;
        self.check_open()?;
        self.give_up_begun();
        let Some(place) = self.ring.place(message.len())? else {
            return Ok(false);
        };
        self.ring.fill(place, message);
        self.ring.stage_whole(place);
        Ok(true)
    }

    /// Stages a message. If there is no room for it or it is sent in parts, publishes the staged messages and sends it.
    fn stage_or_send(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        if message.len() > self.ring.undivided() {
            self.publish();
            return self.send_long(message, limit);
        }
        if self.stage_short(message)? {
            return Ok(());
        }
        self.publish();
        self.send_short(message, limit)
    }

    /// Abandons a message that a non-blocking call has sent in part, if there is one, because another message must not
    /// follow its parts.
    #[inline(always)]
    fn give_up_begun(&mut self) {
        if self.ring.begun() != 0 {
            self.abort();
        }
    }

    #[cold]
    fn abort(&mut self) {
        self.ring.abort();
        self.waiter.wake();
    }

    /// Sends a message that may need several parts.
    #[inline(never)]
    fn send_long(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        check_length(message.len(), self.longest)?;
        self.check_open()?;
        self.give_up_begun();
        let begin = wake::now();
        let mut part_bytes = self.ring.part_bytes(is_stream(self.last_long, begin))?;
        if matches!(limit, Limit::Now) {
            part_bytes = self.ring.longest_record();
            self.check_room_at_once(message.len(), part_bytes)?;
        }
        if message.len() <= part_bytes {
            self.send_short(message, limit)?;
            self.last_long = Some([begin, wake::now()]);
            return Ok(());
        }
        let mut rest = message;
        while !rest.is_empty() {
            let is_first = rest.len() == message.len();
            let (part, behind) = rest.split_at(part_bytes.min(rest.len()));
            let place = match self.place(part.len(), limit) {
                Ok(place) => place,
                Err(error) => {
                    // A peer that is closed, dead or corrupt does not need to be notified.
                    if !is_first && matches!(error, Error::TimedOut) {
                        self.abort();
                    }
                    return Err(error);
                }
            };
            self.ring.fill(place, part);
            self.ring.stage(place, if is_first { Kind::First } else { Kind::Rest }, rest.len());
            self.publish();
            rest = behind;
        }
        self.last_long = Some([begin, wake::now()]);
        Ok(())
    }

    fn check_room_at_once(&mut self, len: usize, part_bytes: usize) -> Result<()> {
        if len <= part_bytes {
            return Ok(());
        }
        check_length(len, self.ring.longest_at_once())?;
        self.waiter.wait(Limit::Now, || {}, || self.ring.has_room_for_parts(len, part_bytes))
    }
}

impl<T: Trust> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("ring", &self.end.ring).finish_non_exhaustive()
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_sent_without_waiting_for_answers() {
        let (begin, us) = (Instant::now(), Duration::from_micros);
        let last = Some([begin, begin + us(100)]);
        let at = |time| is_stream(last, begin + us(time));
        assert!(at(100) && at(124) && !at(125) && !at(300));
        assert!(!is_stream(None, begin));
    }
}

//! A ring with several receivers, whose sender never waits: it overwrites the oldest messages.
//!
//! A record has a header, the number of its message, and the message. The sender publishes the position of the oldest
//! valid record before it overwrites older records. A receiver copies a record, and then reads that position. If the
//! record is older, the copy may be torn. The receiver then drops it and continues with the oldest valid record. From
//! the numbers, a receiver computes how many messages it has missed. All words are atomic, because receiver and sender
//! access the same words at the same time.

use crate::atomics::{Fault, Ordering, fence, has};
use crate::error::{Error, Result};
use crate::memory::Lane;
use crate::options::Options;
use crate::shared_ring::{Policy, ReceiverRing, SharedRing};
use crate::waiting::{Limit, Waiter};
use crate::wake::Link;

const WORD_BYTES: usize = 8;

/// Bytes of the header and the number of a message.
const HEAD_BYTES: usize = 2 * WORD_BYTES;

/// The header of a record that extends to the end of the ring and has no message. Other headers have the message's
/// length and this bit.
const IS_RECORD: u64 = 1 << 63;
const SKIP: u64 = IS_RECORD | 1 << 62;

/// Fraction of the ring that the sender frees at once, so that a receiver has time to copy the oldest record.
const FREED: usize = 8;

/// Number of messages after which the sender checks whether receivers are closed.
const BETWEEN_LOOKS: u64 = 1024;

/// Number of records without a message that one call skips before it checks its timeout.
const MOST_PASSED: u32 = 8;

/// Bytes of a record, including its header and number.
fn record_bytes(len: usize) -> usize {
    HEAD_BYTES + len.next_multiple_of(WORD_BYTES)
}

/// Bytes in the longest message of a ring.
fn longest(capacity: usize) -> usize {
    capacity / 4 - HEAD_BYTES
}

/// The policy that overwrites the oldest messages.
#[derive(Debug)]
struct Overwrite {
    /// Positions of the next record and of the oldest valid record.
    written: u64,
    oldest: u64,
    /// The number of the next message.
    number: u64,
}

/// Creates the sending end of a lane whose control words no receiver can write.
pub(crate) fn sending_ring(lane: Lane, options: &Options) -> SharedRing {
    let start = options.start;
    lane.publish_read(start);
    SharedRing::new(lane, options, Overwrite { written: start, oldest: start, number: 0 })
}

impl Overwrite {
    /// Frees room for `bytes` bytes, and publishes this to the receivers before the sender writes there.
    fn free(&mut self, lane: &Lane, bytes: usize) {
        let capacity = lane.capacity();
        let is_room =
            |oldest: u64, bytes: usize| self.written.wrapping_sub(oldest) as usize + bytes <= capacity;
        if is_room(self.oldest, bytes) {
            return;
        }
        let mut oldest = self.oldest;
        while !is_room(oldest, bytes.max(capacity / FREED)) {
            // Only this sender writes to the ring.
            let offset = offset(lane, oldest);
            let header = lane.word(offset).load(Ordering::Relaxed);
            let bytes = match header {
                SKIP => capacity - offset,
                header => record_bytes((header & !IS_RECORD) as usize),
            };
            oldest = oldest.wrapping_add(bytes as u64);
        }
        self.oldest = oldest;
        lane.publish_read(oldest);
        if !has(Fault::PublishOldest) {
            fence(Ordering::Release);
        }
    }

    fn write(&mut self, lane: &Lane, message: &[u8]) {
        let (begin, bytes, capacity) =
            (offset(lane, self.written), record_bytes(message.len()), lane.capacity());
        let skip = if bytes > capacity - begin { capacity - begin } else { 0 };
        // The header after the record is cleared as well.
        self.free(lane, skip + bytes + WORD_BYTES);
        let at = if skip > 0 { 0 } else { begin };
        let end = self.written.wrapping_add((skip + bytes) as u64);
        lane.word(at + WORD_BYTES).store(self.number, Ordering::Relaxed);
        for (number, chunk) in message.chunks(WORD_BYTES).enumerate() {
            let mut word = [0; WORD_BYTES];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_ne_bytes(word);
            lane.word(at + HEAD_BYTES + number * WORD_BYTES).store(word, Ordering::Relaxed);
        }
        lane.prepare_header(offset(lane, end), 0);
        if skip > 0 {
            lane.prepare_header(at, IS_RECORD | message.len() as u64);
            lane.publish_header(begin, SKIP);
        } else {
            lane.publish_header(at, IS_RECORD | message.len() as u64);
        }
        self.written = end;
        self.number += 1;
    }
}

impl Policy for Overwrite {
    fn position(&self) -> u64 {
        self.written
    }

    fn prepare(&self, lane: &Lane) {
        // In this word a receiver of the other policy notes its position.
        lane.publish_read(self.number);
    }

    fn longest(&self, capacity: usize) -> usize {
        longest(capacity)
    }

    fn publish(&mut self, shared: &mut ReceiverRing, message: &[u8], _limit: Limit) -> Result<()> {
        self.write(&shared.lane, message);
        if self.number % BETWEEN_LOOKS == 0 {
            shared.receivers();
        }
        Ok(())
    }
}

/// A message that an [`OverwritingReceiver`](crate::OverwritingReceiver) has copied into the buffer.
///
/// ```
/// # use furlong_channel::{Broadcast, Options, OverwritingReceiver};
/// # let options = Options::new();
/// let mut broadcast = Broadcast::overwriting(&options)?;
/// let mut receiver = OverwritingReceiver::from_subscription(broadcast.subscribe()?, &options)?;
/// broadcast.send(b"frame")?;
/// let taken = receiver.recv(&mut [0; 100])?;
/// assert_eq!((taken.len, taken.missed), (5, 0));
/// # Ok::<(), furlong_channel::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenMessage {
    /// Bytes of the message.
    pub len: usize,
    /// Number of messages that the sender has overwritten since the previously received one.
    pub missed: u64,
}

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The ring with the sender's words.
    lane: Lane,
    waiter: Waiter,
    position: u64,
    /// The number of the next message.
    number: u64,
    longest: usize,
    is_broken: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.waiter.close();
    }
}

/// The state of the ring at the position of the next record.
enum RecordState {
    Nothing,
    /// A record that was overwritten, or has no message. The position has moved.
    Passed,
    Message(TakenMessage),
}

impl Reader {
    /// Returns the receiver's end of a lane. The lane has the control words of the sender, and `own` those of this receiver.
    pub(crate) fn new(lane: Lane, own: &Lane, link: Link, options: &Options) -> Reader {
        let number = own.load_read();
        let waiter = Waiter::new(options.waiting, options.membarrier, own.ends_of_receiver(), link);
        let longest = longest(lane.capacity()).min(options.longest);
        Reader { lane, waiter, position: options.start, number, longest, is_broken: false }
    }

    pub(crate) fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    /// Returns whether the sender may have overwritten the next record. If so, moves to the oldest valid record.
    ///
    /// # Errors
    /// Returns `Corrupt` if the position is more than the ring holds after the oldest valid record. Otherwise the
    /// headers of a sender that clears none would be messages forever.
    fn is_overrun(&mut self) -> Result<bool> {
        if !has(Fault::LoadOldest) {
            fence(Ordering::Acquire);
        }
        let oldest = oldest(&self.lane);
        let ahead = oldest.wrapping_sub(self.position) as i64;
        if ahead > 0 {
            self.position = oldest;
        } else if ahead < -(self.lane.capacity() as i64) {
            return Err(self.fail());
        }
        Ok(ahead > 0)
    }

    fn fail(&mut self) -> Error {
        self.is_broken = true;
        Error::Corrupt("a header has an impossible value")
    }

    /// Reads the next record, and copies as much of its message as fits into the buffer.
    fn look(&mut self, buffer: &mut [u8]) -> Result<RecordState> {
        if self.is_broken {
            return Err(self.fail());
        }
        let (offset, capacity) = (offset(&self.lane, self.position), self.lane.capacity());
        let header = self.lane.load_header(offset);
        if header == SKIP && offset > 0 {
            if !self.is_overrun()? {
                self.position = self.position.wrapping_add((capacity - offset) as u64);
            }
            return Ok(RecordState::Passed);
        }
        let len = (header & !IS_RECORD) as usize;
        if header & IS_RECORD == 0 || len > self.longest || record_bytes(len) > capacity - offset {
            return match self.is_overrun()? {
                true => Ok(RecordState::Passed),
                false if header == 0 => Ok(RecordState::Nothing),
                false => Err(self.fail()),
            };
        }
        let number = self.lane.word(offset + WORD_BYTES).load(Ordering::Relaxed);
        let most = len.min(buffer.len());
        for (at, chunk) in buffer[..most].chunks_mut(WORD_BYTES).enumerate() {
            let word = self.lane.word(offset + HEAD_BYTES + at * WORD_BYTES).load(Ordering::Relaxed);
            chunk.copy_from_slice(&word.to_ne_bytes()[..chunk.len()]);
        }
        if self.is_overrun()? {
            return Ok(RecordState::Passed);
        }
        if len > buffer.len() {
            return Err(Error::BufferTooSmall { len });
        }
        self.position = self.position.wrapping_add(record_bytes(len) as u64);
        let missed = number.wrapping_sub(self.number);
        self.number = number.wrapping_add(1);
        Ok(RecordState::Message(TakenMessage { len, missed }))
    }

    /// Waits for the next valid message, and copies it into `buffer`.
    pub(crate) fn recv(&mut self, buffer: &mut [u8], limit: Limit) -> Result<TakenMessage> {
        let (mut passed, mut is_ready) = (0, false);
        loop {
            match self.look(buffer)? {
                RecordState::Message(taken) => return Ok(taken),
                // The header that ended the wait went away, and no newer message was written over it.
                RecordState::Nothing if is_ready => return Err(self.fail()),
                RecordState::Nothing => {
                    let Reader { waiter, lane, position, .. } = self;
                    waiter.wait(limit, || {}, || Ok(has_next(lane, *position)))?;
                    is_ready = true;
                }
                RecordState::Passed => {
                    is_ready = false;
                    if passed < MOST_PASSED {
                        passed += 1;
                    } else {
                        limit.check()?;
                    }
                }
            }
        }
    }

    /// Prepares a wait for the next message with poll or epoll.
    pub(crate) fn watch(&mut self) -> Result<bool> {
        if self.is_broken {
            return Err(self.fail());
        }
        let Reader { waiter, lane, position, .. } = self;
        waiter.watch(|| Ok(has_next(lane, *position)))
    }
}

/// Returns the offset of a position in the ring.
fn offset(lane: &Lane, position: u64) -> usize {
    position as usize & (lane.capacity() - 1)
}

/// Returns the position of the oldest valid record.
fn oldest(lane: &Lane) -> u64 {
    lane.load_read() & !(WORD_BYTES as u64 - 1)
}

/// Returns whether a record is available or was overwritten.
fn has_next(lane: &Lane, position: u64) -> bool {
    lane.load_header(offset(lane, position)) != 0 || oldest(lane).wrapping_sub(position) as i64 > 0
}

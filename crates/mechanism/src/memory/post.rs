//! One slot each way, in one cache line.
//!
//! Both directions share the line. In a round trip only one side writes at a time, and the line it writes is
//! the one it has just read, which halves the cache misses compared with a line for each direction.
//!
//! Each side owns half of the line: a double word with the number of messages published so far and the length
//! of the latest, a word with the number of messages taken from the other side, and [`INLINE_BYTES`] of payload.
//! What was taken is made known with the next message or before the next wait, whichever comes first: in a
//! round trip the acknowledgement rides with the answer and costs nothing.

use super::HEAD_BYTES;
use super::doorbell::Doorbell;
use furlong_model::Role;
use furlong_os::cpu;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Payload that travels in the line itself.
pub(crate) const INLINE_BYTES: usize = 16;

/// Bytes of a region that holds nothing but a post and its doorbell.
pub(crate) const POST_BYTES: usize = HEAD_BYTES;

/// Offsets inside a side's half.
const TAKEN: usize = 8;
const INLINE: usize = 16;

/// One role's view of the line.
#[derive(Debug)]
pub struct Post<D> {
    region: Arc<Region>,
    doorbell: D,
    own: usize,
    other: usize,
    published: u32,
    taken: u32,
    acknowledged: u32,
}

impl<D: Doorbell> Post<D> {
    /// The view of `role` at the beginning of `region`, which is zeroed.
    pub(crate) fn new(region: Arc<Region>, role: Role, doorbell: D) -> Self {
        let half = |role: Role| role.index() * 32;
        let (own, other) = (half(role), half(role.peer()));
        Post { region, doorbell, own, other, published: 0, taken: 0, acknowledged: 0 }
    }

    /// The region that the post lies in.
    #[inline]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Waits until the other side has taken the latest message. In a round trip it always has: its answer says
    /// so. A doorbell tells of messages, not of room, so this waits by yielding.
    #[inline]
    pub(crate) fn await_room(&self) -> io::Result<()> {
        let taken = self.region.word(self.other + TAKEN);
        while taken.load(Ordering::Acquire) != self.published {
            cpu::yield_now();
        }
        Ok(())
    }

    /// Publishes a message of `len` bytes, of which `inline` go into the line, and rings. All other bytes must
    /// lie where the other side looks for them already.
    #[inline]
    pub(crate) fn publish(&mut self, len: usize, inline: &[u8]) -> io::Result<()> {
        self.region.write(self.own + INLINE, inline);
        self.published = self.published.wrapping_add(1);
        if self.acknowledged != self.taken {
            self.acknowledge(Ordering::Relaxed);
        }
        let card = (len as u64) << 32 | u64::from(self.published);
        self.region.double_word(self.own).store(card, Ordering::Release);
        self.doorbell.ring(self.region.word(self.own))
    }

    /// Waits for a message and gives its length.
    #[inline]
    pub(crate) fn await_message(&mut self) -> io::Result<usize> {
        if self.acknowledged != self.taken {
            self.acknowledge(Ordering::Release);
        }
        self.doorbell.wait(self.region.word(self.other), self.taken)?;
        let card = self.region.double_word(self.other).load(Ordering::Acquire);
        Ok((card >> 32) as usize)
    }

    /// Copies what travelled in the line.
    #[inline]
    pub(crate) fn read_inline(&self, buffer: &mut [u8]) {
        self.region.read(self.other + INLINE, buffer);
    }

    /// Marks the message as taken. From the next call on, the other side may send another.
    #[inline]
    pub(crate) fn take(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    #[inline]
    fn acknowledge(&mut self, order: Ordering) {
        self.region.word(self.own + TAKEN).store(self.taken, order);
        self.acknowledged = self.taken;
    }
}

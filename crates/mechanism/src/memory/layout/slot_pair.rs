//! One slot in each direction, in one shared cache line and additional memory for longer messages.
//!
//! Both directions share the cache line. In a round trip only one side writes at a time, and it writes the line that it has
//! just read, which halves the cache misses compared with a line per direction.
//!
//! Each side owns half of the line: the number of messages that it has published, the length and the first [`INLINE_BYTES`] of
//! the latest message, and the number of the other side's messages that it has released. A release is published with the next
//! message or before the next wait, whichever comes first. In a round trip the acknowledgement is part of the answer and costs
//! nothing.

use super::lending::{INLINE_BYTES, Slot, ZeroCopyEnd};
use crate::memory::HEAD_BYTES;
use crate::memory::doorbell::Doorbell;
use furlong_model::{Depth, Role};
use furlong_os::BorrowedHandle;
use furlong_os::cpu;
use furlong_os::memory::Region;
use furlong_os::shared_place::{HalfLine, Stretch};
use furlong_os::wait::Interest;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Returns the bytes of the part of a message that does not fit in the line. They are padded to two cache lines, because the
/// adjacent-line prefetcher would otherwise cause false sharing.
fn rest_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_sub(INLINE_BYTES).next_multiple_of(128)
}

/// One slot in each direction.
pub(crate) const DEPTH: [Depth; 2] = [Depth::Messages(1); 2];

/// Returns the bytes of a region for messages of up to `size_bytes`, with its doorbell.
pub(crate) fn region_bytes(size_bytes: usize) -> usize {
    HEAD_BYTES + 2 * rest_bytes(size_bytes)
}

/// One role's view of both slots.
#[derive(Debug)]
pub struct SlotPair<D> {
    own: HalfLine,
    other: HalfLine,
    own_rest: Stretch,
    other_rest: Stretch,
    doorbell: D,
    published: u32,
    released: u32,
    acknowledged: u32,
}

impl<D: Doorbell> SlotPair<D> {
    /// Creates the view of `role` at the beginning of `region`, which is zeroed, for messages of up to `size_bytes`.
    pub(crate) fn new(region: &Arc<Region>, role: Role, size_bytes: usize, doorbell: D) -> Self {
        let rest = rest_bytes(size_bytes);
        let [own, other] = [role, role.peer()].map(|role| HalfLine::new(region, role.index() * 32));
        let [own_rest, other_rest] =
            [role, role.peer()].map(|role| Stretch::new(region, HEAD_BYTES + role.index() * rest, rest));
        SlotPair { own, other, own_rest, other_rest, doorbell, published: 0, released: 0, acknowledged: 0 }
    }

    /// Returns whether the other side has released the latest message.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.other.taken.load(Ordering::Acquire) == self.published
    }

    /// Publishes the number of released messages, if the other side does not have it yet.
    #[inline(always)]
    fn acknowledge(&mut self) {
        if self.acknowledged != self.released {
            self.own.taken.store(self.released, Ordering::Release);
            self.acknowledged = self.released;
        }
    }

    /// A doorbell reports messages and not room, so this waits by yielding. It acknowledges first, because the other side may
    /// wait for room as well if several messages are in flight.
    #[cold]
    fn wait_for_room(&mut self) {
        self.acknowledge();
        while !self.has_room() {
            cpu::yield_now();
        }
    }
}

impl<D: Doorbell> ZeroCopyEnd for SlotPair<D> {
    /// With one message in flight there is always room, because the answer contains the acknowledgement.
    #[inline(always)]
    fn claim(&mut self) -> Slot<'_> {
        if !self.has_room() {
            self.wait_for_room();
        }
        Slot::new(&self.own.inline, &self.own_rest)
    }

    #[inline(always)]
    fn publish(&mut self, len: usize) -> io::Result<()> {
        self.own.length.store(len as u32, Ordering::Relaxed);
        self.own.taken.store(self.released, Ordering::Relaxed);
        self.acknowledged = self.released;
        self.published = self.published.wrapping_add(1);
        self.own.published.store(self.published, Ordering::Release);
        self.doorbell.ring(&self.own.published)
    }

    #[inline(always)]
    fn peek(&mut self) -> io::Result<(usize, Slot<'_>)> {
        self.acknowledge();
        self.doorbell.wait(&self.other.published, self.released)?;
        // A doorbell may be a semaphore or a descriptor, so this load of the word orders the following reads.
        self.other.published.load(Ordering::Acquire);
        let len = self.other.length.load(Ordering::Relaxed) as usize;
        Ok((len, Slot::new(&self.other.inline, &self.other_rest)))
    }

    #[inline]
    fn has_message(&mut self) -> bool {
        // The other side may wait for room.
        self.acknowledge();
        self.other.published.load(Ordering::Acquire) != self.released
    }

    #[inline(always)]
    fn release(&mut self) {
        self.released = self.released.wrapping_add(1);
        if D::MAY_WAIT_OUTSIDE {
            self.acknowledge();
        }
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.doorbell.readiness(interest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::doorbell::Spin;

    /// A message that does not fit in the line.
    const MESSAGE: &[u8] = b"a message that does not fit in the line";

    fn both_ends() -> [SlotPair<Spin>; 2] {
        let region = Arc::new(Region::anonymous(region_bytes(MESSAGE.len())).unwrap());
        Role::ALL.map(|role| SlotPair::new(&region, role, MESSAGE.len(), Spin))
    }

    fn text(slot: Slot<'_>, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        slot.read(&mut bytes);
        bytes
    }

    #[test]
    fn a_message_of_any_length_is_read_as_it_was_written() {
        let [mut initiator, mut responder] = both_ends();
        for len in 0..=MESSAGE.len() {
            initiator.claim().write(&MESSAGE[..len]);
            initiator.publish(len).unwrap();
            let (length, slot) = responder.peek().unwrap();
            assert_eq!((length, text(slot, length)), (len, MESSAGE[..len].to_vec()));
            responder.release();
            responder.acknowledge();
        }
    }

    #[test]
    fn a_message_lies_where_it_is_until_it_is_released() {
        let [mut initiator, mut responder] = both_ends();
        initiator.claim().write(MESSAGE);
        initiator.publish(MESSAGE.len()).unwrap();
        let (len, slot) = responder.peek().unwrap();
        assert_eq!(text(slot, len), MESSAGE);
        assert!(!initiator.has_room(), "the responder still looks at it");
        responder.release();
        // The answer publishes the release.
        responder.claim().write(b"yes");
        responder.publish(3).unwrap();
        assert!(initiator.has_room());
        let (len, slot) = initiator.peek().unwrap();
        assert_eq!(text(slot, len), b"yes");
    }
}

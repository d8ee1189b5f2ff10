//! One slot each way, in one cache line.
//!
//! Both directions share the line. In a round trip only one side writes at a time, and the line it writes is
//! the one it has just read, which halves the cache misses compared with a line for each direction.
//!
//! Each side owns half of the line: how many messages it has published, the length and the first
//! [`INLINE_BYTES`] of the latest, and how many messages it has taken from the other side. What was taken is made
//! known with the next message or before the next wait, whichever comes first: in a round trip the
//! acknowledgement rides with the answer and costs nothing.

use crate::memory::HEAD_BYTES;
use crate::memory::doorbell::Doorbell;
use furlong_model::Role;
use furlong_os::BorrowedHandle;
use furlong_os::cpu;
use furlong_os::memory::Region;
use furlong_os::shared_place::HalfLine;
use furlong_os::wait::Interest;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Payload that travels in the line itself.
pub(crate) const INLINE_BYTES: usize = 16;

/// Bytes of a region that holds nothing but a post and its doorbell.
pub(crate) const POST_BYTES: usize = HEAD_BYTES;

/// One role's view of the line.
#[derive(Debug)]
pub struct Post<D> {
    own: HalfLine,
    other: HalfLine,
    doorbell: D,
    published: u32,
    taken: u32,
    acknowledged: u32,
}

impl<D: Doorbell> Post<D> {
    /// The view of `role` at the beginning of `region`, which is zeroed.
    pub(crate) fn new(region: &Arc<Region>, role: Role, doorbell: D) -> Self {
        let [own, other] = [role, role.peer()].map(|role| HalfLine::new(region, role.index() * 32));
        Post { own, other, doorbell, published: 0, taken: 0, acknowledged: 0 }
    }

    /// Waits until the other side has taken the latest message. In a round trip it always has: its answer says
    /// so. A doorbell tells of messages, not of room, so this waits by yielding.
    #[inline(always)]
    pub(crate) fn await_room(&self) {
        while self.other.taken.load(Ordering::Acquire) != self.published {
            cpu::yield_now();
        }
    }

    /// Publishes a message of `len` bytes that begins with `inline`, and rings. All its other bytes must lie
    /// where the other side looks for them already.
    #[inline(always)]
    pub(crate) fn publish(&mut self, len: usize, inline: &[u8]) -> io::Result<()> {
        // The parts of a word are loaded as they were stored, for the same reason as in `read_inline`.
        let part = |bytes: &[u8]| {
            let mut word = [0; 8];
            match bytes.first_chunk::<8>() {
                Some(whole) => word = *whole,
                None => word[..bytes.len()].copy_from_slice(bytes),
            }
            u64::from_le_bytes(word)
        };
        self.own.inline[0].store(part(inline), Ordering::Relaxed);
        if inline.len() > 8 {
            self.own.inline[1].store(part(&inline[8..]), Ordering::Relaxed);
        }
        self.own.length.store(len as u32, Ordering::Relaxed);
        self.own.taken.store(self.taken, Ordering::Relaxed);
        self.acknowledged = self.taken;
        self.published = self.published.wrapping_add(1);
        self.own.published.store(self.published, Ordering::Release);
        self.doorbell.ring(&self.own.published)
    }

    /// Waits for a message and gives its length. After `WouldBlock` it goes on waiting for the same one.
    #[inline(always)]
    pub(crate) fn await_message(&mut self) -> io::Result<usize> {
        self.acknowledge();
        self.doorbell.wait(&self.other.published, self.taken)?;
        // A doorbell may be heard through a semaphore or a descriptor: the word itself orders what follows.
        self.other.published.load(Ordering::Acquire);
        Ok(self.other.length.load(Ordering::Relaxed) as usize)
    }

    /// Copies the beginning of the message, at most [`INLINE_BYTES`].
    #[inline(always)]
    pub(crate) fn read_inline(&self, buffer: &mut [u8]) {
        let word = |index: usize| self.other.inline[index].load(Ordering::Relaxed).to_le_bytes();
        // Words go straight to where they belong: put together first, they would be stored in two parts and
        // loaded as one, for which the processor must wait.
        if let Some((first, rest)) = buffer.split_first_chunk_mut::<8>() {
            *first = word(0);
            if let Some(second) = rest.first_chunk_mut::<8>() {
                *second = word(1);
            } else if !rest.is_empty() {
                rest.copy_from_slice(&word(1)[..rest.len()]);
            }
        } else {
            buffer.copy_from_slice(&word(0)[..buffer.len()]);
        }
    }

    /// Marks the message as taken. From the next call on, the other side may send another.
    #[inline(always)]
    pub(crate) fn take(&mut self) {
        self.taken = self.taken.wrapping_add(1);
        if D::MAY_WAIT_OUTSIDE {
            self.acknowledge();
        }
    }

    /// The descriptor that `select` and its kin may watch; `None` if there is none.
    pub(crate) fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.doorbell.readiness(interest)
    }

    /// Makes known what was taken, if it is not known yet.
    #[inline(always)]
    fn acknowledge(&mut self) {
        if self.acknowledged != self.taken {
            self.own.taken.store(self.taken, Ordering::Release);
            self.acknowledged = self.taken;
        }
    }
}

//! Zero-copy access to shared memory, message by message, and the endpoint over it, which copies messages or works on them in
//! place.

use crate::memory::in_place::{self, STAMP_BYTES, Stamps, ToRead, ToWrite};
use crate::{Endpoint, Interest, Message};
use furlong_model::Access;
use furlong_os::BorrowedHandle;
use furlong_os::shared_place::Stretch;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a message on the cache line that announces it.
pub(crate) const INLINE_BYTES: usize = 16;

/// One end of a channel with zero-copy access: a sender claims room, writes and publishes, and a receiver peeks at the message
/// and releases it.
pub trait ZeroCopyEnd {
    /// Waits until there is room for one message, and returns it.
    fn claim(&mut self) -> Slot<'_>;

    /// Publishes the first `len` bytes of the claimed room, and wakes the other side.
    ///
    /// # Errors
    /// Returns an error if the other side cannot be woken.
    fn publish(&mut self, len: usize) -> io::Result<()>;

    /// Waits for a message, and returns its length and its location, which is valid until it is released.
    ///
    /// # Errors
    /// Returns the errors of [`Endpoint::recv`].
    fn peek(&mut self) -> io::Result<(usize, Slot<'_>)>;

    /// Returns whether `peek` would return at once.
    fn has_message(&mut self) -> bool;

    /// Releases the room of the message. From the next call on, the other side may claim it.
    fn release(&mut self);

    /// Returns the descriptor that becomes readable when a message arrives; `None` if there is none.
    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>>;
}

/// The location of one message. The other process may change these bytes at any time, so they are copied in and out, and no
/// reference to them is returned.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'a> {
    inline: &'a [AtomicU64; 2],
    rest: &'a Stretch,
}

impl<'a> Slot<'a> {
    /// Creates a slot with its first bytes in a cache line, and the rest elsewhere.
    #[inline(always)]
    pub(crate) fn new(inline: &'a [AtomicU64; 2], rest: &'a Stretch) -> Self {
        Slot { inline, rest }
    }

    /// Copies a message in: the cache line that the other side watches is written last.
    ///
    /// # Panics
    /// Panics if there is no room for it.
    #[inline(always)]
    pub fn write(self, message: &[u8]) {
        let (inline, rest) = message.split_at(message.len().min(INLINE_BYTES));
        if !rest.is_empty() {
            self.rest.write(rest);
        }
        // The parts of a word are loaded as they were stored, for the reason given in `read`.
        let part = |bytes: &[u8]| {
            let mut word = [0; 8];
            match bytes.first_chunk::<8>() {
                Some(whole) => word = *whole,
                None => word[..bytes.len()].copy_from_slice(bytes),
            }
            u64::from_le_bytes(word)
        };
        self.inline[0].store(part(inline), Ordering::Relaxed);
        if inline.len() > 8 {
            self.inline[1].store(part(&inline[8..]), Ordering::Relaxed);
        }
    }

    /// Copies the beginning of the message out, as much as `buffer` has room for.
    ///
    /// # Panics
    /// Panics if that is more than the slot has.
    #[inline(always)]
    pub fn read(self, buffer: &mut [u8]) {
        let (inline, rest) = buffer.split_at_mut(buffer.len().min(INLINE_BYTES));
        let word = |index: usize| self.inline[index].load(Ordering::Relaxed).to_le_bytes();
        // Words are written directly to their destination. If they were combined first, they would be stored in two parts and
        // loaded as one, which prevents store forwarding and stalls the CPU.
        if let Some((first, others)) = inline.split_first_chunk_mut::<8>() {
            *first = word(0);
            if let Some(second) = others.first_chunk_mut::<8>() {
                *second = word(1);
            } else if !others.is_empty() {
                others.copy_from_slice(&word(1)[..others.len()]);
            }
        } else {
            inline.copy_from_slice(&word(0)[..inline.len()]);
        }
        if !rest.is_empty() {
            self.rest.read(rest);
        }
    }
}

impl ToWrite for Slot<'_> {
    fn write(self, message: &[u8]) {
        Slot::write(self, message);
    }

    /// Writes the cache line last, like [`Slot::write`].
    #[inline(always)]
    fn make(self, len: usize, [first, last]: Stamps, and_between: bool) {
        let last_at = len - INLINE_BYTES - STAMP_BYTES;
        let word = u64::from_le_bytes(first);
        if and_between {
            self.rest.fill(0..last_at, word);
            self.inline[1].store(word, Ordering::Relaxed);
        }
        self.rest.fill(last_at..last_at + STAMP_BYTES, u64::from_le_bytes(last));
        self.inline[0].store(word, Ordering::Relaxed);
    }
}

impl ToRead for Slot<'_> {
    fn read(self, buffer: &mut [u8]) {
        Slot::read(self, buffer);
    }

    #[inline(always)]
    fn look(self, len: usize, and_between: bool) -> (Stamps, bool) {
        let last_at = len - INLINE_BYTES - STAMP_BYTES;
        let word = self.inline[0].load(Ordering::Relaxed);
        let is_as_written = !and_between
            || self.rest.is_filled(0..last_at, word) && self.inline[1].load(Ordering::Relaxed) == word;
        ([word.to_le_bytes(), self.rest.bytes_at(last_at)], is_as_written)
    }
}

/// An endpoint over memory with zero-copy access.
#[derive(Debug)]
pub struct LendingEnd<L> {
    lending: L,
    access: Access,
}

impl<L> LendingEnd<L> {
    /// Creates an endpoint that accesses messages in this way.
    pub(crate) fn new(lending: L, access: Access) -> Self {
        LendingEnd { lending, access }
    }
}

impl<L: ZeroCopyEnd> Endpoint for LendingEnd<L> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let slot = self.lending.claim();
        if self.access.is_copy() {
            slot.write(message);
        } else {
            in_place::put(slot, message, self.access);
        }
        self.lending.publish(message.len())
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let (len, slot) = self.lending.peek()?;
        if !self.access.is_copy() {
            let taken = in_place::take(slot, len, message, self.access);
            self.lending.release();
            return taken;
        }
        let message = &mut message[..];
        let room = if len < message.len() { shorter(len) } else { message.len() };
        slot.read(&mut message[..room]);
        self.lending.release();
        Ok(len)
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(self.lending.has_message())
    }

    fn access(&self) -> Access {
        self.access
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.lending.readiness(interest)
    }
}

/// Returns the length of a message shorter than its room. Marked cold, so that the CPU predicts the usual length and copies
/// without waiting for the actual one.
#[cold]
fn shorter(len: usize) -> usize {
    len
}

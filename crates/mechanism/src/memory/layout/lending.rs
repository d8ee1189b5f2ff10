//! Memory that one process lends to the other, message by message; and the endpoint on top of that, which copies messages or makes
//! and reads them there.

use crate::memory::in_place::{self, STAMP_BYTES, Stamps, ToRead, ToWrite};
use crate::{Endpoint, Interest, Message};
use furlong_model::Access;
use furlong_os::BorrowedHandle;
use furlong_os::shared_place::Stretch;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a message that travel in the line that says that it is there.
pub(crate) const INLINE_BYTES: usize = 16;

/// One end of a channel that lends its memory: a sender claims room, writes and publishes; a receiver peeks at the
/// message and releases it.
pub trait Lending {
    /// Room for one message, once there is.
    fn claim(&mut self) -> Slot<'_>;

    /// Publishes the first `len` bytes of what was claimed, and wakes the other side.
    ///
    /// # Errors
    /// If that could not be woken.
    fn publish(&mut self, len: usize) -> io::Result<()>;

    /// Waits for a message, and gives its length and where it lies until it is released.
    ///
    /// # Errors
    /// As [`Endpoint::recv`].
    fn peek(&mut self) -> io::Result<(usize, Slot<'_>)>;

    /// Gives the room of the message back. From the next call on, the other side may claim it.
    fn release(&mut self);

    /// What tells that there is a message; `None` if nothing does that can be waited for outside.
    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>>;
}

/// Where one message lies. The other process may touch these bytes at any time, so they are copied in and out, and
/// nobody is given a reference to them.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'a> {
    inline: &'a [AtomicU64; 2],
    rest: &'a Stretch,
}

impl<'a> Slot<'a> {
    /// A slot of so many bytes in a line, and others elsewhere.
    #[inline(always)]
    pub(crate) fn new(inline: &'a [AtomicU64; 2], rest: &'a Stretch) -> Self {
        Slot { inline, rest }
    }

    /// Copies a message in: the line last, which the other side looks at.
    ///
    /// # Panics
    /// If there is no room for it.
    #[inline(always)]
    pub fn write(self, message: &[u8]) {
        let (inline, rest) = message.split_at(message.len().min(INLINE_BYTES));
        if !rest.is_empty() {
            self.rest.write(rest);
        }
        // The parts of a word are loaded as they were stored, for the same reason as in `read`.
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
    /// If that is more than the slot has.
    #[inline(always)]
    pub fn read(self, buffer: &mut [u8]) {
        let (inline, rest) = buffer.split_at_mut(buffer.len().min(INLINE_BYTES));
        let word = |index: usize| self.inline[index].load(Ordering::Relaxed).to_le_bytes();
        // Words go straight to where they belong: put together first, they would be stored in two parts and
        // loaded as one, for which the processor must wait.
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

    /// The line last, as in [`Slot::write`].
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

/// An endpoint over memory that is lent.
#[derive(Debug)]
pub struct LendingEnd<L> {
    lending: L,
    access: Access,
}

impl<L> LendingEnd<L> {
    /// One that writes and reads messages so.
    pub(crate) fn new(lending: L, access: Access) -> Self {
        LendingEnd { lending, access }
    }
}

impl<L: Lending> Endpoint for LendingEnd<L> {
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

    fn access(&self) -> Access {
        self.access
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.lending.readiness(interest)
    }
}

/// A message shorter than its room. Kept out of the way, so that the processor foresees the usual length and
/// copies without waiting to be told it.
#[cold]
fn shorter(len: usize) -> usize {
    len
}

//! The buffer of a message that is sent or received.

use crate::LinkSpecification;
use furlong_model::PageKind;
use furlong_os::memory::{Pages, page_bytes};
use std::io;
use std::ops::{Deref, DerefMut};

/// Bytes in front of a small message: a cache line.
const HEADROOM_BYTES: usize = 64;

/// Maximum size of messages that share a page, in bytes.
const SMALL_BYTES: usize = 1024;

/// The bytes of a message, with room in front of them, so that a mechanism whose calls need a prefix does not have to copy. A
/// large message begins at a page boundary, so that its pages can be moved.
#[derive(Debug)]
pub struct Message {
    pages: Pages,
    start: usize,
    end: usize,
    /// Whether each byte is checked, and not only the stamps. If so, an end with zero-copy access copies the message.
    pub every_byte_counts: bool,
}

impl Message {
    /// Allocates a zeroed message of `len` bytes.
    pub fn new(len: usize) -> io::Result<Message> {
        let start = page_bytes();
        let end = start.saturating_add(len);
        Ok(Message { pages: Pages::new(end)?, start, end, every_byte_counts: false })
    }

    /// Allocates a message of the largest size of a link, in its requested pages.
    pub fn for_link(specification: &LinkSpecification) -> io::Result<Message> {
        Message::several(1, specification.largest_bytes(), specification.conditions.pages())
            .map(|mut one| one.remove(0))
    }

    /// Allocates `count` messages of `len` bytes, in pages of this kind if one is requested. Small messages share a page, because
    /// each page that a process touches costs a walk through the page tables after each context switch.
    pub fn several(count: usize, len: usize, kind: Option<PageKind>) -> io::Result<Vec<Message>> {
        let is_large = len > SMALL_BYTES;
        if is_large && kind.is_none() {
            return (0..count).map(|_| Message::new(len)).collect();
        }
        let start = if is_large { page_bytes() } else { HEADROOM_BYTES };
        let stride = start.saturating_add(len.next_multiple_of(start));
        let mut rest = Pages::backed(count.saturating_mul(stride), kind)?;
        let mut part = || {
            let next = rest.split_off(stride);
            let mut pages = std::mem::replace(&mut rest, next);
            pages.split_off(start + len);
            Message { pages, start, end: start + len, every_byte_counts: false }
        };
        Ok((0..count).map(|_| part()).collect())
    }

    /// Returns the maximum number of pages that a message of `len` bytes occupies.
    #[cfg(target_os = "linux")]
    pub(crate) fn pages_at_most(len: usize) -> usize {
        // A small message may cross the end of a page.
        if (2..=SMALL_BYTES).contains(&len) { 2 } else { len.div_ceil(page_bytes()).max(1) }
    }

    /// Shortens the message to `len` bytes, or lengthens it again.
    ///
    /// # Panics
    /// If it was allocated with fewer bytes.
    pub fn resize(&mut self, len: usize) {
        assert!(len <= self.pages.len() - self.start, "a message of {len} bytes in fewer");
        self.end = self.start + len;
    }

    /// Returns the message with `prefix_bytes` in front of it, at most a cache line.
    #[inline]
    pub fn with_prefix(&mut self, prefix_bytes: usize) -> &mut [u8] {
        &mut self.pages[self.start - prefix_bytes..self.end]
    }
}

impl Deref for Message {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.pages[self.start..self.end]
    }
}

impl DerefMut for Message {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.pages[self.start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_apart() {
        let lengths = [0, 1, 63, 64, 128, SMALL_BYTES, SMALL_BYTES + 1, 10_000];
        let kinds = [None, cfg!(target_os = "linux").then_some(PageKind::Small)];
        for (len, kind) in lengths.into_iter().flat_map(|len| kinds.map(|kind| (len, kind))) {
            let mut messages = Message::several(3, len, kind).unwrap();
            for (number, message) in (1u8..).zip(&mut messages) {
                assert_eq!(message.len(), len);
                message.with_prefix(8).fill(number);
            }
            for (number, message) in (1u8..).zip(&messages) {
                assert!(message.iter().all(|byte| *byte == number), "{len} bytes");
            }
        }
    }
}

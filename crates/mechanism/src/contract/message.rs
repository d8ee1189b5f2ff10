//! The buffer that a message is written into and received into.

use furlong_os::memory::{Pages, page_bytes};
use std::io;
use std::ops::{Deref, DerefMut};

/// Room in front of a small message: a cache line.
const HEADROOM_BYTES: usize = 64;

/// Up to this size messages share a page.
const SMALL_BYTES: usize = 1024;

/// The bytes of a message, with room in front of them, so that a mechanism whose calls want a prefix need not
/// copy. A large one begins at a page boundary, so that its pages can be moved.
#[derive(Debug)]
pub struct Message {
    pages: Pages,
    start: usize,
    /// Whether each of its bytes is checked, and not its stamps alone: then an end that makes messages where they lie copies it.
    pub every_byte_counts: bool,
}

impl Message {
    /// `len` bytes, zeroed.
    pub fn new(len: usize) -> io::Result<Message> {
        let start = page_bytes();
        Ok(Message { pages: Pages::new(start.saturating_add(len))?, start, every_byte_counts: false })
    }

    /// `count` messages of `len` bytes. Small ones lie together in one page: every page that a process touches
    /// costs it a walk through the page tables after each switch to it.
    pub fn several(count: usize, len: usize) -> io::Result<Vec<Message>> {
        if len > SMALL_BYTES {
            return (0..count).map(|_| Message::new(len)).collect();
        }
        let stride = HEADROOM_BYTES + len.next_multiple_of(HEADROOM_BYTES);
        let mut rest = Pages::new(count * stride)?;
        let mut part = || {
            let next = rest.split_off(stride);
            let mut pages = std::mem::replace(&mut rest, next);
            pages.split_off(HEADROOM_BYTES + len);
            Message { pages, start: HEADROOM_BYTES, every_byte_counts: false }
        };
        Ok((0..count).map(|_| part()).collect())
    }

    /// The most pages that a message of `len` bytes lies in.
    #[cfg(target_os = "linux")]
    pub(crate) fn pages_at_most(len: usize) -> usize {
        // A small one may begin near the end of a page.
        if (2..=SMALL_BYTES).contains(&len) { 2 } else { len.div_ceil(page_bytes()).max(1) }
    }

    /// The message with `prefix_bytes` in front of it, at most a cache line.
    #[inline]
    pub fn with_prefix(&mut self, prefix_bytes: usize) -> &mut [u8] {
        &mut self.pages[self.start - prefix_bytes..]
    }
}

impl Deref for Message {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.pages[self.start..]
    }
}

impl DerefMut for Message {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.pages[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_apart() {
        for len in [0, 1, 63, 64, 128, SMALL_BYTES, SMALL_BYTES + 1, 10_000] {
            let mut messages = Message::several(3, len).unwrap();
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

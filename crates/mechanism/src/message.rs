//! The buffer that a message is written into and received into.

use furlong_os::memory::{Pages, page_bytes};
use std::io;
use std::ops::{Deref, DerefMut};

/// Bytes that begin at a page boundary, so that pages can be moved, with room in front of them, so that a
/// mechanism whose calls want a prefix need not copy.
#[derive(Debug)]
pub struct Message {
    pages: Pages,
    start: usize,
    end: usize,
}

impl Message {
    /// `len` bytes, zeroed.
    pub fn new(len: usize) -> io::Result<Message> {
        let start = page_bytes();
        let end = start.checked_add(len).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Message { pages: Pages::new(end)?, start, end })
    }

    /// The message with `prefix_bytes` in front of it, at most a page.
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

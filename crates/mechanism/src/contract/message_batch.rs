//! Several messages for one call.

use super::Message;
use furlong_model::PageKind;
use std::io;

/// Messages of one size that follow each other in memory.
#[derive(Debug)]
pub struct MessageBatch {
    bytes: Message,
    size_bytes: usize,
    /// Length of each received message.
    pub lengths: Vec<usize>,
}

impl MessageBatch {
    /// Allocates `most` messages of `size_bytes`, in pages of this kind if one is requested.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn new(most: usize, size_bytes: usize, kind: Option<PageKind>) -> io::Result<MessageBatch> {
        let bytes = Message::several(1, most.saturating_mul(size_bytes), kind)?.remove(0);
        Ok(MessageBatch { bytes, size_bytes, lengths: vec![size_bytes; most] })
    }

    /// Returns the number of messages for which it has room.
    #[inline]
    pub fn most(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the bytes of one message.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns a message.
    #[inline]
    pub fn message(&self, place: usize) -> &[u8] {
        &self.bytes[place * self.size_bytes..][..self.size_bytes]
    }

    /// Returns a message, for a sender that writes it.
    #[inline]
    pub fn message_mut(&mut self, place: usize) -> &mut [u8] {
        &mut self.bytes[place * self.size_bytes..][..self.size_bytes]
    }

    /// Returns the first messages.
    #[inline]
    pub fn first(&self, count: usize) -> &[u8] {
        &self.bytes[..count * self.size_bytes]
    }

    /// Returns the room for all messages, for a receiver.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

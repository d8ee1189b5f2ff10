//! The protocol of one direction: a ring of records, each with its header in front of it.
//!
//! A header tells that a record is there and how long it is, so that for a small message one cache line travels and no
//! index does. The sender clears the header behind a record before it publishes that record's own: what lies there from
//! the last time round is never taken for one. The receiver tells how far it has read once for an eighth of the ring, and
//! the sender looks at that when the ring seems full. A record lies in one piece; what is left at the end of the ring is
//! skipped.
//!
//! Nothing here waits, and nothing that the other end writes is believed before it was checked. Positions count bytes
//! since the beginning and never go back; how large the ring is, and where this end is in it, is private.

mod consumer;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use consumer::{Consumer, Record};
pub(crate) use producer::Producer;

/// Bytes of a header. Records begin at multiples of that.
const HEADER_BYTES: usize = 8;

/// Room that stays free behind the last record: for the header that is cleared, and for [`Kind::Abort`] before it.
const RESERVE_BYTES: usize = 2 * HEADER_BYTES;

/// A longer message goes to a receiver that keeps up in parts of this size, so that it copies one while the next one is
/// being written.
const PART_BYTES: usize = 8 << 10;

/// The shortest part but for a last one: who takes a message in parts of a byte does nothing else for half a second.
const LEAST_PART_BYTES: usize = 512;

/// The receiver tells how far it has read after this part of the ring.
const RELEASES: usize = 8;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message.
    Whole = 1,
    /// The first part of a message.
    First = 2,
    /// A further part, in order.
    Rest = 3,
    /// The message whose parts came last is given up.
    Abort = 4,
    /// Nothing up to the end of the ring.
    Skip = 5,
}

/// Bytes that a record takes.
#[inline(always)]
const fn record_bytes(len: usize) -> usize {
    (len + 2 * HEADER_BYTES - 1) & !(HEADER_BYTES - 1)
}

/// Bytes in the longest record: two of them, and what the receiver has not told yet, are not more than the ring.
#[inline(always)]
pub(crate) fn longest_record(capacity: usize) -> usize {
    (capacity / 4).min(1 << 24) - HEADER_BYTES
}

/// How many messages a ring surely holds while nobody receives, wherever in the ring they begin.
pub(crate) fn depth(capacity: usize, len: usize) -> usize {
    let longest = longest_record(capacity);
    let (records, skipped) = if len <= PART_BYTES.min(longest) {
        (1, record_bytes(len))
    } else {
        (len.div_ceil(PART_BYTES.min(longest)), record_bytes(longest))
    };
    let taken = len.saturating_add(records.saturating_mul(2 * HEADER_BYTES));
    (capacity - capacity / RELEASES).saturating_sub(skipped + RESERVE_BYTES) / taken
}

/// A header: what the record is, its bytes, and those of the message from here on.
#[inline(always)]
fn header(kind: Kind, len: usize, message: usize) -> u64 {
    (kind as u64) << 56 | (len as u64) << 32 | message as u64
}

/// Where a record is to lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    offset: usize,
    len: usize,
    /// Bytes to skip in front of it.
    skip: usize,
}

impl Place {
    /// The place of a record of `len` bytes in the same room.
    ///
    /// # Panics
    /// If the room has fewer bytes.
    pub(crate) fn shortened(self, len: usize) -> Place {
        assert!(len <= self.len, "{len} bytes do not fit in a loan of {}", self.len);
        Place { len, ..self }
    }
}

//! The protocol of one direction: a ring of records, each with a header in front of it.
//!
//! A header states that a record is available, and its length. So for a small message one cache line travels, and no
//! index. The sender clears the header after a record before it publishes the record's own header, so that a header of
//! the previous round is never taken for a new one. The receiver reports its position once per eighth of the ring, and
//! the sender reads that position when the ring seems full. A record is contiguous. If it does not fit at the end of
//! the ring, the rest of the ring is skipped.
//!
//! No function here waits. Everything that the other end writes is checked before it is used. Positions count bytes
//! since the beginning and never decrease. The size of the ring and the position of this end are private.

mod consumer;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use consumer::{Consumer, Record};
pub(crate) use producer::Producer;

/// Bytes of a header. Records begin at multiples of this number.
const HEADER_BYTES: usize = 8;

/// Room that stays free after the last record: for the header that is cleared, and for a [`Kind::Abort`] before it.
const RESERVE_BYTES: usize = 2 * HEADER_BYTES;

/// Bytes per part of a long message while the receiver keeps up, so that it copies a part while the sender writes the
/// next one.
const PART_BYTES: usize = 8 << 10;

/// The shortest part, except for the last one. A receiver of parts of one byte would be busy for half a second.
const LEAST_PART_BYTES: usize = 512;

/// Fraction of the ring after which the receiver reports its position.
const RELEASES: usize = 8;

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message.
    Whole = 1,
    /// The first part of a message.
    First = 2,
    /// A further part, in order.
    Rest = 3,
    /// Abandons the message of the previous parts.
    Abort = 4,
    /// No message up to the end of the ring.
    Skip = 5,
}

/// Returns the bytes of a record with its header.
#[inline(always)]
const fn record_bytes(len: usize) -> usize {
    (len + 2 * HEADER_BYTES - 1) & !(HEADER_BYTES - 1)
}

/// Returns the bytes in the longest record. Two such records, plus the bytes that the receiver has not reported yet,
/// fit into the ring.
#[inline(always)]
pub(crate) fn longest_record(capacity: usize) -> usize {
    (capacity / 4).min(1 << 24) - HEADER_BYTES
}

/// Returns the number of messages that a ring always holds while no message is received, at any position of the ring.
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

/// Returns a header: the kind of the record, its bytes, and the bytes of the message from this record on.
#[inline(always)]
fn header(kind: Kind, len: usize, message: usize) -> u64 {
    (kind as u64) << 56 | (len as u64) << 32 | message as u64
}

/// The place of a record in the ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    offset: usize,
    len: usize,
    /// Bytes to skip before it.
    skip: usize,
}

impl Place {
    /// Returns the place of a shorter record of `len` bytes in this room.
    ///
    /// # Panics
    /// Panics if the room has fewer bytes.
    pub(crate) fn shortened(self, len: usize) -> Place {
        assert!(len <= self.len, "{len} bytes do not fit in a loan of {}", self.len);
        Place { len, ..self }
    }
}

//! The receiver's end of a ring.

use super::{HEADER_BYTES, Kind, LEAST_PART_BYTES, RELEASES, longest_record, record_bytes};
use crate::error::{Error, Result};
use crate::memory::{Lane, Promise};

/// Bytes of the longest message whose cache lines are prefetched during the wait for its header.
const FETCHED_BYTES: usize = 256;

/// A record of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub kind: Kind,
    /// Bytes of the record.
    pub len: usize,
    /// Bytes of the message from this record on.
    pub message: usize,
    pub(super) offset: usize,
}

/// The last header and its length, if it was that of a whole message.
///
/// If the next header is equal, the length is taken from here. The CPU predicts that the headers are equal, so it loads
/// the message together with its header, and does not wait for the length in the header.
#[derive(Debug)]
struct ExpectedHeader {
    header: u64,
    len: usize,
}

impl ExpectedHeader {
    /// A value that no header equals.
    const NONE: ExpectedHeader = ExpectedHeader { header: u64::MAX, len: usize::MAX };
}

/// The receiver's end of a ring.
#[derive(Debug)]
pub(crate) struct Consumer {
    lane: Lane,
    /// Value of the first position; the memory stores it as 0.
    start: u64,
    /// Position of the next record.
    pub(super) position: u64,
    /// Position that was reported to the sender.
    released: u64,
    /// Missing bytes of the message whose parts are being received.
    expected: usize,
    usual: ExpectedHeader,
    longest_message: usize,
    /// Latest possible position of the end of all records, if the sender is dead.
    end: Option<u64>,
    broken: bool,
}

impl Consumer {
    /// Creates the receiver's end of a lane whose bytes are counted from `start`.
    pub(crate) fn new(lane: Lane, start: u64, longest_message: usize) -> Consumer {
        Consumer {
            lane,
            start,
            position: start,
            released: start,
            expected: 0,
            usual: ExpectedHeader::NONE,
            longest_message,
            end: None,
            broken: false,
        }
    }

    /// Returns whether only a part of a message was received.
    pub(crate) fn is_within_message(&self) -> bool {
        self.expected > 0
    }

    /// Returns the bytes in the ring.
    pub(crate) fn capacity(&self) -> usize {
        self.lane.capacity()
    }

    /// Returns the bytes from the beginning to the next record.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        self.position as usize & (self.lane.capacity() - 1)
    }

    /// Returns whether the ring has a header at the position of the next record.
    #[inline(always)]
    pub(crate) fn has_header(&self) -> bool {
        self.lane.load_header(self.offset()) != 0 || self.broken
    }

    /// Returns the kind of the record at an offset, and its bytes; `None` without a record. Checks nothing.
    fn unchecked(&self, offset: usize) -> Option<(u64, usize)> {
        let header = self.lane.load_header(offset);
        let kind = header >> 56;
        let is_skip = kind == Kind::Skip as u64;
        let bytes = if is_skip {
            self.lane.capacity() - offset
        } else {
            record_bytes((header >> 32) as usize & 0xff_ffff)
        };
        (header != 0).then_some((kind, bytes))
    }

    /// Returns whether the ring has `count` records. Does not check the headers that it counts.
    pub(crate) fn has_records(&self, count: usize) -> bool {
        let (capacity, mut offset) = (self.lane.capacity(), self.offset());
        (0..count).all(|_| {
            let Some((_, bytes)) = self.unchecked(offset) else { return false };
            offset = (offset + bytes) & (capacity - 1);
            true
        })
    }

    /// Returns the number of messages in the ring, but at most `most`. Does not check the headers that it counts.
    pub(crate) fn unread(&self, most: usize) -> usize {
        let (capacity, mut offset) = (self.lane.capacity(), self.offset());
        let (mut walked, mut found) = (0, 0);
        while found < most && walked < capacity {
            let Some((kind, bytes)) = self.unchecked(offset) else { break };
            found += usize::from(kind == Kind::Whole as u64 || kind == Kind::First as u64);
            walked += bytes;
            offset = (offset + bytes) & (capacity - 1);
        }
        found
    }

    /// Like [`has_header`](Self::has_header), for repeated calls. If a record like the last one is expected, prefetches
    /// its cache lines together with that of its header.
    #[inline(always)]
    pub(crate) fn awaits_header(&self) -> bool {
        if self.usual.len <= FETCHED_BYTES {
            self.lane.prefetch_behind_first_line(self.offset(), HEADER_BYTES + self.usual.len);
        }
        self.has_header()
    }

    /// Returns the next record, if there is one.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> Result<Option<Record>> {
        let offset = self.offset();
        let header = self.lane.load_header(offset);
        if let Some(record) = self.as_usual(offset, header) {
            return Ok(Some(record));
        }
        if header == 0 && !self.broken { Ok(None) } else { self.check(offset, header) }
    }

    /// Returns the next record if its header is that of the last whole message.
    #[inline(always)]
    pub(crate) fn usual_record(&self) -> Option<Record> {
        let offset = self.offset();
        self.as_usual(offset, self.lane.load_header(offset))
    }

    /// Returns the record at an offset if its header is that of the last whole message.
    #[inline(always)]
    fn as_usual(&self, offset: usize, header: u64) -> Option<Record> {
        let len = self.usual.len;
        let is_usual = header == self.usual.header && len <= self.lane.capacity() - offset - HEADER_BYTES;
        is_usual.then_some(Record { kind: Kind::Whole, len, message: len, offset })
    }

    /// Returns the record whose header was seen.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Result<Record> {
        match self.look()? {
            Some(record) => Ok(record),
            None => Err(self.fail("a header disappeared")),
        }
    }

    /// Limits the remaining records after the death of the sender, which has left records of at most one round. Without
    /// the limit, headers of earlier rounds that it did not clear would be messages forever. Called repeatedly.
    #[cold]
    pub(crate) fn expect_end(&mut self) {
        let latest = self.position.wrapping_add(self.lane.capacity() as u64);
        let end = *self.end.get_or_insert(latest);
        if latest.wrapping_sub(end) > self.lane.capacity() as u64 {
            self.fail("a dead sender has left more than the ring can hold");
        }
    }

    #[cold]
    fn fail(&mut self, why: &'static str) -> Error {
        self.broken = true;
        // Otherwise a repeated header would be accepted without a check of `broken`.
        self.usual = ExpectedHeader::NONE;
        Error::Corrupt(why)
    }

    /// Returns the record of a header, if the header is valid.
    #[inline(never)]
    fn check(&mut self, offset: usize, header: u64) -> Result<Option<Record>> {
        let (len, message) = ((header >> 32) as usize & 0xff_ffff, header as u32 as usize);
        let room = self.lane.capacity() - offset - HEADER_BYTES;
        let fits = len <= room && len <= longest_record(self.lane.capacity());
        let is_whole = header >> 56 == Kind::Whole as u64 && self.expected == 0 && len == message;
        if is_whole && fits && message <= self.longest_message && !self.broken {
            self.usual = ExpectedHeader { header, len };
            return Ok(Some(Record { kind: Kind::Whole, len, message, offset }));
        }
        self.usual = ExpectedHeader::NONE;
        self.check_part(header, Record { kind: Kind::First, len, message, offset }, fits)
    }

    /// Checks a header that is not that of a whole message.
    #[cold]
    fn check_part(&mut self, header: u64, record: Record, fits: bool) -> Result<Option<Record>> {
        match self.kind_of_part(header, &record, fits).filter(|_| !self.broken) {
            // A place at the beginning of the ring is always long enough, so this recurses at most once.
            Some(Kind::Skip) => {
                self.position = self.position.wrapping_add(record.message as u64);
                self.look()
            }
            Some(kind) => Ok(Some(Record { kind, ..record })),
            None => Err(self.fail("a header has an impossible value")),
        }
    }

    /// Returns the kind of a header that is not that of a whole message; `None` if this kind is invalid at this place.
    fn kind_of_part(&self, header: u64, record: &Record, fits: bool) -> Option<Kind> {
        let Record { len, message, offset, .. } = *record;
        let least = LEAST_PART_BYTES.min(longest_record(self.lane.capacity()));
        let is_part = fits && (len >= least || len == message && len > 0);
        let is_empty = len == 0 && message == 0;
        let can_be = |kind: Kind| match kind {
            Kind::Whole => false,
            Kind::First => is_part && self.expected == 0 && len < message && message <= self.longest_message,
            Kind::Rest => is_part && len <= message && message == self.expected,
            Kind::Abort => self.expected > 0 && is_empty,
            Kind::Skip => offset > 0 && len == 0 && message == self.lane.capacity() - offset,
        };
        let kinds = [Kind::First, Kind::Rest, Kind::Abort, Kind::Skip];
        kinds.into_iter().find(|kind| header >> 56 == *kind as u64).filter(|kind| can_be(*kind))
    }

    /// Copies the beginning of a record to the buffer, as much as fits.
    #[inline(always)]
    pub(crate) fn copy_out(&self, record: &Record, buffer: &mut [u8]) {
        let len = record.len.min(buffer.len());
        self.lane.copy_out(record.offset + HEADER_BYTES, &mut buffer[..len]);
    }

    /// Returns the bytes of a record that was not passed yet, in place.
    #[inline(always)]
    pub(crate) fn in_place(&self, promise: Promise, record: &Record) -> &[u8] {
        self.lane.in_place(promise, record.offset + HEADER_BYTES, record.len)
    }

    /// Moves past a record. Its room is freed now or later.
    #[inline(always)]
    pub(crate) fn pass(&mut self, record: &Record) {
        self.expected = record.message - record.len;
        self.position = self.position.wrapping_add(record_bytes(record.len) as u64);
    }

    /// Frees the room of the passed records if it is an eighth of the ring or more. Returns whether it did.
    #[inline(always)]
    pub(crate) fn release_much(&mut self) -> bool {
        let passed = self.position.wrapping_sub(self.released) as usize;
        passed >= self.lane.capacity() / RELEASES && self.release()
    }

    /// Frees the room of the passed records, if there are any. Returns whether it did.
    #[inline(always)]
    pub(crate) fn release(&mut self) -> bool {
        if self.position == self.released {
            return false;
        }
        self.lane.publish_read(self.position.wrapping_sub(self.start));
        self.released = self.position;
        true
    }
}

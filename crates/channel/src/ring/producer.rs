//! The sender's end of a ring.

use super::{
    HEADER_BYTES, Kind, PART_BYTES, Place, RELEASES, RESERVE_BYTES, header, longest_record, record_bytes,
};
use crate::error::{Error, Result};
use crate::memory::{Lane, Promise};

/// Bytes per part in a stream of long messages, in which the receiver copies one part while the sender writes the next
/// one. With parts of [`PART_BYTES`] the receiver would follow so closely that cache lines move between the cores while
/// their neighbours are written. With parts of an eighth of the ring or more, the ends would wait for each other.
pub(super) const STREAM_PART_BYTES: usize = 64 << 10;

/// The sender's end of a ring.
#[derive(Debug)]
pub(crate) struct Producer {
    lane: Lane,
    /// Value of the first position; the memory stores it as 0.
    start: u64,
    /// Position of the next record.
    pub(super) written: u64,
    /// Last known position of the receiver.
    pub(super) read: u64,
    /// The first record that is not published yet: its offset and its header.
    staged: Option<(usize, u64)>,
    /// Number of the message that a non-blocking call has sent in part; 0 if there is none. With such a message, the
    /// ring appears full to all other calls, so that they enter a slow path, which abandons the message.
    begun: u64,
    broken: bool,
}

impl Producer {
    /// Creates the sender's end of a lane whose bytes are counted from `start`.
    pub(crate) fn new(lane: Lane, start: u64) -> Producer {
        Producer { lane, start, written: start, read: start, staged: None, begun: 0, broken: false }
    }

    /// Returns the bytes in the longest record.
    #[inline(always)]
    pub(crate) fn longest_record(&self) -> usize {
        longest_record(self.lane.capacity())
    }

    /// Returns the bytes in the longest message that is always sent as one record.
    #[inline(always)]
    pub(crate) fn undivided(&self) -> usize {
        PART_BYTES.min(self.longest_record())
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.written as usize & (self.lane.capacity() - 1)
    }

    #[inline(always)]
    fn has_room(&self, bytes: usize) -> bool {
        self.written.wrapping_sub(self.read) as usize + bytes <= self.lane.capacity()
    }

    /// Reads the position of the receiver.
    #[cold]
    fn refresh(&mut self) -> Result<()> {
        let read = self.start.wrapping_add(self.lane.load_read());
        let known = self.written.wrapping_sub(self.read);
        // The position must not decrease, nor exceed the written bytes.
        if self.broken || self.written.wrapping_sub(read) > known {
            self.broken = true;
            // Every later call then enters this slow path.
            self.seem_full();
            return Err(Error::Corrupt("the receiver's position is invalid"));
        }
        self.read = read;
        Ok(())
    }

    /// Returns whether `bytes` bytes are free. Reads the position of the receiver only if the known room does not suffice.
    #[inline(always)]
    fn finds_room(&mut self, bytes: usize) -> Result<bool> {
        if self.has_room(bytes) { Ok(true) } else { self.finds_room_after_look(bytes) }
    }

    #[cold]
    fn finds_room_after_look(&mut self, bytes: usize) -> Result<bool> {
        self.refresh()?;
        let found = self.has_room(bytes);
        if self.begun != 0 {
            self.seem_full();
        }
        Ok(found)
    }

    fn seem_full(&mut self) {
        self.read = self.written.wrapping_sub(self.lane.capacity() as u64);
    }

    /// Returns the number of the message that was sent in part; 0 if there is none.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// Stores the number of the message that was sent in part; 0 if there is none.
    pub(crate) fn set_begun(&mut self, number: u64) {
        self.begun = number;
        if number != 0 {
            self.seem_full();
        }
    }

    /// Returns the bytes from the beginning to the next record.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    pub(crate) fn position(&self) -> u64 {
        self.written
    }

    /// Returns the bytes that were sent and not freed by the receiver. The receiver may report a false number.
    pub(crate) fn unread_bytes(&self) -> usize {
        let read = self.start.wrapping_add(self.lane.load_read());
        (self.written.wrapping_sub(read) as usize).min(self.lane.capacity())
    }

    /// Returns the bytes in the ring.
    pub(crate) fn capacity(&self) -> usize {
        self.lane.capacity()
    }

    /// Returns a place for a record of at most [`longest_record`](Self::longest_record) bytes, or `None` if there is no
    /// room.
    #[inline(always)]
    pub(crate) fn place(&mut self, len: usize) -> Result<Option<Place>> {
        let (begin, bytes, capacity) = (self.offset(), record_bytes(len), self.lane.capacity());
        let fits = bytes <= capacity - begin;
        let (offset, skip) = if fits { (begin, 0) } else { (0, capacity - begin) };
        let found = self.finds_room(skip + bytes + RESERVE_BYTES)?;
        Ok(found.then_some(Place { offset, len, skip }))
    }

    /// Sends a whole message in one piece if there is certainly room. Returns whether it did. Requires that nothing is
    /// staged.
    #[inline(always)]
    pub(crate) fn send_at_once(&mut self, message: &[u8]) -> bool {
        let (begin, bytes) = (self.offset(), record_bytes(message.len()));
        if bytes > self.lane.capacity() - begin || !self.has_room(bytes + RESERVE_BYTES) {
            return false;
        }
        self.written = self.written.wrapping_add(bytes as u64);
        // Before the copy, because the copy ends with the cache line of the header.
        self.lane.clear_header(self.offset());
        self.lane.copy_in(begin + HEADER_BYTES, message);
        self.lane.publish_header(begin, header(Kind::Whole, message.len(), message.len()));
        true
    }

    /// Copies a record to its place.
    #[inline(always)]
    pub(crate) fn fill(&mut self, place: Place, bytes: &[u8]) {
        self.lane.copy_in(place.offset + HEADER_BYTES, &bytes[..place.len]);
    }

    /// Returns the bytes of a record in place.
    #[inline(always)]
    pub(crate) fn in_place(&self, promise: Promise, place: Place) -> &[u8] {
        self.lane.in_place(promise, place.offset + HEADER_BYTES, place.len)
    }

    /// Returns the bytes of a record in place, for writing.
    #[inline(always)]
    pub(crate) fn in_place_mut(&mut self, promise: Promise, place: Place) -> &mut [u8] {
        self.lane.in_place_mut(promise, place.offset + HEADER_BYTES, place.len)
    }

    /// Adds a filled record to those that are published next. `message` is the number of bytes of the message from this
    /// record on.
    #[inline(always)]
    pub(crate) fn stage(&mut self, place: Place, kind: Kind, message: usize) {
        if place.skip > 0 {
            let skipped = header(Kind::Skip, 0, place.skip);
            self.stage_header(self.offset(), skipped);
            self.written = self.written.wrapping_add(place.skip as u64);
        }
        self.stage_header(place.offset, header(kind, place.len, message));
        self.written = self.written.wrapping_add(record_bytes(place.len) as u64);
    }

    /// Adds a whole message to the records that are published next.
    #[inline(always)]
    pub(crate) fn stage_whole(&mut self, place: Place) {
        self.stage(place, Kind::Whole, place.len);
    }

    #[inline(always)]
    fn stage_header(&mut self, offset: usize, header: u64) {
        match self.staged {
            None => self.staged = Some((offset, header)),
            // The unpublished first record hides it.
            Some(_) => self.lane.prepare_header(offset, header),
        }
    }

    /// Makes all staged records visible at once.
    #[inline(always)]
    pub(crate) fn publish(&mut self) {
        if let Some((offset, header)) = self.staged.take() {
            self.lane.clear_header(self.offset());
            self.lane.publish_header(offset, header);
        }
    }

    /// Abandons the message whose first parts were published. The ring always has room for that record.
    pub(crate) fn abort(&mut self) {
        self.begun = 0;
        self.stage_header(self.offset(), header(Kind::Abort, 0, 0));
        self.written = self.written.wrapping_add(HEADER_BYTES as u64);
        self.publish();
    }

    /// Returns the bytes of the parts of a long message that is sent now: small parts if the receiver keeps up and no stream
    /// of such messages is sent.
    pub(crate) fn part_bytes(&mut self, is_stream: bool) -> Result<usize> {
        self.refresh()?;
        let unread = self.written.wrapping_sub(self.read) as usize;
        let keeps_up = unread <= self.lane.capacity() / RELEASES + PART_BYTES;
        let part = if keeps_up && !is_stream { PART_BYTES } else { STREAM_PART_BYTES };
        Ok(part.min(self.longest_record()))
    }

    /// Returns whether there is room for all parts of a message.
    pub(crate) fn has_room_for_parts(&mut self, len: usize, part: usize) -> Result<bool> {
        self.finds_room(self.parts_bytes(len, part))
    }

    /// Returns the maximum number of bytes of a message in parts.
    fn parts_bytes(&self, len: usize, part: usize) -> usize {
        let parts = len.div_ceil(part);
        len + parts * 2 * HEADER_BYTES + record_bytes(part) + RESERVE_BYTES
    }

    /// Returns the bytes in the longest message that can be sent without waiting.
    pub(crate) fn longest_at_once(&self) -> usize {
        let (capacity, part) = (self.lane.capacity(), self.longest_record());
        // Excludes headers of parts, skipped bytes, and bytes that the receiver has not reported yet.
        let headers = self.parts_bytes(capacity, self.undivided()) - capacity;
        (capacity - capacity / RELEASES).saturating_sub(headers + record_bytes(part))
    }
}

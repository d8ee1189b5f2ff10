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

use crate::error::{Error, Result};
use crate::memory::{Lane, Promise};

/// Bytes of a header. Records begin at multiples of that.
const HEADER_BYTES: usize = 8;

/// Room that stays free behind the last record: for the header that is cleared, and for [`Kind::Abort`] before it.
const RESERVE_BYTES: usize = 2 * HEADER_BYTES;

/// A longer message goes to a receiver that keeps up in parts of this size, so that it copies one while the next one is
/// being written.
const PART_BYTES: usize = 8 << 10;

/// The shortest part but for a last one: who takes a message in parts of a byte does nothing else for half a second.
const LEAST_PART_BYTES: usize = 512;

/// Bytes of the parts in a stream of long messages, where the receiver has a part to copy while the next one is written. With
/// parts of [`PART_BYTES`] it would follow the sender so closely that lines move from core to core while their neighbours are
/// written; with parts of an eighth of the ring or more the ends would wait for each other.
const STREAM_PART_BYTES: usize = 64 << 10;

/// The longest message whose lines are fetched while its header is waited for.
const FETCHED_BYTES: usize = 256;

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

/// The sender's end of a ring.
#[derive(Debug)]
pub(crate) struct Producer {
    lane: Lane,
    /// What the first position is; in the memory it is 0.
    start: u64,
    /// Where the next record begins.
    written: u64,
    /// How far the receiver has read, as far as is known.
    read: u64,
    /// The first record that was not published yet: its place and its header.
    staged: Option<(usize, u64)>,
    /// Number of the message that a non-blocking call has sent in part; 0 if there is none. With such a message, the ring appears full
    /// to all other calls, so that they enter a slow path, which abandons the message.
    begun: u64,
    broken: bool,
}

impl Producer {
    /// The sender's end of a lane whose bytes are counted from `start`.
    pub(crate) fn new(lane: Lane, start: u64) -> Producer {
        Producer { lane, start, written: start, read: start, staged: None, begun: 0, broken: false }
    }

    /// Bytes in the longest record.
    #[inline(always)]
    pub(crate) fn longest_record(&self) -> usize {
        longest_record(self.lane.capacity())
    }

    /// Bytes in the longest message that goes as one record whether the receiver keeps up or not.
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

    /// Looks how far the receiver has read.
    #[cold]
    fn refresh(&mut self) -> Result<()> {
        let read = self.start.wrapping_add(self.lane.load_read());
        let known = self.written.wrapping_sub(self.read);
        // It may not go back, and not beyond what was written.
        if self.broken || self.written.wrapping_sub(read) > known {
            self.broken = true;
            // From now on every call comes here.
            self.seem_full();
            return Err(Error::Corrupt("the receiver's position is none"));
        }
        self.read = read;
        Ok(())
    }

    /// Whether so many bytes are free, after looking again if they seem not to be.
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

    /// A place for a record of at most [`longest_record`](Self::longest_record) bytes; none while there is no room.
    #[inline(always)]
    pub(crate) fn place(&mut self, len: usize) -> Result<Option<Place>> {
        let (begin, bytes, capacity) = (self.offset(), record_bytes(len), self.lane.capacity());
        let fits = bytes <= capacity - begin;
        let (offset, skip) = if fits { (begin, 0) } else { (0, capacity - begin) };
        let found = self.finds_room(skip + bytes + RESERVE_BYTES)?;
        Ok(found.then_some(Place { offset, len, skip }))
    }

    /// Sends a whole message where there surely is room, in one piece; says whether it did. Nothing is staged.
    #[inline(always)]
    pub(crate) fn send_at_once(&mut self, message: &[u8]) -> bool {
        let (begin, bytes) = (self.offset(), record_bytes(message.len()));
        if bytes > self.lane.capacity() - begin || !self.has_room(bytes + RESERVE_BYTES) {
            return false;
        }
        self.written = self.written.wrapping_add(bytes as u64);
        // Before the message, which ends with the line that the header is in.
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

    /// The bytes of a record where they are to lie.
    #[inline(always)]
    pub(crate) fn in_place(&self, promise: Promise, place: Place) -> &[u8] {
        self.lane.in_place(promise, place.offset + HEADER_BYTES, place.len)
    }

    /// The same, to be written.
    #[inline(always)]
    pub(crate) fn in_place_mut(&mut self, promise: Promise, place: Place) -> &mut [u8] {
        self.lane.in_place_mut(promise, place.offset + HEADER_BYTES, place.len)
    }

    /// Adds a record that was filled to those that are published next. `message` is how many bytes of the message there
    /// are from this record on.
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

    /// Adds a whole message.
    #[inline(always)]
    pub(crate) fn stage_whole(&mut self, place: Place) {
        self.stage(place, Kind::Whole, place.len);
    }

    #[inline(always)]
    fn stage_header(&mut self, offset: usize, header: u64) {
        match self.staged {
            None => self.staged = Some((offset, header)),
            // The first one hides it.
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

    /// Whether there is room for all parts of a message.
    pub(crate) fn has_room_for_parts(&mut self, len: usize, part: usize) -> Result<bool> {
        self.finds_room(self.parts_bytes(len, part))
    }

    /// Bytes that a message takes at most in parts.
    fn parts_bytes(&self, len: usize, part: usize) -> usize {
        let parts = len.div_ceil(part);
        len + parts * 2 * HEADER_BYTES + record_bytes(part) + RESERVE_BYTES
    }

    /// Bytes in the longest message that may go without waiting.
    pub(crate) fn longest_at_once(&self) -> usize {
        let (capacity, part) = (self.lane.capacity(), self.longest_record());
        // What is not in the parts' headers, in what is skipped, or not told yet.
        let headers = self.parts_bytes(capacity, self.undivided()) - capacity;
        (capacity - capacity / RELEASES).saturating_sub(headers + record_bytes(part))
    }
}

/// A record that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub len: usize,
    /// Bytes of the message from this record on.
    pub message: usize,
    offset: usize,
}

/// What the last header was, if it was that of a whole message, and its length.
///
/// Where a header is the same again, the length is taken from here. So the processor, which foresees that it will be the same,
/// fetches the message together with its header, and does not wait for the one to know how much there is of the other.
#[derive(Debug)]
struct Usual {
    header: u64,
    len: usize,
}

impl Usual {
    /// No header is as before.
    const NONE: Usual = Usual { header: u64::MAX, len: usize::MAX };
}

/// The receiver's end of a ring.
#[derive(Debug)]
pub(crate) struct Consumer {
    lane: Lane,
    /// What the first position is; in the memory it is 0.
    start: u64,
    /// Where the next record begins.
    position: u64,
    /// What the sender was told.
    released: u64,
    /// Bytes that are to come of the message whose parts come.
    expected: usize,
    usual: Usual,
    longest_message: usize,
    broken: bool,
}

impl Consumer {
    /// The receiver's end of a lane whose bytes are counted from `start`.
    pub(crate) fn new(lane: Lane, start: u64, longest_message: usize) -> Consumer {
        Consumer {
            lane,
            start,
            position: start,
            released: start,
            expected: 0,
            usual: Usual::NONE,
            longest_message,
            broken: false,
        }
    }

    /// Whether a part of a message was taken, and not all of it.
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
    fn offset(&self) -> usize {
        self.position as usize & (self.lane.capacity() - 1)
    }

    /// Whether something lies where the next record begins.
    #[inline(always)]
    pub(crate) fn has_header(&self) -> bool {
        self.lane.load_header(self.offset()) != 0 || self.broken
    }

    /// Whether `count` records lie here, by their headers, which are not checked.
    pub(crate) fn has_records(&self, count: usize) -> bool {
        let (capacity, mut offset) = (self.lane.capacity(), self.offset());
        (0..count).all(|_| {
            let header = self.lane.load_header(offset);
            let is_skip = header >> 56 == Kind::Skip as u64;
            let bytes = record_bytes((header >> 32) as usize & 0xff_ffff);
            offset = if is_skip { 0 } else { (offset + bytes) & (capacity - 1) };
            header != 0
        })
    }

    /// Returns the number of messages in the ring, but at most `most`. Does not check the headers that it counts.
    pub(crate) fn unread(&self, most: usize) -> usize {
        let (capacity, mut offset) = (self.lane.capacity(), self.offset());
        let (mut walked, mut found) = (0, 0);
        while found < most && walked < capacity {
            let header = self.lane.load_header(offset);
            if header == 0 {
                break;
            }
            let kind = header >> 56;
            let is_skip = kind == Kind::Skip as u64;
            let bytes =
                if is_skip { capacity - offset } else { record_bytes((header >> 32) as usize & 0xff_ffff) };
            found += usize::from(kind == Kind::Whole as u64 || kind == Kind::First as u64);
            walked += bytes;
            offset = (offset + bytes) & (capacity - 1);
        }
        found
    }

    /// The same again and again: where a record as the last one is expected, with the rest of it, so that its lines travel
    /// together with that of its header, and not one after the other.
    #[inline(always)]
    pub(crate) fn awaits_header(&self) -> bool {
        if self.usual.len <= FETCHED_BYTES {
            self.lane.prefetch_behind_first_line(self.offset(), HEADER_BYTES + self.usual.len);
        }
        self.has_header()
    }

    /// The next record, if there is one.
    #[inline(always)]
    pub(crate) fn look(&mut self) -> Result<Option<Record>> {
        let offset = self.offset();
        let header = self.lane.load_header(offset);
        let len = self.usual.len;
        if header == self.usual.header && len <= self.lane.capacity() - offset - HEADER_BYTES {
            return Ok(Some(Record { kind: Kind::Whole, len, message: len, offset }));
        }
        if header == 0 && !self.broken { Ok(None) } else { self.check(offset, header) }
    }

    /// The record whose header was seen.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Result<Record> {
        match self.look()? {
            Some(record) => Ok(record),
            None => Err(self.fail("a header went away")),
        }
    }

    #[cold]
    fn fail(&mut self, why: &'static str) -> Error {
        self.broken = true;
        // A header as before would be a message without a look at `broken`.
        self.usual = Usual::NONE;
        Error::Corrupt(why)
    }

    /// What a header says, if it can be.
    #[inline(never)]
    fn check(&mut self, offset: usize, header: u64) -> Result<Option<Record>> {
        let (len, message) = ((header >> 32) as usize & 0xff_ffff, header as u32 as usize);
        let room = self.lane.capacity() - offset - HEADER_BYTES;
        let fits = len <= room && len <= longest_record(self.lane.capacity());
        let is_whole = header >> 56 == Kind::Whole as u64 && self.expected == 0 && len == message;
        if is_whole && fits && message <= self.longest_message && !self.broken {
            self.usual = Usual { header, len };
            return Ok(Some(Record { kind: Kind::Whole, len, message, offset }));
        }
        self.usual = Usual::NONE;
        self.check_part(header, Record { kind: Kind::First, len, message, offset }, fits)
    }

    /// The same for what is no whole message.
    #[cold]
    fn check_part(&mut self, header: u64, record: Record, fits: bool) -> Result<Option<Record>> {
        let Record { len, message, offset, .. } = record;
        let is = |kind: Kind| header >> 56 == kind as u64 && !self.broken;
        let least = LEAST_PART_BYTES.min(longest_record(self.lane.capacity()));
        let is_part = fits && (len >= least || len == message && len > 0);
        let begins = is_part && self.expected == 0 && len < message && message <= self.longest_message;
        let goes_on = is_part && len <= message && message == self.expected;
        if is(Kind::First) && begins {
            return Ok(Some(record));
        }
        if is(Kind::Rest) && goes_on {
            return Ok(Some(Record { kind: Kind::Rest, ..record }));
        }
        if is(Kind::Abort) && self.expected > 0 && len == 0 && message == 0 {
            return Ok(Some(Record { kind: Kind::Abort, ..record }));
        }
        // A place at the beginning always is long enough, so this comes once at most.
        if is(Kind::Skip) && offset > 0 && len == 0 && message == self.lane.capacity() - offset {
            self.position = self.position.wrapping_add(message as u64);
            return self.look();
        }
        Err(self.fail("a header has an impossible value"))
    }

    /// Copies the beginning of a record out, as much as the buffer has room for.
    #[inline(always)]
    pub(crate) fn copy_out(&self, record: &Record, buffer: &mut [u8]) {
        let len = record.len.min(buffer.len());
        self.lane.copy_out(record.offset + HEADER_BYTES, &mut buffer[..len]);
    }

    /// The bytes of a record that was not passed yet where they lie.
    #[inline(always)]
    pub(crate) fn in_place(&self, promise: Promise, record: &Record) -> &[u8] {
        self.lane.in_place(promise, record.offset + HEADER_BYTES, record.len)
    }

    /// Goes on behind a record. Its room is given back now or later.
    #[inline(always)]
    pub(crate) fn pass(&mut self, record: &Record) {
        self.expected = record.message - record.len;
        self.position = self.position.wrapping_add(record_bytes(record.len) as u64);
    }

    /// Gives back the room of what was passed, if that is much; says whether it did.
    #[inline(always)]
    pub(crate) fn release_much(&mut self) -> bool {
        let passed = self.position.wrapping_sub(self.released) as usize;
        passed >= self.lane.capacity() / RELEASES && self.release()
    }

    /// Gives back the room of what was passed, if there is any; says whether it did.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const CAPACITY: usize = 4096;
    const LONGEST: usize = 10_000;

    fn ring(start: u64) -> (Producer, Consumer, Lane) {
        let [lane, _] = Lane::private(CAPACITY);
        let (consumer, shared) = (lane.again(), lane.again());
        (Producer::new(lane, start), Consumer::new(consumer, start, LONGEST), shared)
    }

    /// Where positions begin: also so that they pass the ends of 32 and of 64 bits.
    fn starts() -> impl Strategy<Value = u64> {
        let near = |end: u64| (0..2 * CAPACITY as u64 / 8).prop_map(move |back| end.wrapping_sub(8 * back));
        prop_oneof![Just(0), near(1 << 32), near(0)]
    }

    /// What one of the ends does next.
    #[derive(Debug, Clone)]
    enum Step {
        /// Sends messages of these lengths, which become visible together.
        Send(Vec<usize>),
        /// Sends the parts of a message, and gives it up before the last one or not.
        SendParts { parts: Vec<usize>, gives_up: bool },
        /// Receives so many records.
        Receive(usize),
        /// Tells the sender how far it is.
        Release,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let len = || prop_oneof![0..64usize, 0..=longest_record(CAPACITY)];
        let parts = proptest::collection::vec(LEAST_PART_BYTES..=longest_record(CAPACITY), 2..5);
        let step = prop_oneof![
            3 => proptest::collection::vec(len(), 1..4).prop_map(Step::Send),
            1 => (parts, any::<bool>()).prop_map(|(parts, gives_up)| Step::SendParts { parts, gives_up }),
            6 => (1..6usize).prop_map(Step::Receive),
            1 => Just(Step::Release),
        ];
        proptest::collection::vec(step, 1..200)
    }

    fn content(len: usize, seed: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 31 + seed * 7 + at / 256) as u8).collect()
    }

    fn put(producer: &mut Producer, bytes: &[u8], kind: Kind, message: usize) -> bool {
        let Some(place) = producer.place(bytes.len()).unwrap() else { return false };
        producer.fill(place, bytes);
        producer.stage(place, kind, message);
        true
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Whatever is sent arrives in order, whole and once, and what is given up does not.
        #[test]
        fn a_ring_is_a_queue_of_records(start in starts(), steps in steps()) {
            let (mut producer, mut consumer, _) = ring(start);
            let mut model: VecDeque<(Kind, usize, Vec<u8>)> = VecDeque::new();
            let mut number = 0;
            for step in steps {
                match step {
                    Step::Send(lengths) => {
                        for len in lengths {
                            let bytes = content(len, number);
                            if !put(&mut producer, &bytes, Kind::Whole, len) { break }
                            model.push_back((Kind::Whole, len, bytes));
                            number += 1;
                        }
                        producer.publish();
                    }
                    Step::SendParts { parts, gives_up } => {
                        let mut rest: usize = parts.iter().sum();
                        let mut kind = Kind::First;
                        for (at, len) in parts.iter().enumerate() {
                            let bytes = content(*len, number);
                            let is_last = at + 1 == parts.len();
                            if rest > LONGEST { break }
                            if (is_last && gives_up) || !put(&mut producer, &bytes, kind, rest) {
                                if kind == Kind::Rest {
                                    producer.abort();
                                    model.push_back((Kind::Abort, 0, Vec::new()));
                                }
                                break;
                            }
                            producer.publish();
                            model.push_back((kind, rest, bytes));
                            (kind, rest, number) = (Kind::Rest, rest - len, number + 1);
                        }
                    }
                    Step::Receive(count) => for _ in 0..count {
                        let Some(record) = consumer.look().unwrap() else {
                            prop_assert!(model.is_empty(), "{:?} is missing", model.front());
                            break;
                        };
                        let mut bytes = vec![0; record.len];
                        consumer.copy_out(&record, &mut bytes);
                        prop_assert_eq!(Some((record.kind, record.message, bytes)), model.pop_front());
                        consumer.pass(&record);
                        consumer.release_much();
                    },
                    Step::Release => _ = consumer.release(),
                }
            }
        }

        /// Any header whatsoever is a record inside the ring, or an error, and after an error it stays one.
        #[test]
        fn what_the_sender_writes_is_checked(
            start in 0..CAPACITY as u64 / 8,
            headers in proptest::collection::vec(any_header(), 1..20),
        ) {
            let (_, mut consumer, shared) = ring(8 * start);
            let mut is_broken = false;
            for header in headers {
                let offset = consumer.offset();
                shared.publish_header(offset, header);
                match consumer.look() {
                    Ok(Some(record)) => {
                        prop_assert!(!is_broken && record.offset + HEADER_BYTES + record.len <= CAPACITY);
                        prop_assert!(record.message <= LONGEST && record.len <= record.message);
                        let mut bytes = vec![0; record.len];
                        consumer.copy_out(&record, &mut bytes);
                        consumer.pass(&record);
                    }
                    Ok(None) => prop_assert!(!is_broken),
                    Err(_) => is_broken = true,
                }
            }
        }

        /// Any position whatsoever leaves the sender with no more room than there is.
        #[test]
        fn what_the_receiver_writes_is_checked(reads in proptest::collection::vec(any_position(), 1..20)) {
            let (mut producer, _, shared) = ring(0);
            let mut is_broken = false;
            for read in reads {
                shared.publish_read(read);
                loop {
                    match producer.place(500) {
                        Ok(None) => break,
                        Ok(Some(place)) => {
                            prop_assert!(!is_broken);
                            producer.fill(place, &[1; 500]);
                            producer.stage_whole(place);
                            producer.publish();
                        }
                        Err(_) => {
                            is_broken = true;
                            break;
                        }
                    }
                }
                prop_assert!(producer.written.wrapping_sub(producer.read) <= CAPACITY as u64);
            }
        }
    }

    /// Headers that are none, and such as are nearly right.
    fn any_header() -> impl Strategy<Value = u64> {
        let kind = prop_oneof![0..7u64, any::<u64>()];
        let len = prop_oneof![0..2000u64, any::<u64>()];
        let message = prop_oneof![0..5000u64, any::<u64>()];
        let near = (kind, len, message, any::<bool>()).prop_map(|(kind, len, message, is_whole)| {
            let message = if is_whole { len } else { message };
            kind << 56 | (len & 0xff_ffff) << 32 | (message & 0xffff_ffff)
        });
        prop_oneof![near, any::<u64>()]
    }

    fn any_position() -> impl Strategy<Value = u64> {
        prop_oneof![0..20_000u64, any::<u64>(), (0..100u64).prop_map(|back| 0u64.wrapping_sub(back))]
    }

    /// The same header once more is a message only where one may begin, and where there is room for it.
    #[test]
    fn a_header_as_before_is_checked_as_the_first_one() {
        let whole = header(Kind::Whole, 600, 600);
        let next = |consumer: &mut Consumer, shared: &Lane, header: u64| {
            shared.publish_header(consumer.offset(), header);
            let record = consumer.take()?;
            consumer.pass(&record);
            Ok(record.len)
        };
        let seen_once = || {
            let (_, mut consumer, shared) = ring(0);
            let len: Result<usize> = next(&mut consumer, &shared, whole);
            assert_eq!(len.unwrap(), 600);
            (consumer, shared)
        };
        let (mut consumer, shared) = seen_once();
        let fit = CAPACITY / record_bytes(600);
        assert!((1..fit).all(|_| next(&mut consumer, &shared, whole).unwrap() == 600));
        assert!(next(&mut consumer, &shared, whole).is_err(), "beyond the end");
        assert!(next(&mut consumer, &shared, whole).is_err(), "after an error");
        let (mut consumer, shared) = seen_once();
        assert_eq!(next(&mut consumer, &shared, header(Kind::First, 512, 1112)).unwrap(), 512);
        assert!(next(&mut consumer, &shared, whole).is_err(), "within a message");
        let (mut consumer, shared) = seen_once();
        shared.publish_header(consumer.offset(), 0);
        assert!(consumer.take().is_err() && consumer.has_header(), "went away");
        assert!(next(&mut consumer, &shared, whole).is_err(), "after it went away");
    }

    #[test]
    fn a_ring_holds_as_many_as_it_says() {
        for len in [0, 1, 8, 100, 500, longest_record(CAPACITY), 1500, 5000] {
            for start in (0..CAPACITY as u64).step_by(if cfg!(miri) { 2056 } else { 104 }) {
                let (mut producer, mut consumer, _) = ring(start);
                // The receiver may have read much that it has not told yet.
                while consumer.position - start < (CAPACITY / RELEASES - 8) as u64 {
                    assert!(put(&mut producer, &[], Kind::Whole, 0));
                    producer.publish();
                    let record = consumer.look().unwrap().unwrap();
                    consumer.pass(&record);
                    assert!(!consumer.release_much());
                }
                for sent in 0..depth(CAPACITY, len) {
                    let part = producer.undivided();
                    let mut rest = len;
                    while rest > 0 || len == 0 {
                        let this = rest.min(part);
                        let kind = if rest == len { Kind::First } else { Kind::Rest };
                        assert!(put(&mut producer, &vec![0; this], kind, rest), "{sent} of {len} bytes");
                        producer.publish();
                        rest -= this;
                        if len == 0 {
                            break;
                        }
                    }
                }
            }
        }
        assert!(depth(CAPACITY, 8) > 100 && depth(CAPACITY, 5000) == 0);
    }

    #[test]
    fn a_message_goes_at_once_if_it_is_not_longer_than_is_said() {
        for start in (0..CAPACITY as u64).step_by(if cfg!(miri) { 1032 } else { 8 }) {
            let (mut producer, _, _) = ring(start);
            let (len, part) = (producer.longest_at_once(), producer.longest_record());
            assert!(len > part && producer.has_room_for_parts(len, part).unwrap());
            let mut rest = len;
            while rest > 0 {
                let this = rest.min(part);
                assert!(put(&mut producer, &vec![0; this], Kind::First, rest), "from {start}");
                producer.publish();
                rest -= this;
            }
        }
    }

    /// What one thread writes another one reads, several times round the ring: for miri and ThreadSanitizer, to which a byte
    /// that is not ordered is an error.
    #[test]
    fn two_threads_see_what_was_written() {
        const COUNT: usize = if cfg!(miri) { 12 } else { 10_000 };
        let lengths = || (0..COUNT).map(|number| [900, 0, 17, 1016][number % 4]);
        let (mut producer, mut consumer, _) = ring(0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for (number, len) in lengths().enumerate() {
                    let bytes = content(len, number);
                    if number % 2 == 0 && producer.send_at_once(&bytes) {
                        continue;
                    }
                    while !put(&mut producer, &bytes, Kind::Whole, len) {
                        std::thread::yield_now();
                    }
                    producer.publish();
                }
            });
            for (number, len) in lengths().enumerate() {
                while !consumer.has_header() {
                    std::thread::yield_now();
                }
                let record = consumer.take().unwrap();
                let mut bytes = vec![0; len];
                consumer.copy_out(&record, &mut bytes);
                assert_eq!((record.len, bytes), (len, content(len, number)));
                consumer.pass(&record);
                consumer.release_much();
            }
        });
    }

    #[test]
    fn records_are_counted_up_to_the_last_one_published() {
        let (mut producer, mut consumer, _) = ring(CAPACITY as u64 - 64);
        for (sent, len) in [10, 100, 0, 900].into_iter().enumerate() {
            // The second message is behind a record that skips the end of the ring.
            let records = sent + usize::from(sent > 1);
            assert!(!consumer.has_records(records + 1));
            assert!(put(&mut producer, &content(len, len), Kind::Whole, len));
            producer.publish();
            assert!(consumer.has_records(records + 1));
        }
        while let Some(record) = consumer.look().unwrap() {
            consumer.pass(&record);
        }
        assert!(!consumer.has_records(1));
    }

    #[test]
    fn parts_are_small_only_if_the_receiver_waits_for_them() {
        let [lane, _] = Lane::private(1 << 20);
        let mut producer = Producer::new(lane, 0);
        assert_eq!(producer.part_bytes(false).unwrap(), PART_BYTES);
        assert_eq!(producer.part_bytes(true).unwrap(), STREAM_PART_BYTES);
        while producer.written <= (1 << 20) / RELEASES as u64 + PART_BYTES as u64 {
            assert!(put(&mut producer, &[0; PART_BYTES], Kind::Whole, PART_BYTES));
        }
        assert_eq!(producer.part_bytes(false).unwrap(), STREAM_PART_BYTES);
    }

    #[test]
    fn a_batch_becomes_visible_together() {
        let (mut producer, mut consumer, _) = ring(8);
        for len in [10, 900, 900, 900] {
            assert!(put(&mut producer, &content(len, len), Kind::Whole, len));
            assert_eq!(consumer.look().unwrap(), None);
        }
        producer.publish();
        for len in [10, 900, 900, 900] {
            let record = consumer.look().unwrap().unwrap();
            assert_eq!(record.len, len);
            consumer.pass(&record);
        }
    }
}

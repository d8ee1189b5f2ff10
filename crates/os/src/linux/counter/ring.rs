//! The ring into which the kernel writes records of several kinds.

use super::perf_event::Event;
use crate::linux::memory::{Region, page_bytes};
use std::io;
use std::sync::atomic::Ordering;

/// Offsets in the first page of the map, which the kernel and this process write.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Kinds of records in the ring.
pub(super) const RECORD_LOST: u32 = 2;
pub(super) const RECORD_EXIT: u32 = 4;
pub(super) const RECORD_FORK: u32 = 7;
pub(super) const RECORD_SAMPLE: u32 = 9;
pub(super) const RECORD_LOST_SAMPLES: u32 = 13;
pub(super) const RECORD_SWITCH: u32 = 14;
/// Context switch in an event without a thread: the other thread precedes the fields of `RECORD_SWITCH`.
pub(super) const RECORD_SWITCH_CPU_WIDE: u32 = 15;

/// Size of the smallest ring that is tried if the kernel allows no larger one, in bytes.
pub(super) const LEAST_RING_BYTES: usize = 64 << 10;

/// Size in bytes of the data of one entered system call: the common fields of all events (8), the call's number (8), its six
/// arguments (48), and padding (4). This has not changed since Linux 2.6.33.
pub(super) const ENTER_BYTES: u32 = 68;

/// The ring of one event, with the page before it.
#[derive(Debug)]
pub(super) struct Ring {
    /// The first page, followed by the ring.
    map: Region,
    page_bytes: u64,
    pub(super) bytes: u64,
}

/// A record of the ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    ring: &'a Ring,
    at: u64,
    pub(super) kind: u32,
    /// Flags of the kind (`PERF_RECORD_MISC_*`).
    pub(super) flags: u32,
    pub(super) bytes: u32,
}

impl Ring {
    /// Maps a ring of `bytes`, a power of two, for `event`.
    pub(super) fn of(event: &Event, bytes: usize) -> io::Result<Ring> {
        let map = Region::from_device(event.descriptor(), page_bytes() + bytes)?;
        Ok(Ring { map, page_bytes: page_bytes() as u64, bytes: bytes as u64 })
    }

    /// Removes all records, and passes them to `each` in order. After an error of `each`, it drops the others.
    ///
    /// # Errors
    /// Returns `InvalidData` if a record does not have the expected length, and the error of `each`.
    #[inline]
    pub(super) fn drain(&self, mut each: impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut tail = self.map.double_word(TAIL).load(Ordering::Relaxed);
        // Acquire: the records that the kernel wrote before it moved the head are visible after this load.
        let head = self.map.double_word(HEAD).load(Ordering::Acquire);
        let mut result = Ok(());
        while tail != head {
            match self.record(tail, head).and_then(|record| each(record).map(|()| record.bytes)) {
                Ok(bytes) => tail += u64::from(bytes),
                Err(error) => {
                    // The following records cannot be parsed either.
                    tail = head;
                    result = Err(error);
                }
            }
        }
        // Release: the kernel reuses the space only after the reads above.
        self.map.double_word(TAIL).store(tail, Ordering::Release);
        result
    }

    /// Returns the record at `at`.
    #[inline]
    fn record(&self, at: u64, head: u64) -> io::Result<Record<'_>> {
        let header = self.word(at);
        // The header: kind (4 bytes), flags (2), length (2).
        let (kind, flags, bytes) = (low(header), high(header) & 0xffff, high(header) >> 16);
        let least = match kind {
            RECORD_FORK | RECORD_EXIT | RECORD_SAMPLE | RECORD_SWITCH_CPU_WIDE => 32,
            RECORD_LOST | RECORD_SWITCH => 24,
            RECORD_LOST_SAMPLES => 16,
            _ => 8,
        };
        if bytes < least || !bytes.is_multiple_of(8) || u64::from(bytes) > head.wrapping_sub(at) {
            return Err(unexpected(format!("a record of kind {kind} has {bytes} bytes")));
        }
        Ok(Record { ring: self, at, kind, flags, bytes })
    }

    /// Returns the 8 bytes at `at`, counted from the ring's first use. Records and the end of the ring are at multiples of 8: a
    /// record may continue at the start of the ring, a word never does.
    #[inline]
    fn word(&self, at: u64) -> u64 {
        let offset = self.page_bytes + (at & (self.bytes - 1));
        self.map.double_word(offset as usize).load(Ordering::Relaxed)
    }
}

impl Record<'_> {
    /// Returns the word with this index; that with index 0 is the header. Behind the end of the record, it belongs to another
    /// record.
    #[inline]
    pub(super) fn word(&self, index: u64) -> u64 {
        self.ring.word(self.at + index * 8)
    }

    /// Returns length in bytes and event of the data of a tracepoint, whose length (4 bytes) begins at the word with this index.
    #[inline]
    pub(super) fn data_head(&self, index: u64) -> (u32, u16) {
        let first = self.word(index);
        (low(first), high(first) as u16)
    }

    /// Returns a word of these data, the number `number`. Because the length before the data has 4 bytes, its halves are in two words
    /// of the record.
    #[inline]
    pub(super) fn data_word(&self, index: u64, number: u64) -> u64 {
        u64::from(high(self.word(index + number))) | self.word(index + number + 1) << 32
    }

    /// Returns the number of samples whose loss the record reports, if it reports one.
    #[inline]
    pub(super) fn lost(&self) -> Option<u64> {
        match self.kind {
            RECORD_LOST => Some(self.word(2)),
            RECORD_LOST_SAMPLES => Some(self.word(1)),
            _ => None,
        }
    }
}

/// Returns the four bytes of a word that come first in memory, on the little-endian machines that furlong runs on.
#[inline]
pub(super) fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the four bytes of a word that come last in memory.
#[inline]
pub(super) fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

pub(super) fn unexpected(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the log of system calls: {what}"))
}

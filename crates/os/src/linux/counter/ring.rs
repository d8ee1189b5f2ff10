//! The ring into which the kernel writes the logged system calls, as records of several kinds.

use super::perf_event::Event;
use crate::linux::memory::{Region, page_bytes};
use std::io;
use std::sync::atomic::Ordering;

/// Offsets in the first page of the map, which the kernel and this process write.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Kinds of records in the ring.
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
const RECORD_LOST_SAMPLES: u32 = 13;

/// Size in bytes of the data of one entered system call: the common fields of all events (8), the call's number (8), its six
/// arguments (48), and padding (4). This has not changed since Linux 2.6.33.
const CALL_BYTES: u32 = 68;

/// The ring of one event, with the page before it.
#[derive(Debug)]
pub(super) struct Ring {
    /// The first page, followed by the ring.
    map: Region,
    pub(super) bytes: u64,
    /// ID of the event to which every sample must belong.
    event_id: u64,
}

/// A record of the ring.
#[derive(Debug)]
pub(super) enum Record {
    Call(i64),
    Lost(u64),
    Other,
}
impl Ring {
    /// Maps a ring of `bytes`, a power of two, for `event`, whose samples contain `event_id`.
    pub(super) fn of(event: &Event, event_id: u64, bytes: usize) -> io::Result<Ring> {
        let map = Region::from_device(event.descriptor(), page_bytes() + bytes)?;
        Ok(Ring { map, bytes: bytes as u64, event_id })
    }

    /// Removes all records, and passes them to `each` in order.
    ///
    /// # Errors
    /// Returns `InvalidData` if a record does not have the expected form.
    pub(super) fn drain(&self, mut each: impl FnMut(Record)) -> io::Result<()> {
        let mut tail = self.map.double_word(TAIL).load(Ordering::Relaxed);
        // Acquire: the records that the kernel wrote before it moved the head are visible after this load.
        let head = self.map.double_word(HEAD).load(Ordering::Acquire);
        let mut result = Ok(());
        while tail != head {
            match self.record(tail, head) {
                Ok((record, bytes)) => {
                    each(record);
                    tail += bytes;
                }
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

    /// Returns the record at `at`, and its length in bytes.
    fn record(&self, at: u64, head: u64) -> io::Result<(Record, u64)> {
        let header = self.word(at);
        // The header: kind (4 bytes), flags (2), length (2).
        let (kind, bytes) = (low(header), high(header) >> 16);
        let least = match kind {
            RECORD_SAMPLE => 8 + 4 + CALL_BYTES,
            RECORD_LOST => 24,
            RECORD_LOST_SAMPLES => 16,
            _ => 8,
        };
        if bytes < least || !bytes.is_multiple_of(8) || u64::from(bytes) > head.wrapping_sub(at) {
            return Err(strange(format!("a record of kind {kind} has {bytes} bytes")));
        }
        let record = match kind {
            RECORD_SAMPLE => {
                // The length of the event's data (4 bytes), and the event's number (2).
                let (first, event) = (self.word(at + 8), self.event_id as u32 as u16);
                if low(first) != CALL_BYTES || high(first) as u16 != event {
                    let (event, bytes) = (high(first) as u16, low(first));
                    return Err(strange(format!("a sample is of event {event} and has {bytes} bytes")));
                }
                // The call's number begins 8 bytes into the data. Its halves are in two words, because the length before the data
                // has 4 bytes.
                Record::Call((u64::from(high(self.word(at + 16))) | self.word(at + 24) << 32) as i64)
            }
            RECORD_LOST => Record::Lost(self.word(at + 16)),
            RECORD_LOST_SAMPLES => Record::Lost(self.word(at + 8)),
            _ => Record::Other,
        };
        Ok((record, u64::from(bytes)))
    }

    /// Returns the 8 bytes at `at`, counted from the ring's first use. Records and the end of the ring are at multiples of 8: a
    /// record may continue at the start of the ring, a word never does.
    fn word(&self, at: u64) -> u64 {
        let offset = page_bytes() + (at & (self.bytes - 1)) as usize;
        self.map.double_word(offset).load(Ordering::Relaxed)
    }
}

/// Returns the four bytes of a word that come first in memory, on the little-endian machines that furlong runs on.
fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the four bytes of a word that come last in memory.
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

fn strange(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the log of system calls: {what}"))
}

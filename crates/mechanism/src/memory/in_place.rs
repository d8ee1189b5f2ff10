//! Messages that are written and read in place, in memory that both processes map.
//!
//! The loop prepares the stamps of a message (its first and last 8 bytes) in a buffer and checks them in another one. The bytes
//! between them are made here: each word repeats the first one, which no other message has. So a receiver that reads the bytes
//! detects remains of another message. In the verified pass every byte is copied out of the first buffer and into the second.

use crate::Message;
use furlong_model::Access;
use std::fmt;
use std::io;

/// Bytes of a stamp.
pub(crate) const STAMP_BYTES: usize = 8;

/// Minimum size of a message that is accessed in place. Shorter messages are stamps and little else, and are copied in
/// registers.
const SHORTEST_BYTES: usize = 3 * STAMP_BYTES;

/// The first and the last bytes of a message.
pub(crate) type Stamps = [[u8; STAMP_BYTES]; 2];

/// The destination of a message.
pub(crate) trait ToWrite {
    /// Copies a message in.
    fn write(self, message: &[u8]);

    /// Writes the stamps of a message of `len` bytes and, if `and_between` is set, the bytes between them.
    fn make(self, len: usize, stamps: Stamps, and_between: bool);
}

/// The location of a message.
pub(crate) trait ToRead {
    /// Copies the beginning of the message out.
    fn read(self, buffer: &mut [u8]);

    /// Reads the stamps of a message of `len` bytes. Returns them, and whether the bytes between them are those that
    /// [`make`](ToWrite::make) wrote, if `and_between` is set.
    fn look(self, len: usize, and_between: bool) -> (Stamps, bool);
}

/// Error of a message whose bytes between the stamps are not those that were written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAsWritten;

impl fmt::Display for NotAsWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message that was read in place differs from the message that was written")
    }
}

impl std::error::Error for NotAsWritten {}

/// Writes a message to its destination.
#[inline(never)]
pub(crate) fn put(place: impl ToWrite, message: &Message, access: Access) {
    match stamps(message) {
        Some(stamps) if !message.every_byte_counts => {
            place.make(message.len(), stamps, access.is_of_every_byte());
        }
        _ => place.write(message),
    }
}

/// Reads a message of `len` bytes in place, and writes its stamps to `message`. If the message has another length than
/// expected, its beginning is copied.
#[inline(never)]
pub(crate) fn take(
    place: impl ToRead,
    len: usize,
    message: &mut Message,
    access: Access,
) -> io::Result<usize> {
    if message.every_byte_counts || len != message.len() || len < SHORTEST_BYTES {
        let room = len.min(message.len());
        place.read(&mut message[..room]);
        return Ok(len);
    }
    let ([first, last], is_as_written) = place.look(len, access.is_of_every_byte());
    message[..STAMP_BYTES].copy_from_slice(&first);
    message[len - STAMP_BYTES..].copy_from_slice(&last);
    if is_as_written { Ok(len) } else { Err(io::Error::other(NotAsWritten)) }
}

/// Returns the stamps of a message that is long enough for both and some bytes between them.
fn stamps(message: &[u8]) -> Option<Stamps> {
    let ends = message.first_chunk().zip(message.last_chunk());
    ends.filter(|_| message.len() >= SHORTEST_BYTES).map(|(first, last)| [*first, *last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::layout::lending::Slot;
    use furlong_os::memory::Region;
    use furlong_os::shared_place::{HalfLine, Stretch};
    use std::sync::Arc;

    const LONGEST: usize = 200;

    fn message(len: usize, number: u8) -> Message {
        let mut message = Message::new(len).unwrap();
        let last = len.saturating_sub(STAMP_BYTES);
        message[..len.min(STAMP_BYTES)].fill(number);
        message[last..].fill(!number);
        message
    }

    /// Writes a message of each length to a place and reads it again, unchanged and with each byte changed.
    fn goes_through<P: ToWrite + ToRead>(mut place: impl FnMut() -> P) {
        for len in 1..=LONGEST {
            let (sent, mut received) = (message(len, len as u8), Message::new(len).unwrap());
            put(place(), &message(len, 1), Access::InPlace);
            put(place(), &sent, Access::InPlace);
            assert_eq!(take(place(), len, &mut received, Access::InPlace).unwrap(), len);
            assert_eq!(stamps(&received), stamps(&sent), "{len} bytes");
            let mut made = vec![0; len];
            place().read(&mut made);
            for at in STAMP_BYTES..len.saturating_sub(STAMP_BYTES) {
                let mut changed = made.clone();
                changed[at] ^= 1;
                place().write(&changed);
                let found = take(place(), len, &mut received, Access::InPlace);
                assert_eq!(found.is_err(), len >= SHORTEST_BYTES, "byte {at} of {len}");
                assert!(take(place(), len, &mut received, Access::StampsInPlace).is_ok());
            }
        }
    }

    #[test]
    fn a_slot_says_which_byte_was_left_out() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        let (line, rest) = (HalfLine::new(&region, 0), Stretch::new(&region, 64, LONGEST));
        goes_through(|| Slot::new(&line.inline, &rest));
    }

    #[test]
    fn stamps_alone_leave_the_rest_as_it_was() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        let (line, rest) = (HalfLine::new(&region, 0), Stretch::new(&region, 64, LONGEST));
        let place = || Slot::new(&line.inline, &rest);
        put(place(), &message(100, 1), Access::InPlace);
        put(place(), &message(100, 2), Access::StampsInPlace);
        let mut made = vec![0; 100];
        ToRead::read(place(), &mut made);
        assert_eq!((made[7], made[8], made[91], made[92]), (2, 1, 1, !2));
    }

    #[test]
    fn where_every_byte_counts_it_is_copied() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        let (line, rest) = (HalfLine::new(&region, 0), Stretch::new(&region, 64, LONGEST));
        let place = || Slot::new(&line.inline, &rest);
        let (mut sent, mut received) = (message(100, 3), Message::new(100).unwrap());
        sent[50] = 77;
        for every_byte_counts in [true, false] {
            (sent.every_byte_counts, received.every_byte_counts) = (every_byte_counts, every_byte_counts);
            received.fill(0);
            put(place(), &sent, Access::InPlace);
            take(place(), 100, &mut received, Access::InPlace).unwrap();
            assert_eq!(received[50] == 77, every_byte_counts);
        }
    }
}

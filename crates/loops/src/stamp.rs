//! The stamps of messages: bytes that are written into each message and checked when it arrives.
//!
//! Every message begins with its number and a check word made of number and key, and ends with a word made of both. The key
//! belongs to the trial and the direction. So a lost, duplicated, reordered, truncated or foreign message is detected for a few
//! instructions. In the verified pass the bytes in between are also made of number and key, and each is compared. A message of
//! fewer than 8 bytes carries only the first bytes of its number and check word. A message of fewer than 16 bytes has no word
//! at its end. A message of no bytes carries no stamp.

use furlong_model::{Fault, Role};

/// Bytes of the number and the check word.
const HEAD: usize = 8;

/// Minimum size in bytes of a message with a word at its end.
const WITH_TAIL: usize = 16;

/// Maximum distance of a wrong number that counts as another message's number. A larger distance counts as damage.
const NEAR: u32 = 64;

/// Mixes 64 bits thoroughly (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
#[inline]
pub(crate) const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The stamp of one direction of one trial, which distinguishes its messages from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    key: u64,
}

/// Difference between a received message and the one that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discrepancy {
    /// Kind of fault.
    pub fault: Fault,
    /// Details of the fault.
    pub detail: String,
    /// Number in the message, if it is another message than the expected one.
    pub found: Option<u32>,
}

impl Stamp {
    /// Creates the stamp of a direction with this key.
    pub fn new(key: u64) -> Stamp {
        Stamp { key: mix(key) }
    }

    /// Creates the stamp of the messages that this role sends in a trial with this key. The directions have different stamps,
    /// so that a message that returns to its sender is detected.
    pub fn for_direction(key: u64, from: Role) -> Stamp {
        Stamp::new(if from == Role::Initiator { key } else { !key })
    }

    /// Returns the word that distinguishes the messages of this direction, for programs that write stamps themselves.
    pub fn word_of_direction(self) -> u64 {
        self.key
    }

    /// Returns the first 8 bytes: the number, and the number combined with the key. They are cheap to compute, because they are
    /// written and checked for every measured message.
    #[inline]
    fn head(self, sequence: u32) -> u64 {
        let number = u64::from(sequence);
        (number << 32 ^ self.key) & 0xffff_ffff_0000_0000 | number
    }

    /// Returns the last 8 bytes.
    #[inline]
    fn tail(self, sequence: u32) -> u64 {
        self.key.rotate_left(17) ^ u64::from(sequence)
    }

    /// Returns the word at `index` of the body.
    #[inline]
    fn word(self, sequence: u32, index: u64) -> u64 {
        mix(self.key.wrapping_add(u64::from(sequence) << 32) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Writes the first and the last word.
    #[inline]
    pub fn write(self, message: &mut [u8], sequence: u32) {
        let len = message.len();
        let head = self.head(sequence).to_le_bytes();
        if let Some((first, _)) = message.split_first_chunk_mut::<HEAD>() {
            *first = head;
        } else {
            message.copy_from_slice(&head[..len]);
        }
        if len >= WITH_TAIL
            && let Some((_, last)) = message.split_last_chunk_mut::<8>()
        {
            *last = self.tail(sequence).to_le_bytes();
        }
    }

    /// Writes every byte.
    pub fn write_all(self, message: &mut [u8], sequence: u32) {
        for (index, chunk) in message.chunks_mut(8).enumerate() {
            let word = self.word(sequence, index as u64).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        self.write(message, sequence);
    }

    /// Returns whether the length and the first and last words are those of the message with this number. `received` is the
    /// number of bytes that arrived.
    #[inline]
    pub fn holds(self, message: &[u8], received: usize, sequence: u32) -> bool {
        let len = message.len();
        let head = self.head(sequence).to_le_bytes();
        let head_holds = match message.split_first_chunk::<HEAD>() {
            Some((first, _)) => *first == head,
            None => *message == head[..len],
        };
        let tail_holds =
            len < WITH_TAIL || message.last_chunk::<8>() == Some(&self.tail(sequence).to_le_bytes());
        received == len && head_holds && tail_holds
    }

    /// Returns the number in a message of 8 bytes or more, if its check word is that of this direction.
    #[inline]
    pub fn claimed(self, message: &[u8]) -> Option<u32> {
        let head = u64::from_le_bytes(*message.first_chunk::<HEAD>()?);
        let number = head as u32;
        (self.head(number) == head).then_some(number)
    }

    /// Checks every byte.
    pub fn check_all(self, message: &[u8], received: usize, sequence: u32) -> Result<(), Discrepancy> {
        if !self.holds(message, received, sequence) {
            return Err(self.explain(message, received, sequence));
        }
        let end = if message.len() >= WITH_TAIL { message.len() - 8 } else { message.len() };
        for (index, chunk) in message[..end].chunks(8).enumerate().skip(1) {
            let word = self.word(sequence, index as u64).to_le_bytes();
            if *chunk != word[..chunk.len()] {
                let within = chunk.iter().zip(word).take_while(|(found, sent)| **found == *sent).count();
                return Err(flipped(sequence, index * 8 + within));
            }
        }
        Ok(())
    }

    /// Determines the fault of a message that is not the expected one.
    #[cold]
    pub fn explain(self, message: &[u8], received: usize, sequence: u32) -> Discrepancy {
        let len = message.len();
        if received != len {
            let detail = format!("message {sequence} has {received} bytes instead of {len}");
            return Discrepancy { fault: Fault::Truncated, detail, found: None };
        }
        match self.number_of(message, sequence) {
            Some(found) if found != sequence => {
                let (fault, detail) = if found > sequence {
                    (Fault::Lost, format!("message {found} arrived instead of {sequence}, which was lost"))
                } else {
                    (Fault::Repeated, format!("message {found} arrived again instead of {sequence}"))
                };
                Discrepancy { fault, detail, found: Some(found) }
            }
            _ => {
                let mut sent = message.to_vec();
                self.write(&mut sent, sequence);
                flipped(sequence, message.iter().zip(&sent).take_while(|(found, sent)| found == sent).count())
            }
        }
    }

    /// Returns the number of the message, if it is an undamaged message with a number near `sequence`.
    fn number_of(self, message: &[u8], sequence: u32) -> Option<u32> {
        let near = sequence.saturating_sub(NEAR)..=sequence.saturating_add(NEAR);
        let whole = |number: &u32| {
            let head = self.head(*number).to_le_bytes();
            let head_bytes = message.len().min(HEAD);
            message[..head_bytes] == head[..head_bytes]
        };
        // The nearest numbers come first, because the few bytes of a tiny message match many numbers.
        let mut numbers: Vec<u32> = near.collect();
        numbers.sort_by_key(|number| number.abs_diff(sequence));
        numbers.into_iter().find(whole)
    }
}

fn flipped(sequence: u32, at: usize) -> Discrepancy {
    let detail = format!("message {sequence} differs from the sent message, first at byte {at}");
    Discrepancy { fault: Fault::Flipped, detail, found: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 13] = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 128, 4097];

    fn message(len: usize, sequence: u32) -> Vec<u8> {
        let mut message = vec![0; len];
        Stamp::new(42).write_all(&mut message, sequence);
        message
    }

    fn fault(message: &[u8], received: usize, sequence: u32) -> Option<Fault> {
        Stamp::new(42).check_all(message, received, sequence).err().map(|found| found.fault)
    }

    #[test]
    fn what_was_sent_passes() {
        for len in SIZES {
            assert_eq!(fault(&message(len, 1000), len, 1000), None, "{len} bytes");
        }
    }

    #[test]
    fn any_flipped_byte_is_found() {
        for len in SIZES {
            for at in 0..len {
                let mut message = message(len, 1000);
                message[at] ^= 0x80;
                // In a tiny message a damaged number may equal another message's number.
                assert!(fault(&message, len, 1000).is_some(), "byte {at} of {len}");
                if len >= 8 {
                    assert_eq!(fault(&message, len, 1000), Some(Fault::Flipped), "byte {at} of {len}");
                }
            }
        }
    }

    #[test]
    fn other_messages_are_told_from_damage() {
        for len in SIZES.into_iter().filter(|len| *len > 0) {
            assert_eq!(fault(&message(len, 1001), len, 1000), Some(Fault::Lost), "{len} bytes");
            assert_eq!(fault(&message(len, 999), len, 1000), Some(Fault::Repeated), "{len} bytes");
        }
    }

    #[test]
    fn another_length_is_found() {
        for len in SIZES.into_iter().filter(|len| *len > 0) {
            assert_eq!(fault(&message(len, 1000), len - 1, 1000), Some(Fault::Truncated), "{len} bytes");
        }
    }

    #[test]
    fn another_trial_is_found() {
        for len in SIZES.into_iter().filter(|len| *len >= 8) {
            let mut message = vec![0; len];
            Stamp::new(43).write_all(&mut message, 1000);
            assert!(fault(&message, len, 1000).is_some(), "{len} bytes");
        }
    }
    /// Returns the test vectors of adapters in other languages, one per line.
    fn vectors() -> String {
        let mut lines = Vec::new();
        for (key, number) in [(42, 1), (42, 1000), (43, 0xffff_ffff), (43, (1_u64 << 32) + 2)] {
            for length in [1, 2, 4, 7, 8, 9, 15, 16, 17, 24, 128] {
                let stamp = Stamp::new(key);
                let mut message = vec![0; length];
                stamp.write_all(&mut message, number as u32);
                let bytes: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
                lines.push(format!(
                    r#"{{"stamp":"{:016x}","number":{number},"length":{length},"bytes":"{bytes}"}}"#,
                    stamp.key
                ));
            }
        }
        format!("[\n{}\n]\n", lines.join(",\n"))
    }

    #[test]
    fn the_vectors_of_adapters_are_what_is_sent() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/stamps.json");
        if std::env::var_os("FURLONG_WRITE_STAMPS").is_some() {
            std::fs::write(file, vectors()).unwrap();
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert!(written == vectors(), "FURLONG_WRITE_STAMPS=1 rewrites adapters/stamps.json");
    }
}

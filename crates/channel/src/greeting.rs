//! What a listener says first to who connects, so that both make their ends alike.

use crate::error::{Error, Result};
use crate::options::Options;

/// What a greeting begins with: the library, and the version of the protocol and of what lies where in the memory.
const MAGIC: [u8; 8] = *b"furlong\x01";

/// Bytes of a greeting: [`MAGIC`], capacity, longest message, start.
pub(crate) const BYTES: usize = 32;

/// The greeting of a listener with these options.
pub(crate) fn encode(options: &Options) -> [u8; BYTES] {
    let mut greeting = [0; BYTES];
    greeting[..8].copy_from_slice(&MAGIC);
    let numbers = [options.capacity as u64, options.longest as u64, options.start];
    for (number, place) in numbers.iter().zip(greeting[8..].chunks_exact_mut(8)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    greeting
}

/// The number that lies at `at` of what was received.
pub(crate) fn number(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

/// What the one who connected with `own` options makes its end with.
///
/// # Errors
/// `Corrupt` if it is no greeting of this version.
pub(crate) fn decode(greeting: &[u8; BYTES], own: &Options) -> Result<Options> {
    if greeting[..8] != MAGIC {
        return Err(Error::Corrupt("the greeting is not of this library, or of another version of it"));
    }
    let longest = number(greeting, 16).min(own.longest as u64);
    own.checked(number(greeting, 8), longest, number(greeting, 24))
}

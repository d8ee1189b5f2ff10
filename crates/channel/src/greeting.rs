//! What a listener says first to who connects, so that both make their ends alike.

use crate::error::{Error, Result};
use crate::options::Options;

/// What a greeting begins with: the library.
const MAGIC: [u8; 7] = *b"furlong";

/// The version of the wire format: of the greeting, of the protocol, and of the layout of the memory. Both ends must have
/// the same. Whoever changes one of these adds 1.
pub(crate) const VERSION: u8 = 1;

/// Bytes of a greeting: [`MAGIC`] and [`VERSION`], capacity, longest message, start.
pub(crate) const BYTES: usize = 32;

/// The greeting of a listener with these options.
pub(crate) fn encode(options: &Options) -> [u8; BYTES] {
    let mut greeting = [0; BYTES];
    greeting[..7].copy_from_slice(&MAGIC);
    greeting[7] = VERSION;
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
/// Returns `Corrupt` if it is not a greeting of this version, and `TooLarge` if it exceeds what `own` accepts.
pub(crate) fn decode(greeting: &[u8; BYTES], own: &Options) -> Result<Options> {
    if greeting[..7] != MAGIC {
        return Err(Error::Corrupt("the greeting is not of this library"));
    }
    if greeting[7] != VERSION {
        return Err(Error::Corrupt("the listener has another version of the wire format"));
    }
    own.checked(number(greeting, 8), number(greeting, 16), number(greeting, 24))
}

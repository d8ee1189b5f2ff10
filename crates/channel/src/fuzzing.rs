//! What the fuzzer (`fuzz/`) calls: the greeting of a listener.

use crate::greeting::{BYTES, decode, encode};
use crate::{Options, Result};

/// Reads a greeting as one who connects with the usual options, and checks that what was accepted is what was written.
pub fn greeting(bytes: &[u8]) -> Result<()> {
    let mut greeting = [0; BYTES];
    let length = bytes.len().min(BYTES);
    greeting[..length].copy_from_slice(&bytes[..length]);
    let own = Options::default();
    let options = decode(&greeting, &own)?;
    assert_eq!(encode(&options), greeting);
    assert!(options.capacity <= own.capacity.max(own.accepted) && options.longest <= own.longest);
    Ok(())
}

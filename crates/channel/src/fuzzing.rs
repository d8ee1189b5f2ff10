//! What the fuzzer (`fuzz/`) calls: the greeting of a listener.

use crate::Options;
use crate::greeting::{BYTES, Offer, decode, encode};

/// Reads a greeting as one who connects with the usual options to each kind of channel, and checks that what was accepted is what was
/// written.
pub fn greeting(bytes: &[u8]) {
    let mut greeting = [0; BYTES];
    let length = bytes.len().min(BYTES);
    greeting[..length].copy_from_slice(&bytes[..length]);
    let own = Options::default();
    for offer in Offer::ALL {
        let Ok(options) = decode(&greeting, &own, offer) else { continue };
        assert_eq!(encode(&options, offer), greeting);
        assert!(options.capacity <= own.capacity.max(own.accepted) && options.longest <= own.longest);
    }
}

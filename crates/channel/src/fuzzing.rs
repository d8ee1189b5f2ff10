//! Entry points of the fuzzer (`fuzz/`): the greeting of a listener, and shared memory.

#[cfg(all(feature = "broadcast", feature = "inbox", target_os = "linux"))]
mod hostile_peers;

use crate::Options;
use crate::greeting::{BYTES, Offer, decode, encode};
#[cfg(all(feature = "broadcast", feature = "inbox", target_os = "linux"))]
pub use hostile_peers::{broadcast, inbox};

/// Reads a greeting as a client of each kind of channel with the default options. Checks that an accepted greeting is
/// equal to the written one.
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

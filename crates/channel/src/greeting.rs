//! The greeting that a listener sends first to a client, so that both create matching ends.

use crate::error::{Error, Result};
use crate::options::Options;

/// The first bytes of a greeting, which identify the library.
const MAGIC: [u8; 7] = *b"furlong";

/// The version of the wire format: of the greeting, the protocol and the memory layout. Both ends need the same
/// version. Add 1 with every change of one of these.
pub(crate) const VERSION: u8 = 1;

/// Bytes of a greeting: [`MAGIC`], [`VERSION`], capacity, longest message, start.
pub(crate) const BYTES: usize = 32;

/// The kind of channel that a listener offers. Its number is the highest byte of the capacity. This byte is 0 for a
/// channel with two directions, so a library that does not know the other kinds rejects them as impossible capacities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Both directions.
    Channel = 0,
    /// The direction in which the listener sends.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has only channels with two directions"))]
    FromListener = 1,
    /// The direction in which the listener receives.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has only channels with two directions"))]
    ToListener = 2,
    /// A ring with several receivers.
    #[cfg_attr(
        not(any(fuzzing, all(feature = "broadcast", target_os = "linux"))),
        expect(dead_code, reason = "a client that knows it reports it")
    )]
    Broadcast = 3,
    /// A ring with several receivers, whose sender never waits.
    #[cfg_attr(
        not(any(fuzzing, all(feature = "broadcast", target_os = "linux"))),
        expect(dead_code, reason = "a client that knows it reports it")
    )]
    Overwriting = 4,
}

const LAST_OFFER: u8 = 4;

#[cfg(fuzzing)]
impl Offer {
    pub(crate) const ALL: [Offer; LAST_OFFER as usize + 1] =
        [Offer::Channel, Offer::FromListener, Offer::ToListener, Offer::Broadcast, Offer::Overwriting];
}

/// Position of the number of an [`Offer`] in a greeting.
const OFFER_AT: usize = 15;

/// Returns the greeting of a listener that offers a channel with these options.
pub(crate) fn encode(options: &Options, offer: Offer) -> [u8; BYTES] {
    let mut greeting = [0; BYTES];
    greeting[..7].copy_from_slice(&MAGIC);
    greeting[7] = VERSION;
    let numbers = [options.capacity as u64, options.longest as u64, options.start];
    for (number, place) in numbers.iter().zip(greeting[8..].chunks_exact_mut(8)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    greeting[OFFER_AT] = offer as u8;
    greeting
}

/// Returns the number at byte `at` of a received message.
pub(crate) fn number(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

/// Returns the options of the end of a client that has connected with `own` options and expects a channel of the kind `wanted`.
///
/// # Errors
/// Returns `Corrupt` if the bytes are not a greeting of this version, `OtherKind` if the listener offers another kind
/// of channel, and `TooLarge` if the channel exceeds what `own` accepts.
pub(crate) fn decode(greeting: &[u8; BYTES], own: &Options, wanted: Offer) -> Result<Options> {
    if greeting[..7] != MAGIC {
        return Err(Error::Corrupt("the greeting is not from this library"));
    }
    if greeting[7] != VERSION {
        return Err(Error::Corrupt("the listener uses another version of the wire format"));
    }
    if greeting[OFFER_AT] != wanted as u8 {
        let is_known = greeting[OFFER_AT] <= LAST_OFFER;
        return Err(if is_known {
            Error::OtherKind
        } else {
            Error::Corrupt("the kind of channel is unknown")
        });
    }
    let mut greeting = *greeting;
    greeting[OFFER_AT] = 0;
    let greeting = &greeting;
    own.checked(number(greeting, 8), number(greeting, 16), number(greeting, 24))
}

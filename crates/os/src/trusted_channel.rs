//! An end of furlong's own library between two of furlong's own processes: messages are written and read where they lie.

use furlong_channel::{Channel, Trusted};

/// Takes the other process at its word. It is another role of the same run, which goes by the library as this one does.
pub fn trust(channel: Channel) -> Channel<Trusted> {
    // SAFETY: both ends are made by furlong's supervisor and handed to processes that are furlong and use this library.
    unsafe { channel.trust() }
}

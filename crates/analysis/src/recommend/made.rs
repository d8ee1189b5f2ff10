//! Promises and requests for tests.

use furlong_model::{
    Calls, Capabilities, Copies, Family, KernelBuffer, Lifetime, PeerDeath, Reach, Start, Wait, WhenFull,
};

/// A mechanism with nothing special about it: a pipe, more or less.
pub(crate) const fn capabilities() -> Capabilities {
    Capabilities {
        name: "made",
        summary: "made for a test",
        family: Family::Pipe,
        waits: &[Wait::Block],
        boundaries: false,
        fixed_size_bytes: None,
        calls: Calls::NONE,
        buffer: KernelBuffer::None,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Noticed,
        reach: Reach::Descriptor,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
    }
}

//! The mechanisms through which two processes can exchange messages: one file per mechanism, and one list of them all.
//!
//! Layer 2. A mechanism knows nothing of patterns, clocks or statistics. It never starts or pins processes, and never measures
//! times, prints or sleeps on its own. It sends a message, receives a message, and returns the descriptor to watch.
#![forbid(unsafe_code)]

mod contract;
mod datagrams;
mod handle_pair;
#[cfg(target_os = "linux")]
mod linux;
pub mod list;
mod memory;
mod notifications;
mod null;
mod queues;
mod socket_link;
mod streams;
/// The template of `cargo xtask new-mechanism`, compiled here so that it stays valid.
#[cfg(all(test, target_os = "linux"))]
#[path = "../../xtask/templates/mechanism.rs"]
mod template;

pub use contract::{
    BetweenHosts, DIRECTIONS, Endpoint, EndpointSetup, Entrance, Handles, Link, LinkSpecification, Mechanism,
    Message, MessageBatch, NEEDS_FOLDER, NamedEnd, NamedObject, Secret, SendAgain, new_secret,
    noted_by_responder,
};
pub use furlong_os::wait::Interest;
pub use memory::in_place::NotAsWritten;
/// The broadcast ring whose writer waits for its readers, for tests that corrupt its messages.
#[cfg(target_os = "linux")]
pub type BroadcastRing =
    memory::layout::broadcast::Broadcast<memory::layout::broadcast::HeldBack, memory::doorbell::Futex>;
/// The broadcast ring whose writer overtakes slow readers, for the same tests.
#[cfg(target_os = "linux")]
pub type OvertakingRing =
    memory::layout::broadcast::Broadcast<memory::layout::broadcast::OvertakingPace, memory::doorbell::Futex>;
/// A notification without payload, for tests that lose or duplicate it.
#[cfg(target_os = "linux")]
pub use notifications::linux::eventfd_semaphore::EventfdSemaphore;
/// A mechanism with zero-copy access, for tests of ends that leave bytes out.
#[cfg(target_os = "linux")]
pub type MemfdMailbox = memory::layout::mailbox::Mailbox<memory::segment::MemfdShm, memory::doorbell::Futex>;
/// A second mechanism with zero-copy access, for the same tests.
#[cfg(target_os = "linux")]
pub type ChannelThatSleeps = memory::channel::LibraryChannel<memory::channel::BlockingWait>;
/// The pipe, for an adapter that measures the overhead of a program outside furlong.
#[cfg(target_os = "linux")]
pub use streams::linux::pipe::Pipe;
#[cfg(target_os = "linux")]
pub use streams::linux::ring_stream::probe_rings;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_a_new_mechanism_begins_with_is_there() {
        assert_eq!(<template::Template as Mechanism>::probe(), Ok(furlong_model::Limits::none()));
    }
}

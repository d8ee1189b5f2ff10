//! Every way two processes can exchange messages: one mechanism, one file, and one list of them all.
//!
//! Layer 2. A mechanism knows nothing of patterns, clocks or statistics. It never spawns, pins, times, prints
//! or sleeps by itself: it sends one message, receives one, and says which descriptor tells that it can.
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
/// What `cargo xtask new-mechanism` begins with: here so that it is compiled.
#[cfg(all(test, target_os = "linux"))]
#[path = "../../xtask/templates/mechanism.rs"]
mod template;

pub use contract::{
    BetweenHosts, DIRECTIONS, Endpoint, EndpointSetup, Entrance, Handles, Link, LinkSpecification, Mechanism,
    Message, NEEDS_FOLDER, Secret, SendAgain, new_secret, noted_by_responder,
};
pub use furlong_os::wait::Interest;
pub use memory::in_place::NotAsWritten;
/// Mechanisms by their types, for what spoils their messages in a test.
#[cfg(target_os = "linux")]
pub type BroadcastRing =
    memory::layout::broadcast::Broadcast<memory::layout::broadcast::HeldBack, memory::doorbell::Futex>;
/// The one whose writer overtakes.
#[cfg(target_os = "linux")]
pub type OvertakingRing =
    memory::layout::broadcast::Broadcast<memory::layout::broadcast::Overtaking, memory::doorbell::Futex>;
/// One that carries nothing.
#[cfg(target_os = "linux")]
pub use notifications::linux::eventfd_semaphore::EventfdSemaphore;
/// Two that lend memory, for ends that leave bytes out.
#[cfg(target_os = "linux")]
pub type MemfdMailbox = memory::layout::mailbox::Mailbox<memory::segment::MemfdShm, memory::doorbell::Futex>;
/// The other one.
#[cfg(target_os = "linux")]
pub type ChannelThatSleeps = memory::channel::LibraryChannel<memory::channel::Sleeping>;
/// One mechanism by its type: with it can be measured what a program beside furlong loses.
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

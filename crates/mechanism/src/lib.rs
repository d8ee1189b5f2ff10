//! Every way two processes can exchange messages: one mechanism, one file, and one list of them all.
//!
//! Floor 2. A mechanism knows nothing of patterns, clocks or statistics. It never spawns, pins, times, prints
//! or sleeps by itself: it sends one message, receives one, and says which descriptor tells that it can.
#![forbid(unsafe_code)]

mod byte_stream;
mod datagram;
mod driver;
mod driver_message;
mod eventfd;
mod fifo;
mod futex;
pub mod list;
mod memory;
mod message;
mod null;
mod pipe;
mod posix_mq;
mod posix_semaphore;
mod process_vm;
mod signal;
mod signalfd;
mod socket_link;
mod socketpair;
mod sysv_mq;
mod sysv_semaphore;
mod tcp;
/// What `cargo xtask new-mechanism` begins with: here so that it is compiled.
#[cfg(test)]
#[path = "../../xtask/templates/mechanism.rs"]
mod template;
mod traits;
mod two_ways;
mod udp;
mod unix_dgram;
mod unix_seqpacket;
mod unix_stream;
mod vmsplice;

pub use furlong_os::readiness::Interest;
pub use message::Message;
pub use traits::{Endpoint, EndpointSetup, Handles, Link, LinkSpecification, Mechanism};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_new_mechanism_begins_with_is_there() {
        assert_eq!(<template::Template as Mechanism>::probe(), Ok(furlong_model::Limits::none()));
    }
}

//! A message from one io_uring ring to another (MSG_RING).
//!
//! The request puts a completion with 8 bytes of the sender's choice into the other process's ring and wakes a process that
//! waits for it. No file connects the two processes. Expect an eventfd's figures: one call to send and one to sleep, each with
//! the work for a request. Receiving needs no call if the completion is in the ring already.

use crate::streams::linux::ring_stream::probe;
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Role, Unavailable, Wait};
use furlong_os::linux::io_uring::{COMPLETIONS, Layout, Ring, Submission, create};
use furlong_os::{AsHandle, Handle};
use std::io;

/// A ring for each role. Both roles have both descriptors.
#[derive(Debug)]
pub struct IoUringMsgRing;

impl Mechanism for IoUringMsgRing {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "io-uring-msg-ring",
        summary: "an io_uring completion with 8 bytes of data, posted to the peer's ring",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin],
        fixed_size_bytes: Some(8),
        calls: Calls {
            ring: &[Call::Once("io_uring_enter")],
            wait: &[Call::AtMostOnce("io_uring_enter")],
            ..Calls::NONE
        },
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Rings;

    fn probe() -> Result<Limits, Unavailable> {
        let try_it = || {
            let (other, _) = create(Submission::Own)?;
            let mut ring = Ring::new(Submission::Own)?;
            ring.message(other.as_handle(), 1)?;
            match ring.next_message(false) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
                other => other.map(drop),
            }
        };
        probe(Submission::Own)?;
        try_it().map(|()| Limits::none()).map_err(|error| {
            Unavailable::new(format!("MSG_RING is refused here: {error}"), "needs Linux 5.19 or later")
        })
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::of(COMPLETIONS); 2]);
        for owner in Role::ALL {
            let (ring, layout) = create(Submission::Own)?;
            for number in layout.numbers() {
                link.give_number_to(owner, number);
            }
            link.give(owner.peer(), ring.try_clone()?);
            link.give(owner, ring);
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Rings> {
        let (first, second) = (setup.descriptor()?, setup.descriptor()?);
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = setup.number()?;
        }
        // The initiator's ring was added first.
        let (own, other) = setup.send_and_receive(first, second);
        let own = Ring::of(own, Layout::of(numbers), Submission::Own)?;
        Ok(Rings { own, other, blocking: specification.blocking })
    }
}

/// The ring in which messages arrive, and the one into which they are put.
#[derive(Debug)]
pub struct Rings {
    own: Ring,
    other: Handle,
    blocking: bool,
}

impl Endpoint for Rings {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut value = [0; 8];
        value.copy_from_slice(message);
        self.own.message(self.other.as_handle(), u64::from_le_bytes(value))
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let value = self.own.next_message(self.blocking)?;
        message.copy_from_slice(&value.to_le_bytes());
        Ok(8)
    }
}

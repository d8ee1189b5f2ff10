//! Eventfd as a notification: a 64-bit counter that a process can wait for.
//!
//! A write adds to the counter and wakes a reader, and a read resets the counter: no buffer, no queue. Expect the least work of
//! all descriptors. The 8 bytes carry the message. Two messages that are not read in between add up.

use crate::handle_pair::HandlePair;
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Unavailable, WhenFull};
use furlong_os::linux::eventfd;
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

/// A counter in each direction.
#[derive(Debug)]
pub struct Eventfd;

/// Calls to add to and to read the counter.
pub(crate) const EVENTFD_CALLS: Calls =
    Calls { ring: &[Call::Once("write")], wait: &[Call::Once("read")], ..Calls::NONE };

impl Mechanism for Eventfd {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "eventfd",
        summary: "a kernel counter each way, with 8 bytes of data",
        family: Family::Notification,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        fixed_size_bytes: Some(8),
        calls: EVENTFD_CALLS,
        when_full: WhenFull::Merges,
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Counters;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(1); 2]);
        link.give_both(eventfd::eventfd()?)?;
        link.give_both(eventfd::eventfd()?)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Counters> {
        Ok(Counters { ways: HandlePair::from_shared(specification, &mut setup)? })
    }
}

/// A counter to add to and one to read.
#[derive(Debug)]
pub struct Counters {
    ways: HandlePair,
}

impl Endpoint for Counters {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut value = [0; 8];
        value.copy_from_slice(message);
        eventfd::add(self.ways.send.as_handle(), u64::from_le_bytes(value))
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let value = eventfd::take(self.ways.receive.as_handle())?;
        message.copy_from_slice(&value.to_le_bytes());
        Ok(8)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}

//! Eventfd as a semaphore: each read decrements the counter by 1.
//!
//! It differs from `eventfd` in a flag (EFD_SEMAPHORE). Writes are not merged, so several processes can write and several can
//! wait, and each write releases one of them. A write wakes at most one waiter. Expect the figures of `eventfd` between two
//! processes, and with several workers one wake-up per notification if the worker is faster than the sender.

use crate::handle_pair::HandlePair;
use crate::notifications::linux::eventfd::EVENTFD_CALLS;
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Depth, Family, Limits, PeerDeath, Sharing, Unavailable};
use furlong_os::linux::eventfd;
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

/// A semaphore in each direction.
#[derive(Debug)]
pub struct EventfdSemaphore;

/// The claimed depth. The counter holds up to 2^64 - 2, which no run reaches.
const HELD: u64 = 1 << 32;

impl Mechanism for EventfdSemaphore {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "eventfd-semaphore",
        summary: "an eventfd each way in semaphore mode (each read subtracts 1), without data",
        family: Family::Notification,
        waits: DESCRIPTOR_WAITS,
        fixed_size_bytes: Some(0),
        calls: EVENTFD_CALLS,
        peer_death: PeerDeath::Unnoticed,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Semaphores;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(HELD); 2]);
        link.give_both(eventfd::semaphore()?)?;
        link.give_both(eventfd::semaphore()?)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Semaphores> {
        Ok(Semaphores { ways: HandlePair::from_shared(specification, &mut setup)? })
    }
}

/// A semaphore to post and one to wait for.
#[derive(Debug)]
pub struct Semaphores {
    ways: HandlePair,
}

impl Endpoint for Semaphores {
    #[inline]
    fn send(&mut self, _message: &mut Message) -> io::Result<()> {
        eventfd::add(self.ways.send.as_handle(), 1)
    }

    #[inline]
    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        eventfd::take(self.ways.receive.as_handle()).map(|_| 0)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}

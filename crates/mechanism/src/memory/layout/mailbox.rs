//! A mailbox: one message in each direction in shared memory.
//!
//! The sender copies a message in and the receiver copies it out. No system call moves data, so the cost is the doorbell, two
//! copies, and the cache lines that travel between the cores. With zero-copy access there is no copy: the sender writes its
//! message in the slot and the receiver reads it there. Expect busy-waiting across cores to take two to three times the bare
//! transfer of a cache line, and blocking to take the time of a wake-up, like any blocking mechanism. Both ends can write the
//! memory, so the processes must trust each other.

use super::lending::LendingEnd;
use super::slot_pair::{self, SlotPair, region_bytes};
use crate::memory::doorbell::Doorbell;
use crate::memory::segment::Segment;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism, NamedObject};
use furlong_model::{Capabilities, Copies, Family, Limits, Unavailable};
use std::io;
use std::marker::PhantomData;

/// A mailbox in a segment `S` with a doorbell `D`.
#[derive(Debug)]
pub struct Mailbox<S, D>(PhantomData<(S, D)>);

impl<S: Segment, D: Doorbell> Mechanism for Mailbox<S, D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: S::NAME,
        summary: S::SUMMARY,
        family: Family::Memory,
        waits: D::WAITS,
        calls: D::CALLS,
        copies: Copies::TwoOrNone,
        peer_death: D::PEER_DEATH,
        reach: S::REACH,
        lifetime: S::LIFETIME,
        start: S::START,
        ..Capabilities::DEFAULT
    };
    const NAMED: Option<NamedObject> = S::NAMED;
    type Endpoint = LendingEnd<SlotPair<D>>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe()?;
        S::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new(slot_pair::DEPTH);
        let region = S::create(specification, region_bytes(specification.largest_bytes()), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let size_bytes = specification.largest_bytes();
        let region = S::attach(specification, &mut setup, region_bytes(size_bytes))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let slots = SlotPair::new(&region, setup.role, size_bytes, doorbell);
        Ok(LendingEnd::new(slots, specification.access))
    }
}

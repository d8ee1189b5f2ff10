//! The loop without a mechanism: the harness overhead of every other benchmark.
//!
//! There is no other process and no system call. The message is copied into private memory and out again. If a benchmark is not
//! well above this one at the same size, it measures furlong and not the kernel.

use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Capabilities, Depth, Family, Limits, PeerDeath, Reach, Start, Unavailable, Wait, WhenFull,
};
use std::hint::black_box;
use std::io;

/// No mechanism.
#[derive(Debug)]
pub struct Null;

impl Mechanism for Null {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "null",
        summary: "the loop without a mechanism: private memory, one process",
        family: Family::Floor,
        waits: &[Wait::Spin],
        when_full: WhenFull::Overwrites,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::Fork,
        start: Start::Alone,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Loop;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        Ok(Link::new([Depth::Messages(1); 2]))
    }

    fn open(specification: &LinkSpecification, _setup: EndpointSetup) -> io::Result<Loop> {
        Ok(Loop { held: Message::for_link(specification)? })
    }
}

/// An end that receives the message that was sent.
#[derive(Debug)]
pub struct Loop {
    held: Message,
}

impl Endpoint for Loop {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        // Without the black boxes the optimiser would detect that no data leaves the process, and would remove the loop.
        black_box(&mut self.held[..]).copy_from_slice(black_box(message));
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        black_box(&mut message[..]).copy_from_slice(black_box(&self.held));
        Ok(message.len())
    }
}

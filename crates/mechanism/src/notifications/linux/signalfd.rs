//! Real-time signals read from a descriptor.
//!
//! The signals of `signal`, received with a `read` that fills in 128 bytes about each. Expect the figures of `signal` and a
//! little more. In return, `poll` and similar calls can wait for the descriptor.

use crate::notifications::linux::signal::{SIGNAL_CALLS, can_queue, depth, send};
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Family, Limits, PeerDeath, Reach, Unavailable};
use furlong_os::handle::set_non_blocking;
use furlong_os::linux::signal;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A signal in each direction, read from a descriptor.
#[derive(Debug)]
pub struct Signalfd;

impl Mechanism for Signalfd {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "signalfd",
        summary: "a queued signal each way, read from a descriptor",
        family: Family::Notification,
        waits: DESCRIPTOR_WAITS,
        fixed_size_bytes: Some(4),
        calls: Calls { wait: &[Call::Once("read")], ..SIGNAL_CALLS },
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::PidNamespace,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Signals;

    fn probe() -> Result<Limits, Unavailable> {
        can_queue().map(|()| Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        Ok(Link::new([depth()?; 2]))
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Signals> {
        let inbound = signal::signalfd(&[signal::message_signal()])?;
        set_non_blocking(inbound.as_handle(), !specification.blocking)?;
        Ok(Signals { inbound, peer: setup.peer })
    }
}

/// Signals to the other process, and a descriptor for the signals from it.
#[derive(Debug)]
pub struct Signals {
    inbound: Handle,
    peer: i32,
}

impl Endpoint for Signals {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        send(self.peer, message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let (_, value) = signal::read_signalfd(self.inbound.as_handle())?;
        message.copy_from_slice(&value.to_le_bytes());
        Ok(4)
    }

    /// Returns the descriptor for receiving. Sending never waits.
    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        (interest == Interest::Readable).then(|| self.inbound.as_handle())
    }
}

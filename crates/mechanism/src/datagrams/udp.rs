//! UDP over the loopback interface.
//!
//! A datagram passes through the protocol and the loopback device, without connection state and without acknowledgements.
//! Expect less than TCP and more than a UNIX socket. A datagram for which the receiver has no room is dropped.

use crate::datagrams::between_hosts::DATAGRAMS_BETWEEN_HOSTS;
use crate::datagrams::datagram::DATAGRAM_CALLS;
use crate::datagrams::datagram::{Datagram, link};
use crate::socket_link::{MessageBuffers, SOCKET_WAITS};
use crate::{BetweenHosts, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, PeerDeath, Reach, Unavailable, WhenFull};
use furlong_os::socket;
use std::io;

/// 65,535 bytes minus the headers of IP and UDP.
const LARGEST_BYTES: usize = 65_507;

/// Returns the limits of a UDP datagram.
pub(super) fn limits() -> Limits {
    Limits::at(LARGEST_BYTES, "the largest UDP datagram over IPv4", "")
}

/// UDP over loopback.
#[derive(Debug)]
pub struct Udp;

impl Mechanism for Udp {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "udp",
        summary: "UDP over loopback",
        family: Family::Socket,
        waits: SOCKET_WAITS,
        calls: DATAGRAM_CALLS,
        buffer: KernelBuffer::Socket,
        when_full: WhenFull::Drops,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::Network,
        ..Capabilities::DEFAULT
    };
    const BETWEEN_HOSTS: Option<BetweenHosts> = Some(DATAGRAMS_BETWEEN_HOSTS);
    type Endpoint = Datagram;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::udp_pair()?, MessageBuffers::Arrived, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Datagram> {
        Datagram::open(specification, &mut setup)
    }
}

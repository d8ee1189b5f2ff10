//! UDP multicast over the loopback interface.
//!
//! One call sends a datagram to a group, and every socket that has joined the group gets a copy. The datagram passes through
//! the protocol and the loopback device once, and the kernel clones the packet for each receiver, without copying the bytes. So
//! expect the figures of `udp` with one receiver. With several, each receiver lengthens the call by less than a call. A
//! receiver whose buffer is full loses datagrams and is not notified: the numbers of the messages reveal it.

use super::two_sockets::{ToMembers, TwoSockets};
use crate::datagrams::datagram::DATAGRAM_CALLS;
use crate::datagrams::udp;
use crate::linux::one_to_all::take_own;
use crate::socket_link::{MessageBuffers, SOCKET_WAITS};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Capabilities, Family, KernelBuffer, Limits, PeerDeath, Reach, Role, Sharing, Unavailable, WhenFull,
};
use furlong_os::linux::multicast;
use furlong_os::socket;
use std::io;

/// A group on the loopback interface.
#[derive(Debug)]
pub struct UdpMulticast;

impl Mechanism for UdpMulticast {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "udp-multicast",
        summary: "UDP to a group of receivers over loopback; a receiver without room loses the datagram",
        family: Family::Socket,
        waits: SOCKET_WAITS,
        calls: DATAGRAM_CALLS,
        buffer: KernelBuffer::Socket,
        when_full: WhenFull::Drops,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::Network,
        sharing: Sharing::EveryReceiver,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = TwoSockets;

    fn probe() -> Result<Limits, Unavailable> {
        match multicast::try_it() {
            Ok(()) => Ok(udp::limits()),
            Err(error) => Err(Unavailable::new(
                format!("no datagram to a group comes back over the loopback interface: {error}"),
                "bring the interface lo up, or measure outside of the network namespace that has none",
            )),
        }
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let (sender, members) = multicast::group(specification.receivers)?;
        let sockets = ToMembers { sender, members, answers: socket::udp_pair()? };
        sockets.link(specification, MessageBuffers::Arrived, |room| room)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<TwoSockets> {
        let send = setup.descriptor()?;
        let receive = match setup.role {
            Role::Initiator => setup.descriptor()?,
            Role::Responder => take_own(specification, &mut setup)?,
        };
        TwoSockets::new(send, receive, specification.blocking)
    }
}

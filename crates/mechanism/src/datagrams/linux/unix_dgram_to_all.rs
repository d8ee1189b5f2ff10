//! UNIX datagram sockets, with one call that sends to all of them.
//!
//! `sendmmsg` accepts a list of messages, each with its address: here the same bytes for each receiver. The kernel runs
//! `sendmsg` in a loop, with copy and wake-up, so only the entry into the kernel is saved for each receiver but the first.
//! Expect the figures of `unix-dgram` with one receiver, and with several a little less CPU time than with a link each. A
//! receiver without room delays the receivers behind it in the list.

use super::two_sockets::{ToMembers, TwoSockets};
use super::unix_limits::unix_limits;
use crate::linux::one_to_all::{OneToAll, ToAll, take_own};
use crate::socket_link::MessageBuffers;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, KernelBuffer, Limits, PeerDeath, Role, Room, Sharing,
    Unavailable,
};
use furlong_os::linux::datagrams_to_all::{Addressees, sockets};
use furlong_os::socket::{self, Kind};
use furlong_os::{AsHandle, Handle};
use std::io;

/// Sockets with addresses that the kernel has assigned.
#[derive(Debug)]
pub struct UnixDgramToAll;

impl Mechanism for UnixDgramToAll {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "unix-dgram-to-all",
        summary: "UNIX datagram sockets, one per receiver, with a single sendmmsg for all",
        family: Family::Socket,
        calls: Calls::of(
            &[Call::AtMostOnce("sendmmsg"), Call::AtMostOnce("sendto")],
            &[Call::Once("recvfrom")],
        ),
        buffer: KernelBuffer::Socket,
        peer_death: PeerDeath::Unnoticed,
        sharing: Sharing::EveryReceiver,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = OneToAll<Datagrams, TwoSockets>;

    fn probe() -> Result<Limits, Unavailable> {
        unix_limits(Kind::Datagram)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let (sender, members) = sockets(specification.receivers)?;
        let named = members.iter().map(Handle::try_clone).collect::<io::Result<Vec<_>>>()?;
        // The sender's buffer holds the messages that the receivers have not read yet.
        let of_each = |depth: Depth| match depth {
            Depth::Messages(all) => Depth::Messages((all / named.len() as u64).max(1)),
            unbounded => unbounded,
        };
        let sockets = ToMembers { sender, members, answers: socket::socketpair(Kind::Datagram)? };
        let mut link =
            sockets.link(specification, MessageBuffers::Datagrams, |Room { depth, while_waiting }| Room {
                depth: of_each(depth),
                while_waiting: of_each(while_waiting),
            })?;
        link.give_all(Role::Initiator, named);
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let send = setup.descriptor()?;
        match setup.role {
            Role::Initiator => {
                let answered = setup.descriptor()?;
                let named = setup.descriptors(specification.receivers)?;
                let to_all = Datagrams { socket: send.try_clone()?, all: Addressees::of(&named)? };
                Ok(OneToAll::Sender(to_all, TwoSockets::new(send, answered, true)?))
            }
            Role::Responder => {
                let own = take_own(specification, &mut setup)?;
                Ok(OneToAll::Receiver(TwoSockets::new(send, own, true)?))
            }
        }
    }
}

/// A socket, and the addresses to which it sends.
#[derive(Debug)]
pub struct Datagrams {
    socket: Handle,
    all: Addressees,
}

impl ToAll for Datagrams {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.all.send(self.socket.as_handle(), message)
    }
}

//! UNIX stream sockets, with one call of io_uring that sends to all of them.
//!
//! The sender puts a request for each receiver into its ring and submits all of them with one system call, which waits until
//! all have ended. So expect the figures of `io-uring-socketpair` with one receiver. With several, there is one entry into the
//! kernel instead of one per receiver, but still a copy and a wake-up for each. A receiver without room delays the sender, but
//! not the messages in flight to the others.

use super::ring_stream;
use crate::linux::one_to_all::{OneToAll, ToAll, give_each, open_streams};
use crate::socket_link::{MessageBuffers, note_buffers, set_buffers};
use crate::streams::byte_stream::ByteStream;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Family, KernelBuffer, Limits, Role, Sharing, Unavailable};
use furlong_os::linux::io_uring::{Ring, Submission};
use furlong_os::linux::pipe;
use furlong_os::socket::{self, Kind};
use furlong_os::{AsHandle, Handle};
use std::io;

/// A pair of sockets for each receiver, and a pipe back.
#[derive(Debug)]
pub struct IoUringToAll;

impl Mechanism for IoUringToAll {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "io-uring-to-all",
        summary: "UNIX stream sockets, one per receiver, with a single io_uring call for all",
        family: Family::IoUring,
        boundaries: false,
        calls: Calls::of(
            &[Call::AtMostOnce("io_uring_enter"), Call::AtMostOnce("write")],
            &[Call::Once("read")],
        ),
        buffer: KernelBuffer::Socket,
        sharing: Sharing::EveryReceiver,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = OneToAll<Sockets, ByteStream>;

    fn probe() -> Result<Limits, Unavailable> {
        ring_stream::probe(Submission::Own)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let pairs = (0..specification.receivers)
            .map(|_| socket::socketpair(Kind::Stream))
            .collect::<io::Result<Vec<_>>>()?;
        for socket in pairs.iter().flat_map(|(ours, theirs)| [ours, theirs]) {
            set_buffers(socket.as_handle(), specification)?;
        }
        let back = pipe::pipe()?;
        let (sender, receiver) = (pairs[0].0.as_handle(), pairs[0].1.as_handle());
        let [there, size_back] = specification.sizes_bytes;
        let pipe_bytes = pipe::size_bytes(back.0.as_handle())? as usize;
        let mut link = Link::new([
            MessageBuffers::Blocks.room(sender, receiver, there, true)?,
            super::pipe::room(pipe_bytes, size_back),
        ]);
        note_buffers(&mut link, sender, sender)?;
        link.give_pair(back);
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        link.give_all(Role::Initiator, ours);
        give_each(&mut link, theirs)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        open_streams(specification, setup, |sockets| {
            Ok(Sockets { ring: Ring::new(Submission::Own)?, sockets })
        })
    }
}

/// A socket to each receiver, and the ring through which all of them send.
#[derive(Debug)]
pub struct Sockets {
    ring: Ring,
    sockets: Vec<Handle>,
}

impl ToAll for Sockets {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.ring.send_to_all(&self.sockets, message)
    }
}

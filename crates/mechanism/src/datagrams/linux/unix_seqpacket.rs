//! UNIX sequential-packet sockets: a connection that keeps message boundaries.
//!
//! One buffer per message, like a stream's, without the work of splitting and joining. Expect the figures of `unix-stream` for
//! small messages. A message must fit into one buffer, which bounds its size.

use super::unix_limits::unix_limits;
use crate::datagrams::datagram::DATAGRAM_CALLS;
use crate::datagrams::datagram::{Datagram, link};
use crate::socket_link::MessageBuffers;
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Reach, Sharing, Unavailable};
use furlong_os::socket::{self, Kind};
use std::io;

/// UNIX sequential-packet socket with a path.
#[derive(Debug)]
pub struct UnixSeqpacket;

impl Mechanism for UnixSeqpacket {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "unix-seqpacket",
        summary: "UNIX sequential-packet socket with a path",
        family: Family::Socket,
        waits: DESCRIPTOR_WAITS,
        calls: DATAGRAM_CALLS,
        buffer: KernelBuffer::Socket,
        reach: Reach::FileSystem,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Datagram;

    fn probe() -> Result<Limits, Unavailable> {
        unix_limits(Kind::Seqpacket)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(
            socket::unix_pair(Kind::Seqpacket, specification.socket_folder()?)?,
            MessageBuffers::Datagrams,
            specification,
        )
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Datagram> {
        Datagram::open(specification, &mut setup)
    }
}

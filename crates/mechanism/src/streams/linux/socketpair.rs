//! A pair of UNIX stream sockets that was never bound to a path.
//!
//! Two unrelated processes need the path only to find each other. Expect the figures of `unix-stream`.

use crate::socket_link::{MessageBuffers, link};
use crate::streams::byte_stream::STREAM_CALLS;
use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, limits};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Sharing, Unavailable};
use furlong_os::socket::{self, Kind};
use std::io;

/// a pair of unnamed UNIX stream sockets.
#[derive(Debug)]
pub struct Socketpair;

impl Mechanism for Socketpair {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "socketpair",
        summary: "a pair of unnamed UNIX stream sockets",
        family: Family::Socket,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Socket,
        sharing: Sharing::AtomicWrites,
        ..Capabilities::DEFAULT
    };
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::socketpair(Kind::Stream)?, MessageBuffers::Blocks, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        ByteStream::from_socket(&mut setup, specification)
    }
}

//! A pair of UNIX stream sockets, used through requests of io_uring.
//!
//! Like `io-uring-pipe`, but with a socket. Expect the calls of `socketpair` and in each the work for a request and a
//! completion.

use super::ring_stream::{self, Requests, RingStream, RingWays};
use crate::socket_link::{MessageBuffers, link};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Call, Calls, Capabilities, Family, KernelBuffer, Limits, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::linux::io_uring::{Ring, Submission};
use furlong_os::socket::{self, Kind};
use std::io;

/// Sockets, and a ring in each process.
#[derive(Debug)]
pub struct IoUringSocketpair;

impl Requests for IoUringSocketpair {
    const SUBMISSION: Submission = Submission::Own;

    #[inline]
    fn send(ring: &mut Ring, to: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
        ring.send(to, bytes)
    }

    #[inline]
    fn receive(ring: &mut Ring, from: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        ring.receive(from, buffer)
    }
}

impl Mechanism for IoUringSocketpair {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "io-uring-socketpair",
        summary: "a pair of UNIX stream sockets, with io_uring",
        family: Family::IoUring,
        boundaries: false,
        calls: Calls::of(&[Call::Once("io_uring_enter")], &[Call::Once("io_uring_enter")]),
        buffer: KernelBuffer::Socket,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = true;
    type Endpoint = RingStream<IoUringSocketpair>;

    fn probe() -> Result<Limits, Unavailable> {
        ring_stream::probe(Submission::Own)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::socketpair(Kind::Stream)?, MessageBuffers::Blocks, specification)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        RingWays::from_socket(&mut setup)
    }
}

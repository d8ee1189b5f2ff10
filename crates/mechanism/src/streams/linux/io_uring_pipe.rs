//! Anonymous pipes, written and read through requests of io_uring.
//!
//! The call that submits a request tries it at once. If a read finds no data, the kernel polls the pipe, reads when data
//! arrives, and then wakes the process that waits for the completion. Expect the calls of `pipe`, two per process and round
//! trip, and in each the work for a request and a completion. If the reader sleeps, there is one more wake-up function between
//! writer and reader.

use super::pipe::{link, room};
use super::ring_stream::{self, Requests, RingStream, RingWays};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Call, Calls, Capabilities, Family, KernelBuffer, Limits, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::linux::io_uring::{Ring, Submission};
use furlong_os::linux::pipe;
use std::io;

/// Pipes, one in each direction, and a ring in each process.
#[derive(Debug)]
pub struct IoUringPipe;

impl Requests for IoUringPipe {
    const SUBMISSION: Submission = Submission::Own;

    #[inline]
    fn send(ring: &mut Ring, to: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
        ring.write(to, bytes)
    }

    #[inline]
    fn receive(ring: &mut Ring, from: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        ring.read(from, buffer)
    }
}

impl Mechanism for IoUringPipe {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "io-uring-pipe",
        summary: "anonymous pipes, with io_uring",
        family: Family::IoUring,
        boundaries: false,
        calls: Calls::of(&[Call::Once("io_uring_enter")], &[Call::Once("io_uring_enter")]),
        buffer: KernelBuffer::Pipe,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = RingStream<IoUringPipe>;

    fn probe() -> Result<Limits, Unavailable> {
        ring_stream::probe(Submission::Own)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(pipe::pipe()?, pipe::pipe()?, room, specification)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        RingWays::from_pair(&mut setup)
    }
}

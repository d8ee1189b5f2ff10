//! A pair of UNIX stream sockets, with a kernel thread that polls the ring of each process (SQPOLL).
//!
//! The process writes its request into memory, and the thread reads it from there. No call submits a request, but the process
//! sleeps in a call until its request is done. Each thread keeps a CPU busy, in addition to the CPUs of the two processes.
//! Expect higher latency than `io-uring-socketpair` on fewer than four CPUs, because the threads and the processes then share
//! CPUs and each message passes through one more thread.

use super::ring_stream::{self, Requests, RingStream, RingWays};
use crate::socket_link::{MessageBuffers, link};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Call, Calls, Capabilities, Family, KernelBuffer, Limits, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::linux::io_uring::{Ring, Submission};
use furlong_os::socket::{self, Kind};
use std::io;

/// Sockets, and in each process a ring that the kernel polls.
#[derive(Debug)]
pub struct IoUringSqpoll;

impl Requests for IoUringSqpoll {
    const SUBMISSION: Submission = Submission::KernelThread;

    #[inline]
    fn send(ring: &mut Ring, to: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
        ring.send(to, bytes)
    }

    #[inline]
    fn receive(ring: &mut Ring, from: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        ring.receive(from, buffer)
    }
}

impl Mechanism for IoUringSqpoll {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "io-uring-sqpoll",
        summary: "a pair of UNIX stream sockets, with io_uring and a polling thread (SQPOLL)",
        family: Family::IoUring,
        boundaries: false,
        calls: Calls::of(
            // One call to wake the thread if it sleeps, and one to wait.
            &[Call::AtMostOnce("io_uring_enter"), Call::AtMostOnce("io_uring_enter")],
            &[Call::AtMostOnce("io_uring_enter"), Call::AtMostOnce("io_uring_enter")],
        ),
        buffer: KernelBuffer::Socket,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = RingStream<IoUringSqpoll>;

    fn probe() -> Result<Limits, Unavailable> {
        ring_stream::probe(Submission::KernelThread)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::socketpair(Kind::Stream)?, MessageBuffers::Blocks, specification)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        RingWays::from_socket(&mut setup)
    }
}

//! A pair of UNIX stream sockets, and a thread of the kernel that polls the ring of each process (SQPOLL).
//!
//! The process writes its request into memory, and the thread takes it from there: no call submits anything, but the process
//! sleeps in one until its request is done. Each thread keeps a processor busy, beside those of the two processes. Expect it
//! to be slower than `io-uring-socketpair` wherever there are fewer than four processors, since the threads take turns with
//! the processes, and each message passes through one thread more.

use super::ring_stream::{self, Requests, RingStream};
use crate::socket_link::{Holds, link};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Call, Calls, Capabilities, Copies, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Sharing,
    Start, Unavailable, Wait, WhenFull,
};
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
        summary: "a pair of UNIX stream sockets, by io_uring with a polling thread (SQPOLL)",
        family: Family::IoUring,
        waits: &[Wait::Block],
        boundaries: false,
        fixed_size_bytes: None,
        calls: Calls::of(
            // To wake the thread if it sleeps, and to wait.
            &[Call::AtMostOnce("io_uring_enter"), Call::AtMostOnce("io_uring_enter")],
            &[Call::AtMostOnce("io_uring_enter"), Call::AtMostOnce("io_uring_enter")],
        ),
        buffer: KernelBuffer::Socket,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Noticed,
        reach: Reach::Descriptor,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
        sharing: Sharing::OneEach,
    };
    const IS_COMMON: bool = false;
    type Endpoint = RingStream<IoUringSqpoll>;

    fn probe() -> Result<Limits, Unavailable> {
        ring_stream::probe(Submission::KernelThread)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::socketpair(Kind::Stream)?, Holds::Blocks, specification)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        RingStream::of_socket(&mut setup)
    }
}

//! Code shared by streams whose bytes are moved by requests in an io_uring ring.
//!
//! A message is sent before `send` returns, so there is one request in the ring at a time. With `--batch`, one request has the bytes
//! of several messages.

use crate::EndpointSetup;
use crate::streams::stream::{Stream, Ways};
use furlong_model::{Limits, Unavailable};
use furlong_os::linux::io_uring::{Ring, Submission};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;
use std::marker::PhantomData;

/// The requests that move the bytes of a kind of stream.
pub trait Requests: 'static {
    /// Submitter of the requests: the process or a kernel thread.
    const SUBMISSION: Submission;

    /// Sends once; it may send only a part of the bytes.
    fn send(ring: &mut Ring, to: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize>;

    /// Receives once; 0 is the end of the stream.
    fn receive(ring: &mut Ring, from: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize>;
}

/// Returns an error if this machine has no usable rings.
pub(crate) fn probe(submission: Submission) -> Result<Limits, Unavailable> {
    Ring::new(submission).map(|_| Limits::none()).map_err(|error| {
        let remedy = if error.kind() == io::ErrorKind::OutOfMemory {
            "raise the limit of locked memory, which includes rings: ulimit -l (RLIMIT_MEMLOCK)"
        } else {
            "needs Linux 5.6 or later, sysctl kernel.io_uring_disabled=0, and in a container a seccomp profile that \
             allows io_uring_setup"
        };
        Unavailable::new(error.to_string(), remedy)
    })
}

/// Returns the reason why processes cannot wait with io_uring here, or `None` if they can.
pub fn probe_rings() -> Option<Unavailable> {
    probe(Submission::Own).err()
}

/// The descriptors of an end, and the ring of this process.
#[derive(Debug)]
pub struct RingWays<R> {
    ring: Ring,
    reader: Handle,
    writer: Handle,
    requests: PhantomData<R>,
}

/// An end of a byte stream whose bytes are moved through a ring.
pub type RingStream<R> = Stream<RingWays<R>>;

impl<R: Requests> RingWays<R> {
    /// Opens an end with a reading and a writing descriptor from the set-up.
    pub(crate) fn from_pair(setup: &mut EndpointSetup) -> io::Result<RingStream<R>> {
        RingWays::open(setup.descriptor()?, setup.descriptor()?)
    }

    /// Opens an end with a socket from the set-up.
    pub(crate) fn from_socket(setup: &mut EndpointSetup) -> io::Result<RingStream<R>> {
        let socket = setup.descriptor()?;
        RingWays::open(socket.try_clone()?, socket)
    }

    fn open(reader: Handle, writer: Handle) -> io::Result<RingStream<R>> {
        let ring = Ring::new(R::SUBMISSION)?;
        Ok(Stream::over(RingWays { ring, reader, writer, requests: PhantomData }))
    }
}

impl<R: Requests> Ways for RingWays<R> {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        R::send(&mut self.ring, self.writer.as_handle(), bytes)
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        R::receive(&mut self.ring, self.reader.as_handle(), buffer)
    }
}

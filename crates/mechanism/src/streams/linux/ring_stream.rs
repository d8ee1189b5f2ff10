//! Code shared by streams whose bytes are moved by requests in an io_uring ring.
//!
//! A message is sent before `send` returns, so there is one request in the ring at a time. These benchmarks therefore do not
//! show what a ring gains by submitting many requests with one call.

use crate::{Endpoint, EndpointSetup, Message};
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

/// An end of a byte stream and the ring of this process.
#[derive(Debug)]
pub struct RingStream<R> {
    ring: Ring,
    reader: Handle,
    writer: Handle,
    requests: PhantomData<R>,
}

impl<R: Requests> RingStream<R> {
    /// Opens an end with a reading and a writing descriptor from the set-up.
    pub(crate) fn from_pair(setup: &mut EndpointSetup) -> io::Result<Self> {
        RingStream::new(setup.descriptor()?, setup.descriptor()?)
    }

    /// Opens an end with a socket from the set-up.
    pub(crate) fn from_socket(setup: &mut EndpointSetup) -> io::Result<Self> {
        let socket = setup.descriptor()?;
        RingStream::new(socket.try_clone()?, socket)
    }

    fn new(reader: Handle, writer: Handle) -> io::Result<Self> {
        Ok(RingStream { ring: Ring::new(R::SUBMISSION)?, reader, writer, requests: PhantomData })
    }
}

impl<R: Requests> Endpoint for RingStream<R> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut sent = 0;
        while sent < message.len() {
            sent += R::send(&mut self.ring, self.writer.as_handle(), &message[sent..])?;
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let mut received = 0;
        while received < message.len() {
            match R::receive(&mut self.ring, self.reader.as_handle(), &mut message[received..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => received += count,
            }
        }
        Ok(message.len())
    }
}

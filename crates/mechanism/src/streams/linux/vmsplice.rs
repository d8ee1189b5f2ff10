//! Pages that are moved into a pipe instead of copied.
//!
//! `vmsplice` puts references to the sender's pages into the pipe, and the reader copies out of them: one copy instead of two.
//! Expect no gain for small messages, for which a reference costs as much as a copy. Expect a gain for large messages, limited
//! by the 16 page references of a pipe. The sender must not change the pages until the receiver has read them.

use crate::streams::byte_stream::ByteStream;
use crate::streams::linux::pipe::link;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Copies, Depth, Family, KernelBuffer, Limits, Unavailable};
use furlong_os::linux::pipe;
use furlong_os::memory::page_bytes;
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

/// Anonymous pipes, filled with the sender's own pages.
#[derive(Debug)]
pub struct Vmsplice;

impl Mechanism for Vmsplice {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "vmsplice",
        summary: "anonymous pipes filled with the sender's own pages",
        family: Family::Pipe,
        boundaries: false,
        calls: Calls::of(&[Call::Once("vmsplice")], &[Call::Once("read")]),
        buffer: KernelBuffer::Pipe,
        copies: Copies::One,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Pages;

    fn probe() -> Result<Limits, Unavailable> {
        let try_it = || {
            let (_reader, writer) = pipe::pipe()?;
            pipe::splice_pages(writer.as_handle(), &[0])
        };
        try_it().map(|_| Limits::none()).map_err(|error| {
            Unavailable::new(
                format!("vmsplice is refused here: {error}"),
                "run outside of the seccomp filter that forbids it",
            )
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let room = |pipe_bytes, size_bytes| {
            Depth::of(pipe_bytes / page_bytes() / Message::pages_at_most(size_bytes)).into()
        };
        link(pipe::pipe()?, pipe::pipe()?, room, specification)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Pages> {
        let stream = ByteStream::from_pair(&mut setup, true)?;
        let references = pipe::size_bytes(stream.writer())? as usize / page_bytes();
        Ok(Pages { stream, references })
    }
}

/// A pipe to read and one to fill with pages.
#[derive(Debug)]
pub struct Pages {
    stream: ByteStream,
    /// Number of page references that the pipe holds.
    references: usize,
}

impl Endpoint for Pages {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut sent = 0;
        while sent < message.len() {
            sent += pipe::splice_pages(self.stream.writer(), &message[sent..])?;
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.stream.recv(message)
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        // A reference covers at most one page, and the message being read is not in the pipe any more.
        self.references / size_bytes.div_ceil(page_bytes()).max(1) + 1
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.stream.readiness(interest)
    }
}

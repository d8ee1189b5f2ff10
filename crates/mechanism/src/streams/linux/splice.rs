//! Pages of a file that are moved into a pipe instead of copied.
//!
//! `splice` puts references to the pages of a file into the pipe, and the reader copies out of them. Programs use it to send
//! the contents of a file, and `sendfile` uses it internally. Here the file is a memfd that the sender has mapped. The sender
//! copies each message into it, which represents producing the message there, and each message keeps its pages until it was
//! read. So expect the figures of `vmsplice`, plus the copy: no gain for small messages, for which a reference costs as much as
//! a copy. For large messages the two copies are those of a pipe. Only a sender that finds the bytes in the file already saves
//! one.

use crate::streams::byte_stream::ByteStream;
use crate::streams::linux::pipe::link;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, KernelBuffer, Limits, PageKind, Unavailable};
use furlong_os::error::REMEDY;
use furlong_os::linux::{pipe, segment};
use furlong_os::memory::{Region, page_bytes};
use furlong_os::shared_place::Stretch;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;
use std::sync::Arc;

/// Anonymous pipes, filled with pages of a memfd.
#[derive(Debug)]
pub struct Splice;

impl Mechanism for Splice {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "splice",
        summary: "anonymous pipes filled with pages of a memory file",
        family: Family::Pipe,
        boundaries: false,
        calls: Calls::of(&[Call::Once("splice")], &[Call::Once("read")]),
        buffer: KernelBuffer::Pipe,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = FilePages;

    fn probe() -> Result<Limits, Unavailable> {
        let try_it = || {
            let (_reader, writer) = pipe::pipe()?;
            pipe::splice(segment::object_with(&[0])?.as_handle(), 0, writer.as_handle(), 1)
        };
        try_it().map(|_| Limits::none()).map_err(|error| {
            Unavailable::new(
                format!("splice out of a memfd is refused here: {error}"),
                "run outside of the seccomp filter that forbids it",
            )
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        if specification.conditions.pages() == Some(PageKind::Huge) {
            return Err(io::Error::other(format!("hugetlbfs has no splice{REMEDY}use --pages thp")));
        }
        let room = |pipe_bytes, size_bytes| Depth::of(pipe_bytes / page_bytes() / pages(size_bytes)).into();
        link(pipe::pipe()?, pipe::pipe()?, room, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<FilePages> {
        let stream = ByteStream::from_pair(&mut setup, true)?;
        let pages = pages(specification.sizes_bytes[setup.role.index()]);
        let place_bytes = pages * page_bytes();
        // One place for each message that fits into the pipe completely, one for the message being read, and one for the
        // message being written.
        let references = pipe::size_bytes(stream.writer())? as usize / page_bytes();
        let fewest_pages = if specification.conditions.has_several_sizes() { 1 } else { pages };
        let places = references / fewest_pages + 2;
        let (len, kind) = (places * place_bytes, specification.conditions.pages());
        let file = segment::backed_memfd(&specification.name, len, kind)?;
        let region = Arc::new(Region::backed(file.as_handle(), len, kind)?);
        let places = (0..places).map(|place| Stretch::new(&region, place * place_bytes, place_bytes));
        Ok(FilePages { stream, file, places: places.collect(), place_bytes, next: 0 })
    }
}

/// Returns the number of pages of a message in the file.
fn pages(size_bytes: usize) -> usize {
    size_bytes.div_ceil(page_bytes()).max(1)
}

/// A pipe to read and one to fill with pages of a file.
#[derive(Debug)]
pub struct FilePages {
    stream: ByteStream,
    file: Handle,
    /// Places of messages in the file, used in turn: none is overwritten before it was read.
    places: Vec<Stretch>,
    place_bytes: usize,
    next: usize,
}

impl Endpoint for FilePages {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.places[self.next].write(message);
        let start = self.next * self.place_bytes;
        let mut sent = 0;
        while sent < message.len() {
            let left = message.len() - sent;
            sent += pipe::splice(self.file.as_handle(), start + sent, self.stream.writer(), left)?;
        }
        self.next = (self.next + 1) % self.places.len();
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.stream.recv(message)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.stream.readiness(interest)
    }
}

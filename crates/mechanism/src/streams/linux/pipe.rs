//! Anonymous pipes.
//!
//! A write copies the bytes into pages that the pipe owns and wakes a reader. A read copies them out. Expect per round trip two
//! system calls in each process and two wake-ups, and beyond the pipe's size (64 KiB unless changed) one more wake-up for each
//! time that it fills.

use crate::streams::byte_stream::STREAM_CALLS;
use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, limits};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Depth, Family, KernelBuffer, Limits, Room, Sharing, Unavailable};
use furlong_os::linux::pipe;
use furlong_os::memory::page_bytes;
use furlong_os::{AsHandle, Handle};
use std::io;

/// Anonymous pipes, one in each direction.
#[derive(Debug)]
pub struct Pipe;

impl Mechanism for Pipe {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "pipe",
        summary: "anonymous pipes, one each way",
        family: Family::Pipe,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Pipe,
        sharing: Sharing::AtomicWrites,
        ..Capabilities::DEFAULT
    };
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(pipe::pipe()?, pipe::pipe()?, room, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        Ok(ByteStream::from_pair(&mut setup, specification.blocking)?.with_writes(specification))
    }
}

/// Returns the minimum number of messages in a pipe of `pipe_bytes` when a writer waits. A pipe is a ring of pages. A message
/// is appended to the last page if it fits there completely, and otherwise begins a new page. All messages but one of the
/// oldest page may have been read. A message larger than a page occupies new pages (`pipe_write` in fs/pipe.c). `select`,
/// `poll` and `epoll` report a pipe as full if no page is free, although the last page may contain only one message.
pub(crate) fn room(pipe_bytes: usize, size_bytes: usize) -> Room {
    let (page_bytes, pages) = (page_bytes(), pipe_bytes / page_bytes());
    if size_bytes > page_bytes {
        return Depth::of(pages / size_bytes.div_ceil(page_bytes)).into();
    }
    let in_a_page = page_bytes / size_bytes.max(1);
    Room {
        depth: Depth::of(pages.saturating_sub(1) * in_a_page + 1),
        while_waiting: Depth::of(pages.saturating_sub(2) * in_a_page + pages.min(2)),
    }
}

/// Makes a link of two pipes, each a reading and a writing end: `there` leads from the initiator to the responder. Each role's
/// reading end is added first. `room` returns how many messages a pipe holds, from the sizes of the pipe and a message.
pub(crate) fn link(
    there: (Handle, Handle),
    back: (Handle, Handle),
    room: fn(usize, usize) -> Room,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    if let Some(bytes) = specification.buffer_bytes {
        pipe::set_size(there.0.as_handle(), bytes)?;
        pipe::set_size(back.0.as_handle(), bytes)?;
    }
    let held_bytes =
        |pipe: &(Handle, Handle)| pipe::size_bytes(pipe.0.as_handle()).map(|bytes| bytes as usize);
    let (there_bytes, back_bytes) = (held_bytes(&there)?, held_bytes(&back)?);
    let [sent_there, sent_back] = specification.sizes_bytes;
    let mut link = Link::new([room(there_bytes, sent_there), room(back_bytes, sent_back)]);
    link.note("pipe-size-bytes", there_bytes);
    link.give_pair((back.0, there.0));
    link.give_pair((there.1, back.1));
    Ok(link)
}

//! Anonymous pipes.
//!
//! A write copies the bytes into pages that the pipe owns and wakes a reader; a read copies them out. Expect
//! two system calls and two wake-ups a round trip, and beyond the pipe's size (64 KiB unless changed) one more
//! wake-up for each time that it fills.

use crate::streams::byte_stream::STREAM_CALLS;
use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, limits};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Capabilities, Copies, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Start, Unavailable,
    WhenFull,
};
use furlong_os::linux::pipe;
use furlong_os::{AsHandle, Handle};
use std::io;

/// anonymous pipes, one each way.
#[derive(Debug)]
pub struct Pipe;

impl Mechanism for Pipe {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "pipe",
        summary: "anonymous pipes, one each way",
        family: Family::Pipe,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        fixed_size_bytes: None,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Pipe,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Noticed,
        reach: Reach::Descriptor,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
    };
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(pipe::pipe()?, pipe::pipe()?, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        ByteStream::of_two(&mut setup, specification.blocking)
    }
}

/// Hands over two pipes, each a reading and a writing end: `there` leads from the initiator to the responder.
/// Each role gets its reading end first.
pub(crate) fn link(
    there: (Handle, Handle),
    back: (Handle, Handle),
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let mut link = Link::new();
    if let Some(bytes) = specification.buffer_bytes {
        pipe::set_size(there.0.as_handle(), bytes)?;
        pipe::set_size(back.0.as_handle(), bytes)?;
    }
    link.note("pipe-size-bytes", pipe::size_bytes(there.0.as_handle())? as usize);
    link.give_pair((back.0, there.0));
    link.give_pair((there.1, back.1));
    Ok(link)
}

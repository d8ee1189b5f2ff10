//! What the kernel does with a message of `template`, in two or three sentences.
//!
//! And what one should therefore expect to measure: a sentence that the report can prove wrong.

use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, STREAM_CALLS, limits};
use crate::streams::linux::pipe::{link, room};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Capabilities, Copies, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Sharing, Start,
    Unavailable, WhenFull,
};
use furlong_os::pipe;
use std::io;

/// What it is, in one line.
#[derive(Debug)]
pub struct Template;

impl Mechanism for Template {
    // Every field is a claim, and the conformance suite tests every claim.
    const CAPABILITIES: Capabilities = Capabilities {
        name: "template",
        summary: "what it is, in one line",
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
        sharing: Sharing::OneEach,
    };
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // The number of messages that it holds is also a claim.
        link(pipe::pipe()?, pipe::pipe()?, room, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        Ok(ByteStream::from_pair(&mut setup, specification.blocking)?.with_writes(specification))
    }
}

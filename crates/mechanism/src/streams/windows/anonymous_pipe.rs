//! Anonymous pipes (`CreatePipe`).
//!
//! Each is a named pipe of Windows with an undisclosed name. A write copies the bytes into kernel memory and wakes a reader,
//! and waits while the pipe contains more than its size. A read copies them out. Expect per round trip two system calls in each
//! process and two wake-ups, and beyond the pipe's size one more wake-up for each time that it fills.

use super::pipe_stream::{PIPE_CALLS, PIPE_WAITS, PipeStream, depth};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Unavailable};
use furlong_os::AsHandle;
use furlong_os::windows::pipe::{pipe_of, size_bytes};
use std::io;

/// Anonymous pipes, one in each direction.
#[derive(Debug)]
pub struct AnonymousPipe;

impl Mechanism for AnonymousPipe {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "anonymous-pipe",
        summary: "anonymous pipes, one each way (CreatePipe)",
        family: Family::Pipe,
        waits: PIPE_WAITS,
        boundaries: false,
        calls: PIPE_CALLS,
        buffer: KernelBuffer::Pipe,
        ..Capabilities::DEFAULT
    };
    type Endpoint = PipeStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let bytes = specification.buffer_bytes.unwrap_or_default();
        let (there, back) = (pipe_of(bytes)?, pipe_of(bytes)?);
        let quota_bytes = size_bytes(there.0.as_handle())?;
        let mut link = Link::new(specification.sizes_bytes.map(|size| depth(quota_bytes, size)));
        link.note("pipe-size-bytes", quota_bytes);
        link.give_pair((back.0, there.0));
        link.give_pair((there.1, back.1));
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<PipeStream> {
        let stream = PipeStream::new(setup.descriptor()?, setup.descriptor()?, specification.blocking)?;
        Ok(stream.with_writes(specification))
    }
}

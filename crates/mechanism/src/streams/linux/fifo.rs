//! Named pipes.
//!
//! Once open, a FIFO is a pipe: the same code in the kernel, found by a path. But its inode lies on a real file
//! system, which keeps the times of its last read and write. Expect the figures of `pipe` and a little more, to
//! be seen where no wake-up of another core hides it.

use crate::streams::byte_stream::STREAM_CALLS;
use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, limits};
use crate::streams::linux::pipe::{link, room};
use crate::{DIRECTIONS, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Capabilities, Copies, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Sharing, Start,
    Unavailable, WhenFull,
};
use furlong_os::linux::fifo;
use std::io;

/// named pipes, one each way.
#[derive(Debug)]
pub struct Fifo;

impl Mechanism for Fifo {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "fifo",
        summary: "named pipes, one each way",
        family: Family::Pipe,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        fixed_size_bytes: None,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Pipe,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Noticed,
        reach: Reach::FileSystem,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
        sharing: Sharing::AtomicWrites,
    };
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let folder = specification.socket_folder()?;
        let [there, back] = DIRECTIONS.map(|way| folder.join(format!("{way}.fifo")));
        link(fifo::fifo(&there)?, fifo::fifo(&back)?, room, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        ByteStream::of_two(&mut setup, specification.blocking)
    }
}

//! Named pipes.
//!
//! After it is opened, a FIFO is a pipe with a path: the kernel code is that of a pipe. But its inode is on a real
//! file system, which records the times of the last read and write. Expect the figures of `pipe` and a little more, which is
//! visible if no wake-up of another core hides it.

use crate::handle_pair::named_bytes;
use crate::streams::byte_stream::STREAM_CALLS;
use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, limits};
use crate::streams::linux::pipe::{link, room};
use crate::{DIRECTIONS, EndpointSetup, Link, LinkSpecification, Mechanism, NamedObject};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Reach, Sharing, Unavailable};
use furlong_os::linux::fifo;
use std::io;
use std::path::PathBuf;

/// Named pipes, one in each direction.
#[derive(Debug)]
pub struct Fifo;

impl Mechanism for Fifo {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "fifo",
        summary: "named pipes, one each way",
        family: Family::Pipe,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Pipe,
        reach: Reach::FileSystem,
        sharing: Sharing::AtomicWrites,
        ..Capabilities::DEFAULT
    };
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| {
            let path = path(specification, DIRECTIONS[0])?;
            fifo::create(&path)?;
            named_bytes(fifo::open(&path)?)
        },
        open: |specification| named_bytes(fifo::open(&path(specification, DIRECTIONS[0])?)?),
        file: None,
    });
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let [there, back] = DIRECTIONS.map(|way| path(specification, way));
        link(fifo::fifo(&there?)?, fifo::fifo(&back?)?, room, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        Ok(ByteStream::from_pair(&mut setup, specification.blocking)?.with_writes(specification))
    }
}

fn path(specification: &LinkSpecification, way: &str) -> io::Result<PathBuf> {
    Ok(specification.socket_folder()?.join(format!("{way}.fifo")))
}

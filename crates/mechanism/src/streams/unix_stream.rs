//! UNIX stream sockets, connected through a path.
//!
//! A send copies the bytes into a new buffer and puts it on the other socket's queue. A receive copies them out and frees the
//! buffer. Expect a pipe's wake-ups and a little more for the buffer and the socket's locks.

use crate::socket_link::{MessageBuffers, SOCKET_WAITS, link};
use crate::streams::socket_stream::{STREAM_CALLS, SocketStream};
use crate::streams::stream::limits;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Reach, Sharing, Unavailable};
use furlong_os::socket;
use std::io;

/// UNIX stream socket with a path.
#[derive(Debug)]
pub struct UnixStream;

impl Mechanism for UnixStream {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "unix-stream",
        summary: "UNIX stream socket with a path",
        family: Family::Socket,
        waits: SOCKET_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Socket,
        reach: Reach::FileSystem,
        // Linux puts up to 32 KiB into one buffer, which a receive takes off the queue whole.
        sharing: if cfg!(target_os = "linux") { Sharing::AtomicWrites } else { Sharing::OneEach },
        ..Capabilities::DEFAULT
    };
    type Endpoint = SocketStream;

    fn probe() -> Result<Limits, Unavailable> {
        match socket::has_unix_streams() {
            Ok(()) => Ok(limits()),
            Err(error) => Err(Unavailable::new(
                format!("this system has no UNIX stream sockets: {error}"),
                "use Windows 1803 or later; Wine 8 does not have them",
            )),
        }
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::unix_stream_pair(specification.socket_folder()?)?, MessageBuffers::Blocks, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<SocketStream> {
        SocketStream::from_socket(&mut setup, specification)
    }
}

//! UNIX datagram sockets.
//!
//! Messages without a connection. Unlike UDP's, none is lost, because a sender waits if the receiver's queue is full. Expect
//! the figures of `unix-stream`, a little less for the simpler receive.

use super::unix_limits::unix_limits;
use crate::datagrams::datagram::DATAGRAM_CALLS;
use crate::datagrams::datagram::{Datagram, link};
use crate::handle_pair::named_bytes;
use crate::socket_link::MessageBuffers;
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism, NamedObject};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, PeerDeath, Reach, Sharing, Unavailable};
use furlong_os::Context;
use furlong_os::linux::socket::{bound_datagram, connect_to};
use furlong_os::socket::{self, Kind};
use std::io;
use std::path::PathBuf;

/// UNIX datagram socket with a path.
#[derive(Debug)]
pub struct UnixDgram;

impl Mechanism for UnixDgram {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "unix-dgram",
        summary: "UNIX datagram socket with a path",
        family: Family::Socket,
        waits: DESCRIPTOR_WAITS,
        calls: DATAGRAM_CALLS,
        buffer: KernelBuffer::Socket,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::FileSystem,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| {
            let socket = bound_datagram(&path(specification)?)?;
            named_bytes((socket.try_clone()?, socket))
        },
        open: |specification| {
            let socket = connect_to(Kind::Datagram, &path(specification)?).context(|| "connect")?;
            named_bytes((socket.try_clone()?, socket))
        },
        file: None,
    });
    type Endpoint = Datagram;

    fn probe() -> Result<Limits, Unavailable> {
        unix_limits(Kind::Datagram)
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(
            socket::unix_pair(Kind::Datagram, specification.socket_folder()?)?,
            MessageBuffers::Datagrams,
            specification,
        )
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Datagram> {
        Datagram::open(specification, &mut setup)
    }
}

fn path(specification: &LinkSpecification) -> io::Result<PathBuf> {
    Ok(specification.socket_folder()?.join("named.socket"))
}

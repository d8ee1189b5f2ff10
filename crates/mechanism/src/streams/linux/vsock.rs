//! Streams between a host and its virtual machines (AF_VSOCK), over the loopback of one machine.
//!
//! A program in a virtual machine uses AF_VSOCK without a network. Over the loopback each send is a packet that a kernel thread
//! carries to the other socket. The bytes are copied in and out, and the receiver reports its free room to the sender. Expect
//! more than a UNIX stream, by a wake-up of that thread per message. Between a host and a guest the virtual device adds to
//! this.

use crate::streams::byte_stream::{ByteStream, DESCRIPTOR_WAITS, STREAM_CALLS, limits};
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Depth, Family, Limits, Reach, Unavailable};
use furlong_os::linux::vsock;
use std::io;

/// Streams of AF_VSOCK.
#[derive(Debug)]
pub struct Vsock;

/// Bytes that a receiver accepts before it reports a full buffer (VIRTIO_VSOCK_DEFAULT_BUF_SIZE).
const BUFFER_BYTES: usize = 256 << 10;

/// Maximum bytes that a kernel counts for a packet in addition to its payload.
const PACKET_BYTES: usize = 1280;

impl Mechanism for Vsock {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "vsock",
        summary: "stream socket between a host and its virtual machines, over its loopback",
        family: Family::Socket,
        waits: DESCRIPTOR_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        // Its addresses reach a host and its guests, but no network.
        reach: Reach::Descriptor,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = ByteStream;

    fn probe() -> Result<Limits, Unavailable> {
        vsock::stream_pair().map(|_| limits()).map_err(|error| {
            let remedy = if error.kind() == io::ErrorKind::AddrNotAvailable {
                "load its loopback: modprobe vsock_loopback (Linux 5.6 or later, CONFIG_VSOCKETS_LOOPBACK)"
            } else {
                "load vsock and its loopback: modprobe vsock_loopback; in a container allow AF_VSOCK"
            };
            Unavailable::new(format!("vsock has no loopback here: {error}"), remedy)
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let room = |size_bytes: usize| Depth::of(BUFFER_BYTES / (size_bytes + PACKET_BYTES));
        let mut link = Link::new(specification.sizes_bytes.map(room));
        link.give_pair(vsock::stream_pair()?);
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<ByteStream> {
        ByteStream::from_socket(&mut setup, specification)
    }
}

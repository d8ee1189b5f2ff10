//! A sealed memfd for each message, passed over a UNIX socket (SCM_RIGHTS).
//!
//! The sender writes the message into a new memfd, seals it so that no process can change it any more, sends the descriptor,
//! and closes its own. The receiver checks the seals, maps the memory and reads it in place. No data passes through a kernel
//! buffer, and neither side need trust the other. But each message creates, maps and frees an object, whose pages are
//! allocated, filled and faulted in one by one. Expect three times the latency and CPU time of `unix-seqpacket` for short
//! messages across cores, where a wake-up is most of its latency. Expect seven times and more at 64 KiB and above, or if both
//! ends are in one process. It pays if one object serves for many messages, or if a receiver reads little of each.

use crate::socket_link::{MessageBuffers, link};
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Family, Limits, Unavailable};
use furlong_os::handle::{close, set_non_blocking};
use furlong_os::linux::segment::{sealed_bytes, sealed_object};
use furlong_os::memory::copy_out;
use furlong_os::passing::{receive_handle, send_handles};
use furlong_os::socket::{self, Kind};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// Size of a socket's buffer: the minimum that the kernel allows. The memory of messages in flight counts against no limit, so
/// their number must be small.
const BUFFER_BYTES: usize = 2304;

/// Memory objects, passed over a socket.
#[derive(Debug)]
pub struct ScmRights;

impl Mechanism for ScmRights {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "scm-rights",
        summary: "a sealed memfd for each message, passed over a UNIX socket",
        family: Family::Socket,
        waits: DESCRIPTOR_WAITS,
        calls: Calls::of(
            &[
                Call::Once("memfd_create"),
                Call::Once("write"),
                Call::Once("fcntl"),
                Call::Once("sendmsg"),
                Call::Once("close"),
            ],
            &[
                Call::Once("recvmsg"),
                Call::Once("fcntl"),
                Call::Once("lseek"),
                Call::Once("mmap"),
                Call::Once("munmap"),
                Call::Once("close"),
            ],
        ),
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Objects;

    fn probe() -> Result<Limits, Unavailable> {
        sealed_object(&[1]).map(|_| Limits::none()).map_err(|error| {
            Unavailable::new(format!("memfd_create is refused here: {error}"), "needs Linux 3.17 or later")
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // Only one byte per message goes through the socket.
        let specification = LinkSpecification {
            sizes_bytes: [1; 2],
            buffer_bytes: Some(BUFFER_BYTES),
            ..specification.clone()
        };
        link(socket::socketpair(Kind::Seqpacket)?, MessageBuffers::Datagrams, &specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Objects> {
        let socket = setup.descriptor()?;
        set_non_blocking(socket.as_handle(), !specification.blocking)?;
        Ok(Objects { socket, unsent: None })
    }
}

/// A socket that carries descriptors.
#[derive(Debug)]
pub struct Objects {
    socket: Handle,
    /// The object of a message for which there was no room yet.
    unsent: Option<Handle>,
}

impl Endpoint for Objects {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let object = match self.unsent.take() {
            Some(object) => object,
            None => sealed_object(message)?,
        };
        match send_handles(self.socket.as_handle(), &[object.as_handle()]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.unsent = Some(object);
                Err(error)
            }
            sent => {
                close(object);
                sent
            }
        }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let object = receive_handle(self.socket.as_handle())?;
        let length = sealed_bytes(object.as_handle())?;
        copy_out(object.as_handle(), length, message)?;
        close(object);
        Ok(length)
    }

    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.socket.as_handle())
    }
}

//! Pipes to several receivers, into which references to the same pages are put.
//!
//! The sender writes a message into a private pipe. `tee` puts references to its pages into the pipe of each receiver but the
//! last, and `splice` moves the pages to the last one. So the bytes are copied in once, and out once by each receiver, and
//! there is one call per receiver, as with separate pipes. Expect more than `pipe` with one receiver, because of the move.
//! Small messages gain nothing, because a call costs as much as a copy. Large messages to several receivers gain the saved
//! copies, minus the calls for each page. Pages are sent one at a time: if `tee` put only a part into a pipe, the next `tee`
//! would start at the beginning again. A receiver without room delays the others.

use crate::linux::one_to_all::{OneToAll, ToAll, give_each, open_streams};
use crate::streams::byte_stream::ByteStream;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, KernelBuffer, Limits, Role, Sharing, Unavailable,
};
use furlong_os::handle::write;
use furlong_os::linux::pipe;
use furlong_os::memory::page_bytes;
use furlong_os::{AsHandle, Handle};
use std::io;

/// A pipe to each receiver, and one back.
#[derive(Debug)]
pub struct Tee;

impl Mechanism for Tee {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "tee",
        summary: "pipes, one per receiver, that share the pages of each message (tee)",
        family: Family::Pipe,
        boundaries: false,
        calls: Calls::of(&[Call::Once("write"), Call::AtMostOnce("splice")], &[Call::Once("read")]),
        buffer: KernelBuffer::Pipe,
        sharing: Sharing::EveryReceiver,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = OneToAll<Pipes, ByteStream>;

    fn probe() -> Result<Limits, Unavailable> {
        let try_it = || {
            let (own, one) = (pipe::pipe()?, pipe::pipe()?);
            write(own.1.as_handle(), &[0])?;
            pipe::tee(own.0.as_handle(), one.1.as_handle(), 1)
        };
        try_it().map(|_| Limits::none()).map_err(|error| {
            Unavailable::new(
                format!("tee is refused here: {error}"),
                "run outside of the seccomp filter that forbids it",
            )
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let new = || {
            let ends = pipe::pipe()?;
            if let Some(bytes) = specification.buffer_bytes {
                pipe::set_size(ends.0.as_handle(), bytes)?;
            }
            Ok(ends)
        };
        let there = (0..specification.receivers).map(|_| new()).collect::<io::Result<Vec<_>>>()?;
        let back = new()?;
        let bytes = pipe::size_bytes(back.0.as_handle())? as usize;
        let [depth, depth_back] = specification.sizes_bytes.map(|size_bytes| {
            // Each page occupies a slot of the pipe.
            Depth::of(bytes / page_bytes() / size_bytes.div_ceil(page_bytes()).max(1))
        });
        let mut link = Link::new([depth, depth_back]);
        link.note("pipe-size-bytes", bytes);
        link.give_pair(back);
        let (readers, writers): (Vec<_>, Vec<_>) = there.into_iter().unzip();
        link.give_all(Role::Initiator, writers);
        give_each(&mut link, readers)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        open_streams(specification, setup, |mut others| {
            let last = others.pop().ok_or_else(|| io::Error::other("the link has no receiver"))?;
            Ok(Pipes { own: pipe::pipe()?, others, last })
        })
    }
}

/// The sender's private pipe, and the pipes to the receivers.
#[derive(Debug)]
pub struct Pipes {
    own: (Handle, Handle),
    others: Vec<Handle>,
    last: Handle,
}

impl ToAll for Pipes {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let (reader, writer) = (self.own.0.as_handle(), self.own.1.as_handle());
        for page in message.chunks(page_bytes()) {
            whole(page, write(writer, page)?)?;
            for other in &self.others {
                whole(page, pipe::tee(reader, other.as_handle(), page.len())?)?;
            }
            whole(page, pipe::move_on(reader, self.last.as_handle(), page.len())?)?;
        }
        Ok(())
    }
}

/// Checks that a call has transferred the complete page.
#[inline]
fn whole(page: &[u8], done: usize) -> io::Result<()> {
    if done == page.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

//! Handing over a pair of connected sockets, with buffers of the size that was asked for.

use crate::{Link, LinkSpecification};
use furlong_os::socket::{Buffer, buffer_bytes, set_buffer};
use furlong_os::{AsHandle, Handle};
use std::io;

/// Gives each role its socket, the initiator's first, and notes the buffers in force: of the initiator's socket, and
/// as the kernel counts, which doubles what it is asked for to have room for its bookkeeping.
pub(crate) fn link(pair: (Handle, Handle), specification: &LinkSpecification) -> io::Result<Link> {
    if let Some(bytes) = specification.buffer_bytes {
        for end in [&pair.0, &pair.1] {
            set_buffer(end.as_handle(), Buffer::Send, bytes)?;
            set_buffer(end.as_handle(), Buffer::Receive, bytes)?;
        }
    }
    let mut link = Link::new();
    link.note("send-buffer-bytes", buffer_bytes(pair.0.as_handle(), Buffer::Send)?);
    link.note("receive-buffer-bytes", buffer_bytes(pair.0.as_handle(), Buffer::Receive)?);
    link.give_pair(pair);
    Ok(link)
}

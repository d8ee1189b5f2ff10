//! What sockets that keep messages apart share.

use crate::socket_link::{self, Holds};
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Message};
use furlong_model::{Call, Calls, Limits, Unavailable};
use furlong_os::handle::set_non_blocking;
use furlong_os::socket::{self, Buffer, Kind};
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// One call carries one message.
pub(crate) const DATAGRAM_CALLS: Calls = Calls::of(&[Call::Once("sendto")], &[Call::Once("recvfrom")]);

/// An end of a socket on which one call carries one message.
#[derive(Debug)]
pub struct Datagram {
    socket: Handle,
}

impl Datagram {
    /// Takes a socket from the set-up.
    pub(crate) fn open(setup: &mut EndpointSetup, blocking: bool) -> io::Result<Datagram> {
        let socket = setup.descriptor()?;
        set_non_blocking(socket.as_handle(), !blocking)?;
        Ok(Datagram { socket })
    }
}

impl Endpoint for Datagram {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match socket::send(self.socket.as_handle(), message)? {
            count if count == message.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        match socket::receive_message(self.socket.as_handle(), message)? {
            // No message here is empty, so this is how a connected socket says that its peer is gone.
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.socket.as_handle())
    }
}

/// Room that the kernel takes of a buffer beside the message itself, generously.
const BOOKKEEPING_BYTES: usize = 4096;

/// Makes room for the largest message in both sockets, unless their buffers were asked for, and hands them over.
pub(crate) fn link(
    pair: (Handle, Handle),
    holds: Holds,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    if specification.buffer_bytes.is_none() {
        let needed = specification.largest_bytes().saturating_add(BOOKKEEPING_BYTES);
        for end in [&pair.0, &pair.1] {
            socket::grow_buffer(end.as_handle(), Buffer::Send, needed)?;
            socket::grow_buffer(end.as_handle(), Buffer::Receive, needed)?;
        }
    }
    socket_link::link(pair, holds, specification)
}

/// What limits a message on a UNIX socket of this kind.
pub(crate) fn unix_limits(kind: Kind) -> Result<Limits, Unavailable> {
    match largest_unix_message(kind) {
        Ok(size) => Ok(Limits::at(
            size,
            "the kernel keeps a message in one buffer, within the socket's send buffer",
            "raise net.core.wmem_max (up to a few MiB; above that the kernel finds no memory in one piece)",
        )),
        Err(error) => Err(Unavailable::new(error.to_string(), "")),
    }
}

/// The largest message that a pair of UNIX sockets of this kind carries here, found by sending some: the
/// limit depends on buffers, rights and how much memory the kernel finds in one piece.
fn largest_unix_message(kind: Kind) -> io::Result<usize> {
    const CEILING: usize = 64 << 20;
    let (sender, receiver) = socket::socketpair(kind)?;
    socket::grow_buffer(sender.as_handle(), Buffer::Send, CEILING + BOOKKEEPING_BYTES)?;
    set_non_blocking(sender.as_handle(), true)?;
    let bytes = Message::new(CEILING)?;
    let mut sink = [0; 1];
    let mut carries = |size: usize| {
        let sent = socket::send(sender.as_handle(), &bytes[..size]).is_ok();
        sent && socket::receive_message(receiver.as_handle(), &mut sink).is_ok_and(|count| count == size)
    };
    let (mut carried, mut refused) = (0, CEILING + 1);
    while refused - carried > 1 {
        let middle = carried + (refused - carried) / 2;
        if carries(middle) {
            carried = middle;
        } else {
            refused = middle;
        }
    }
    Ok(carried)
}

//! Code shared by sockets that keep message boundaries.

#[cfg(target_os = "linux")]
use crate::MessageBatch;
#[cfg(target_os = "linux")]
use crate::linux::datagram_batches::DatagramBatches;
#[cfg(target_os = "linux")]
use crate::linux::zero_copy::{ZeroCopySends, zero_copy_sends};
use crate::socket_link::{self, MessageBuffers};
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Message};
use furlong_model::{Call, Calls, Role};
use furlong_os::BorrowedHandle;
use furlong_os::socket::{self, Buffer};
#[cfg(target_os = "linux")]
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, Handle};
use std::io;

/// One call per message.
#[cfg(target_os = "linux")]
pub(crate) const DATAGRAM_CALLS: Calls = Calls::of(&[Call::Once("sendto")], &[Call::Once("recvfrom")]);
/// One call per message.
#[cfg(windows)]
pub(crate) const DATAGRAM_CALLS: Calls = Calls::of(&[Call::Once("send")], &[Call::Once("recv")]);

/// Sends a message with one call.
#[inline]
pub(crate) fn send_one(socket: BorrowedHandle<'_>, message: &Message) -> io::Result<()> {
    match socket::send(socket, message)? {
        count if count == message.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Receives a message with one call, and returns its length.
#[inline]
pub(crate) fn receive_one(socket: BorrowedHandle<'_>, message: &mut Message) -> io::Result<usize> {
    match socket::receive_message(socket, message)? {
        // No message here is empty, so a length of 0 means that the peer of a connected socket has closed it.
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok(count),
    }
}

/// An end of a socket that carries one message per call.
#[derive(Debug)]
pub struct Datagram {
    socket: Handle,
    #[cfg(target_os = "linux")]
    zero_copy: Option<ZeroCopySends>,
    #[cfg(target_os = "linux")]
    batches: DatagramBatches,
}

impl Datagram {
    /// Opens an end with a socket from the set-up.
    pub(crate) fn open(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Datagram> {
        Ok(Datagram {
            socket: socket::settle(setup.descriptor()?, specification.blocking)?,
            #[cfg(target_os = "linux")]
            zero_copy: zero_copy_sends(specification),
            #[cfg(target_os = "linux")]
            batches: DatagramBatches::new(specification),
        })
    }
}

impl Endpoint for Datagram {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(sends) = &self.zero_copy {
            // A datagram is sent completely.
            return sends.send(self.socket.as_handle(), message).map(drop);
        }
        send_one(self.socket.as_handle(), message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let result = receive_one(self.socket.as_handle(), message);
        #[cfg(target_os = "linux")]
        if let (Err(_), Some(sends)) = (&result, &self.zero_copy) {
            sends.collect(self.socket.as_handle())?;
        }
        result
    }

    #[cfg(target_os = "linux")]
    fn send_with_priority(&mut self, message: &mut Message, priority: u32) -> io::Result<()> {
        socket::send_with_priority(self.socket.as_handle(), message, priority).map(drop)
    }

    #[cfg(target_os = "linux")]
    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        self.batches.send(self.socket.as_handle(), batch, count)
    }

    #[cfg(target_os = "linux")]
    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        self.batches.receive(self.socket.as_handle(), batch)
    }

    #[cfg(target_os = "linux")]
    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        self.zero_copy.as_ref().map_or(0, ZeroCopySends::most)
    }

    #[cfg(target_os = "linux")]
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.socket.as_handle())
    }
}

/// Upper bound of the buffer bytes that the kernel uses in addition to the message itself.
pub(super) const BOOKKEEPING_BYTES: usize = 4096;

/// Makes a link of both sockets, with room for the largest message unless a buffer size was requested.
pub(crate) fn link(
    pair: (Handle, Handle),
    holds: MessageBuffers,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    for end in [&pair.0, &pair.1] {
        make_room(end, specification)?;
    }
    socket_link::link(pair, holds, specification)
}

/// Makes a link of one role's socket, whose peer is on another host.
pub(crate) fn one_end(
    socket: Handle,
    role: Role,
    holds: MessageBuffers,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    make_room(&socket, specification)?;
    socket_link::one_end(socket, role, holds, specification)
}

/// Makes room in both buffers of a socket for the largest message, or sets the requested buffer size, if there is one.
pub(crate) fn make_room(end: &Handle, specification: &LinkSpecification) -> io::Result<()> {
    if specification.buffer_bytes.is_some() {
        return socket_link::set_buffers(end.as_handle(), specification);
    }
    let needed = specification.largest_bytes().saturating_add(BOOKKEEPING_BYTES);
    socket::grow_buffer(end.as_handle(), Buffer::Send, needed)?;
    socket::grow_buffer(end.as_handle(), Buffer::Receive, needed)
}

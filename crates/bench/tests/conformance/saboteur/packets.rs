//! The connection of broken mechanisms on Linux: a pair of sequential-packet sockets.

use furlong_mechanism::MessageBatch;
use furlong_os::handle::set_non_blocking;
use furlong_os::linux::message_batch::MessageHeaders;
use furlong_os::socket::{self, Kind};
use furlong_os::{AsHandle, Handle};
use std::io;

/// The system calls that send and receive a message.
pub const CALLS: [&str; 2] = ["sendto", "recvfrom"];

/// The error of a non-blocking send to a full connection.
pub const FULL: &str = "os error 11";

pub fn pair(_name: &str) -> io::Result<(Handle, Handle)> {
    socket::socketpair(Kind::Seqpacket)
}

pub fn settle(end: &Handle, blocking: bool) -> io::Result<()> {
    set_non_blocking(end.as_handle(), !blocking)
}

pub fn send(end: &Handle, bytes: &[u8]) -> io::Result<()> {
    socket::send(end.as_handle(), bytes).map(drop)
}

/// Receives a message. Returns 0 at the end of the connection.
pub fn receive(end: &Handle, buffer: &mut [u8]) -> io::Result<usize> {
    socket::receive_message(end.as_handle(), buffer)
}

/// Receives several messages with one call, and sets their lengths. The first is empty at the end of the connection.
pub fn receive_several(end: &Handle, batch: &mut MessageBatch) -> io::Result<usize> {
    let (mut headers, size_bytes) = (MessageHeaders::new(batch.most()), batch.size_bytes());
    let count = headers.receive(end.as_handle(), batch.room(), size_bytes)?;
    for (place, length) in batch.lengths.iter_mut().enumerate().take(count) {
        *length = headers.length(place);
    }
    Ok(count)
}

//! The connection of broken mechanisms on Windows: a named pipe in message mode.

use furlong_mechanism::MessageBatch;
use furlong_os::windows::pipe::{Calls, Mode, named, read_message, write_without_waiting};
use furlong_os::{AsHandle, Handle, handle};
use std::io;

/// The system calls that send and receive a message.
pub const CALLS: [&str; 2] = ["WriteFile", "ReadFile"];

/// The error of a non-blocking send to a full connection.
pub const FULL: &str = "operation would block";

/// The buffer size in each direction, in bytes.
const HELD_BYTES: usize = 64 << 10;

pub fn pair(name: &str) -> io::Result<(Handle, Handle)> {
    named(name, Mode::Message, [Calls::Synchronous; 2], HELD_BYTES)
}

pub fn settle(end: &Handle, blocking: bool) -> io::Result<()> {
    if blocking { Ok(()) } else { write_without_waiting(end, Mode::Message) }
}

pub fn send(end: &Handle, bytes: &[u8]) -> io::Result<()> {
    match handle::write(end.as_handle(), bytes)? {
        sent if sent == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// Receives a message. Returns 0 at the end of the connection.
pub fn receive(end: &Handle, buffer: &mut [u8]) -> io::Result<usize> {
    read_message(end.as_handle(), buffer)
}

/// Receives one message of a batch, and sets its length, which is 0 at the end of the connection.
pub fn receive_several(end: &Handle, batch: &mut MessageBatch) -> io::Result<usize> {
    let size_bytes = batch.size_bytes();
    batch.lengths[0] = receive(end, &mut batch.room()[..size_bytes])?;
    Ok(1)
}

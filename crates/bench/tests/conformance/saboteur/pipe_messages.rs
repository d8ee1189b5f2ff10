//! A named pipe that keeps messages apart.

use furlong_os::windows::pipe::{Calls, Mode, named, read_message, write_without_waiting};
use furlong_os::{AsHandle, Handle, handle};
use std::io;

/// The system calls that send and receive a message.
pub const CALLS: [&str; 2] = ["WriteFile", "ReadFile"];

/// What a send to a full connection is told that may not wait.
pub const FULL: &str = "operation would block";

/// Bytes that are held each way.
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

/// 0 is the end.
pub fn receive(end: &Handle, buffer: &mut [u8]) -> io::Result<usize> {
    read_message(end.as_handle(), buffer)
}

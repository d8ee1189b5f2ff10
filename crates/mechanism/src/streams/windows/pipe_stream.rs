//! What byte pipes share: bytes in order, without boundaries, in a buffer with a quota.

use crate::{Endpoint, Message};
use furlong_model::{Call, Calls, Depth, Wait};
use furlong_os::handle::{read, write};
use furlong_os::windows::pipe::{Mode, size_bytes, try_read, try_write, write_without_waiting};
use furlong_os::{AsHandle, Handle};
use std::io;

/// A pipe is written to and read from like a file.
pub(super) const PIPE_CALLS: Calls = Calls::of(&[Call::Once("WriteFile")], &[Call::Once("ReadFile")]);

/// The ways to wait for a pipe that is opened for synchronous calls: nothing else can be told of it than by asking
/// (`PeekNamedPipe`).
pub(super) const PIPE_WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Yield];

/// What a pipe of this quota holds at least when a writer waits.
pub(super) fn depth(quota_bytes: usize, size_bytes: usize) -> Depth {
    Depth::of(quota_bytes / size_bytes.max(1))
}

/// An end of a byte pipe each way: messages are told apart by their agreed length.
#[derive(Debug)]
pub struct PipeStream {
    reader: Handle,
    writer: Handle,
    blocking: bool,
    /// What a writer that does not wait may be charged for at once.
    quota_bytes: usize,
    /// Bytes of the message under way that are done, where a non-blocking call gave up in the middle.
    received: usize,
    sent: usize,
}

impl PipeStream {
    /// An end of two pipes, or twice that of one that leads both ways.
    pub(super) fn new(reader: Handle, writer: Handle, blocking: bool) -> io::Result<PipeStream> {
        let quota_bytes = size_bytes(writer.as_handle())?;
        if !blocking {
            write_without_waiting(&writer, Mode::Byte)?;
        }
        Ok(PipeStream { reader, writer, blocking, quota_bytes, received: 0, sent: 0 })
    }
}

impl Endpoint for PipeStream {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        while self.sent < message.len() {
            let rest = &message[self.sent..];
            self.sent += if self.blocking {
                write(self.writer.as_handle(), rest)?
            } else {
                try_write(self.writer.as_handle(), rest, self.quota_bytes)?
            };
        }
        self.sent = 0;
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        while self.received < message.len() {
            let room = &mut message[self.received..];
            let count = if self.blocking {
                read(self.reader.as_handle(), room)?
            } else {
                try_read(self.reader.as_handle(), room)?
            };
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.received += count;
        }
        self.received = 0;
        Ok(message.len())
    }
}

//! Code shared by byte pipes: bytes in order, without boundaries, in a buffer with a quota.

use crate::streams::stream::{Stream, Ways};
use furlong_model::{Call, Calls, Depth, Wait};
use furlong_os::handle::{read, write};
use furlong_os::windows::pipe::{Mode, size_bytes, try_read, try_write, write_without_waiting};
use furlong_os::{AsHandle, Handle};
use std::io;

/// A pipe is written to and read from like a file.
pub(super) const PIPE_CALLS: Calls = Calls::of(&[Call::Once("WriteFile")], &[Call::Once("ReadFile")]);

/// Wait strategies of a pipe that is opened for synchronous calls: its state is only known by polling (`PeekNamedPipe`).
pub(super) const PIPE_WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Yield];

/// Returns the minimum number of messages in a pipe of this quota when a writer waits.
pub(super) fn depth(quota_bytes: usize, size_bytes: usize) -> Depth {
    Depth::of(quota_bytes / size_bytes.max(1))
}

/// A pipe to write to and one to read from, or the same bidirectional pipe twice.
#[derive(Debug)]
pub struct PipePair {
    reader: Handle,
    writer: Handle,
    blocking: bool,
    /// Maximum bytes that a non-waiting writer may write at once.
    quota_bytes: usize,
}

/// An end with a byte pipe in each direction.
pub type PipeStream = Stream<PipePair>;

impl PipeStream {
    /// Opens an end with two pipes, or with a bidirectional pipe twice.
    pub(super) fn new(reader: Handle, writer: Handle, blocking: bool) -> io::Result<PipeStream> {
        let quota_bytes = size_bytes(writer.as_handle())?;
        if !blocking {
            write_without_waiting(&writer, Mode::Byte)?;
        }
        Ok(Stream::over(PipePair { reader, writer, blocking, quota_bytes }))
    }
}

impl Ways for PipePair {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let writer = self.writer.as_handle();
        if self.blocking { write(writer, bytes) } else { try_write(writer, bytes, self.quota_bytes) }
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let reader = self.reader.as_handle();
        if self.blocking { read(reader, buffer) } else { try_read(reader, buffer) }
    }
}

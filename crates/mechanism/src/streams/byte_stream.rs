//! Code shared by pipes, FIFOs and stream sockets of Linux: a descriptor to write to and one to read from.

pub(crate) use super::stream::limits;
use super::stream::{Stream, Ways};
use crate::handle_pair::HandlePair;
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::{Call, Calls, Wait};
use furlong_os::handle::{read, write};
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A stream is written to and read from like a file.
pub(crate) const STREAM_CALLS: Calls = Calls::of(&[Call::Once("write")], &[Call::Once("read")]);

/// Wait strategies of a descriptor.
pub(crate) const DESCRIPTOR_WAITS: &[Wait] = &[
    Wait::Block,
    Wait::Spin,
    Wait::Yield,
    Wait::Select,
    Wait::Poll,
    Wait::Epoll,
    Wait::IoUring,
    Wait::SelectFirst,
];

/// An end of a byte stream over descriptors.
pub type ByteStream = Stream<HandlePair>;

impl Ways for HandlePair {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(self.send.as_handle(), bytes)
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.receive.as_handle(), buffer)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(HandlePair::readiness(self, interest))
    }
}

impl ByteStream {
    /// Opens an end with a reading and a writing descriptor from the set-up.
    pub(crate) fn from_pair(setup: &mut EndpointSetup, blocking: bool) -> io::Result<ByteStream> {
        ByteStream::new(setup.descriptor()?, setup.descriptor()?, blocking)
    }

    /// Opens an end with a socket from the set-up.
    pub(crate) fn from_socket(setup: &mut EndpointSetup, link: &LinkSpecification) -> io::Result<ByteStream> {
        let socket = setup.descriptor()?;
        Ok(ByteStream::new(socket.try_clone()?, socket, link.blocking)?.with_writes(link))
    }

    /// Returns the descriptor to write to.
    #[inline]
    pub(crate) fn writer(&self) -> BorrowedHandle<'_> {
        self.ways.send.as_handle()
    }

    /// Opens an end that is only read from.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_reader(reader: Handle) -> io::Result<ByteStream> {
        ByteStream::new(reader.try_clone()?, reader, true)
    }

    /// Opens an end that reads from `reader` and writes to `writer`.
    pub(crate) fn new(reader: Handle, writer: Handle, blocking: bool) -> io::Result<ByteStream> {
        Ok(Stream::over(HandlePair::new(writer, reader, blocking)?))
    }
}

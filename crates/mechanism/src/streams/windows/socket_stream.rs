//! Byte streams over Windows sockets.

use crate::streams::stream::{Stream, Ways};
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::{Call, Calls};
use furlong_os::socket::{send, settle};
use furlong_os::windows::socket::receive;
use furlong_os::{AsHandle, Handle};
use std::io;

/// Windows has separate calls for sockets.
pub(crate) const STREAM_CALLS: Calls = Calls::of(&[Call::Once("send")], &[Call::Once("recv")]);

/// A socket to write to and to read from.
#[derive(Debug)]
pub struct Socket(Handle);

/// An end of a stream over a socket.
pub type SocketStream = Stream<Socket>;

impl Ways for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0.as_handle(), bytes)
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        receive(self.0.as_handle(), buffer)
    }
}

impl SocketStream {
    /// Opens an end with a socket from the set-up.
    pub(crate) fn from_socket(
        setup: &mut EndpointSetup,
        link: &LinkSpecification,
    ) -> io::Result<SocketStream> {
        Ok(Stream::over(Socket(settle(setup.descriptor()?, link.blocking)?)).with_writes(link))
    }
}

//! A TCP socket with the requested options that each message needs again.

use crate::linux::zero_copy::{ZeroCopySends, zero_copy_sends};
use crate::streams::stream::{Stream, Ways};
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::SocketOption;
use furlong_os::handle::{read, write};
use furlong_os::linux::socket_options::{acknowledge, cork};
use furlong_os::socket::settle;
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A TCP socket, and its options.
#[derive(Debug)]
pub struct TcpSocket {
    socket: Handle,
    /// Whether received data is acknowledged after each read, because the kernel clears the option.
    acknowledges: bool,
    /// Whether each message is corked until it is complete.
    corks: bool,
    zero_copy: Option<ZeroCopySends>,
}

/// An end of a stream over a TCP socket.
pub type TcpStream = Stream<TcpSocket>;

impl Ways for TcpSocket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.zero_copy {
            None => write(self.socket.as_handle(), bytes),
            Some(sends) => sends.send(self.socket.as_handle(), bytes),
        }
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let socket = self.socket.as_handle();
        let result = read(socket, buffer);
        if self.acknowledges && result.is_ok() {
            acknowledge(socket)?;
        }
        if let (Err(_), Some(sends)) = (&result, &self.zero_copy) {
            sends.collect(socket)?;
        }
        result
    }

    #[inline(always)]
    fn hold(&self, is_incomplete: bool) -> io::Result<()> {
        if self.corks { cork(self.socket.as_handle(), is_incomplete) } else { Ok(()) }
    }

    fn unread_buffers(&self) -> usize {
        self.zero_copy.as_ref().map_or(0, ZeroCopySends::most)
    }

    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.socket.as_handle())
    }
}

impl TcpStream {
    /// Opens an end with a socket from the set-up.
    pub(crate) fn from_socket(setup: &mut EndpointSetup, link: &LinkSpecification) -> io::Result<TcpStream> {
        let has = |option: SocketOption| link.conditions.socket_options().contains(&option);
        let socket = TcpSocket {
            socket: settle(setup.descriptor()?, link.blocking)?,
            acknowledges: has(SocketOption::QuickAck),
            corks: has(SocketOption::Cork),
            zero_copy: zero_copy_sends(link),
        };
        Ok(Stream::over(socket).with_writes(link))
    }
}

//! An end of a stream socket. Linux reads and writes a socket like a file; Windows has separate calls for sockets.

#[cfg(target_os = "linux")]
pub(crate) use super::byte_stream::{ByteStream as SocketStream, STREAM_CALLS};
#[cfg(target_os = "linux")]
pub(crate) use super::linux::tcp_socket::TcpStream;
#[cfg(windows)]
pub(crate) use super::windows::socket_stream::{STREAM_CALLS, SocketStream, SocketStream as TcpStream};

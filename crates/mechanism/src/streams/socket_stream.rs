//! An end of a stream socket. Linux reads and writes one like a file; Windows has calls of its own for sockets.

#[cfg(target_os = "linux")]
pub(crate) use super::byte_stream::{ByteStream as SocketStream, STREAM_CALLS};
#[cfg(windows)]
pub(crate) use super::windows::socket_stream::{STREAM_CALLS, SocketStream};

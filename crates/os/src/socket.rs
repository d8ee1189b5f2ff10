//! Connected sockets, and messages through them. The supervisor always creates sockets of the loopback interface as a pair, which
//! avoids a start-up race.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::platform::socket::ask_for_buffer;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

#[cfg(target_os = "linux")]
pub use crate::platform::socket::{Kind, send_with_priority, socketpair, unix_pair};
pub use crate::platform::socket::{
    buffer_bytes, has_unix_streams, owned, receive_message, send, set_buffer, settle, unix_stream_pair,
};
pub use crate::platform::socket_options::set as set_socket_option;
pub use crate::socket_buffer::Buffer;

/// Returns a TCP connection over loopback that sends small messages immediately (`TCP_NODELAY`).
///
/// # Errors
/// Returns an error if there is no loopback interface.
pub fn tcp_pair() -> io::Result<(Handle, Handle)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context(|| "bind a TCP port of 127.0.0.1")?;
    let initiator = TcpStream::connect(listener.local_addr()?).context(|| "connect over loopback")?;
    loop {
        let (responder, from) = listener.accept()?;
        // Any process on this machine may have connected in between: only our own connection is accepted.
        if from == initiator.local_addr()? {
            initiator.set_nodelay(true)?;
            responder.set_nodelay(true)?;
            return Ok((owned(initiator), owned(responder)));
        }
    }
}

/// Returns two UDP sockets on loopback, each connected to the other, so that neither receives datagrams of other processes.
///
/// # Errors
/// Returns an error if there is no loopback interface.
pub fn udp_pair() -> io::Result<(Handle, Handle)> {
    let bound = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context(|| "bind a UDP port of 127.0.0.1");
    let (initiator, responder) = (bound()?, bound()?);
    initiator.connect(responder.local_addr()?)?;
    responder.connect(initiator.local_addr()?)?;
    // Datagrams that arrived before `connect` are still queued.
    drop_received(&initiator)?;
    drop_received(&responder)?;
    Ok((owned(initiator), owned(responder)))
}

/// Receives all datagrams that have arrived, and drops them.
///
/// # Errors
/// Returns an error if a receive fails.
pub fn drop_received(socket: &UdpSocket) -> io::Result<()> {
    // Room for the longest datagram, because Windows reports an error if one is longer than the buffer.
    let mut buffer = vec![0; 1 << 16];
    socket.set_nonblocking(true)?;
    drop_all(|| socket.recv(&mut buffer))?;
    socket.set_nonblocking(false)
}

/// Receives until a receive would block.
pub(crate) fn drop_all(mut receive: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    loop {
        match receive() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context(|| "receive what others have sent"),
        }
    }
}

/// Requests a buffer of at least `bytes`, up to the limit of this process.
///
/// # Errors
/// Returns an error if the handle is not a socket.
pub fn grow_buffer(socket: BorrowedHandle<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    if buffer_bytes(socket, buffer)? < bytes { ask_for_buffer(socket, buffer, bytes) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_have_sent_is_dropped() {
        let bound = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (stranger, socket) = (bound(), bound());
        let send = |text: &[u8]| stranger.send_to(text, socket.local_addr().unwrap()).unwrap();
        send(b"not asked for");
        send(b"");
        send(&[0; 5000]);
        drop_received(&socket).unwrap();
        send(b"after");
        let mut buffer = [0; 100];
        let received = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..received], b"after");
    }
}

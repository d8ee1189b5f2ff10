//! Sockets, and messages through them.
//!
//! A socket is a handle that a child inherits like any other. A process must initialise the socket library (`WSAStartup`) before
//! it uses sockets.

use crate::error::Context;
use crate::handle::{AsHandle, BorrowedHandle, Handle};
use crate::socket_buffer::Buffer;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawSocket, RawHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use windows_sys::Win32::Networking::WinSock::{
    AF_UNIX, FIONBIO, FROM_PROTOCOL_INFO, INVALID_SOCKET, SO_RCVBUF, SO_SNDBUF, SOCK_STREAM, SOCKADDR_UN,
    SOCKET, SOCKET_ERROR, SOL_SOCKET, WSA_FLAG_OVERLAPPED, WSADATA, WSADuplicateSocketW, WSAEMSGSIZE,
    WSAPROTOCOL_INFOW, WSASocketW, WSAStartup, accept, bind, connect, getsockopt, ioctlsocket, listen, recv,
    send as send_bytes, setsockopt,
};

/// Returns the handle of a socket of the standard library.
pub fn owned(socket: impl IntoRawSocket) -> Handle {
    // SAFETY: the previous owner gives the socket up here, and a socket is a handle of Windows.
    unsafe { Handle::from_raw_handle(socket.into_raw_socket() as usize as RawHandle) }
}

fn number(socket: BorrowedHandle<'_>) -> SOCKET {
    socket.as_raw_handle() as SOCKET
}

/// Returns the last error unless the result is 0.
fn check(result: i32) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Initialises the socket library, once per process.
fn start() -> io::Result<()> {
    const VERSION_2_2: u16 = 0x202;
    static STARTED: OnceLock<i32> = OnceLock::new();
    let result = STARTED.get_or_init(|| {
        let mut data = WSADATA::default();
        // SAFETY: one structure is written.
        unsafe { WSAStartup(VERSION_2_2, &raw mut data) }
    });
    if *result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(*result)) }
}

/// Prepares a socket that this process inherited or created, for calls that wait or that return `WouldBlock`.
///
/// # Errors
/// Returns an error if the handle is not a socket.
pub fn settle(socket: Handle, blocking: bool) -> io::Result<Handle> {
    start()?;
    let socket = duplicate(socket.as_handle()).context(|| "WSADuplicateSocket")?;
    set_non_blocking(socket.as_handle(), !blocking)?;
    Ok(socket)
}

/// Duplicates the socket in the way of passing one to another process. On Windows an inherited socket works, but Wine's library
/// knows only sockets that it has created itself.
fn duplicate(socket: BorrowedHandle<'_>) -> io::Result<Handle> {
    let mut described = WSAPROTOCOL_INFOW::default();
    // SAFETY: one structure is written, and then read; the new handle has no other owner.
    unsafe {
        check(WSADuplicateSocketW(number(socket), std::process::id(), &raw mut described))?;
        let any = FROM_PROTOCOL_INFO;
        let made = WSASocketW(any, any, any, &raw const described, 0, WSA_FLAG_OVERLAPPED);
        if made == INVALID_SOCKET {
            return Err(io::Error::last_os_error());
        }
        Ok(Handle::from_raw_handle(made as RawHandle))
    }
}

fn set_non_blocking(socket: BorrowedHandle<'_>, non_blocking: bool) -> io::Result<()> {
    let mut value = u32::from(non_blocking);
    // SAFETY: one integer is read.
    check(unsafe { ioctlsocket(number(socket), FIONBIO, &raw mut value) }).context(|| "ioctlsocket")
}

impl Buffer {
    fn option(self) -> i32 {
        match self {
            Buffer::Send => SO_SNDBUF,
            Buffer::Receive => SO_RCVBUF,
        }
    }
}

/// Returns the size of the buffer in bytes.
///
/// # Errors
/// Returns an error if the handle is not a socket.
pub fn buffer_bytes(socket: BorrowedHandle<'_>, buffer: Buffer) -> io::Result<usize> {
    let mut bytes = 0i32;
    let mut len = size_of::<i32>() as i32;
    // SAFETY: one integer and its length are written.
    check(unsafe {
        let value = (&raw mut bytes).cast();
        getsockopt(number(socket), SOL_SOCKET, buffer.option(), value, &raw mut len)
    })?;
    Ok(bytes as usize)
}

/// Sets a buffer to `bytes`.
///
/// # Errors
/// Returns `PermissionDenied` if the buffer is still smaller.
pub fn set_buffer(socket: BorrowedHandle<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    ask_for_buffer(socket, buffer, bytes)?;
    match buffer_bytes(socket, buffer)? {
        in_force if in_force >= bytes => Ok(()),
        in_force => {
            let words = format!("a socket buffer of {bytes} bytes was requested, but it has {in_force}");
            Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
        }
    }
}

pub(crate) fn ask_for_buffer(socket: BorrowedHandle<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    let (bytes, len) = (i32::try_from(bytes).unwrap_or(i32::MAX), size_of::<i32>() as i32);
    // SAFETY: one integer is read.
    check(unsafe { setsockopt(number(socket), SOL_SOCKET, buffer.option(), (&raw const bytes).cast(), len) })
}

/// Returns the number of bytes for one call, which is limited to 31 bits.
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// Returns the count of a call, or its error.
#[inline]
fn count(result: i32) -> io::Result<usize> {
    if result == SOCKET_ERROR { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

/// Makes one `send` call. On a stream it may send fewer bytes.
#[inline]
pub fn send(socket: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: Windows only reads the bytes.
    count(unsafe { send_bytes(number(socket), bytes.as_ptr(), length(bytes.len()), 0) })
}

/// Makes one `recv` call. 0 is the end of a stream.
#[inline]
pub fn receive(socket: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: at most `buffer.len()` bytes are written into a buffer that we hold exclusively.
    count(unsafe { recv(number(socket), buffer.as_mut_ptr(), length(buffer.len()), 0) })
}

/// Makes one `recv` call for a message. For a message longer than the buffer it returns the buffer's length plus one, because
/// Windows does not report the length.
#[inline]
pub fn receive_message(socket: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match receive(socket, buffer) {
        Err(error) if error.raw_os_error() == Some(WSAEMSGSIZE) => Ok(buffer.len() + 1),
        received => received,
    }
}

/// Checks whether this Windows has UNIX stream sockets.
///
/// # Errors
/// Returns the reason if it has none.
pub fn has_unix_streams() -> io::Result<()> {
    unix_socket().map(drop)
}

fn unix_socket() -> io::Result<Handle> {
    start()?;
    // SAFETY: the new socket has no other owner.
    let made = unsafe { WSASocketW(AF_UNIX.into(), SOCK_STREAM, 0, null(), 0, WSA_FLAG_OVERLAPPED) };
    if made == INVALID_SOCKET {
        return Err(io::Error::last_os_error()).context(|| "socket AF_UNIX");
    }
    // SAFETY: the new socket has no other owner, and is a handle of Windows.
    Ok(unsafe { Handle::from_raw_handle(made as RawHandle) })
}

/// Returns a pair connected over a path in `folder`, and removes the path before it returns.
///
/// # Errors
/// Returns an error if there are no such sockets, or the path is too long.
pub fn unix_stream_pair(folder: &Path) -> io::Result<(Handle, Handle)> {
    let path = folder.join("responder.socket");
    let pair = connected_pair(&path);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    pair.context(|| format!("UNIX socket in {}", folder.display()))
}

fn connected_pair(path: &Path) -> io::Result<(Handle, Handle)> {
    let address = unix_address(path)?;
    let (address, length) = ((&raw const address).cast(), size_of::<SOCKADDR_UN>() as i32);
    let (listener, initiator) = (unix_socket()?, unix_socket()?);
    // SAFETY: the address is only read; the new socket has no other owner.
    unsafe {
        check(bind(number(listener.as_handle()), address, length)).context(|| "bind")?;
        check(listen(number(listener.as_handle()), 1)).context(|| "listen")?;
        check(connect(number(initiator.as_handle()), address, length)).context(|| "connect")?;
        let made = accept(number(listener.as_handle()), null_mut(), null_mut());
        if made == INVALID_SOCKET {
            return Err(io::Error::last_os_error()).context(|| "accept");
        }
        Ok((initiator, Handle::from_raw_handle(made as RawHandle)))
    }
}

fn unix_address(path: &Path) -> io::Result<SOCKADDR_UN> {
    let mut address = SOCKADDR_UN { sun_family: AF_UNIX, ..Default::default() };
    let text = path.to_str().map(str::as_bytes).unwrap_or_default();
    let most = address.sun_path.len() - 1;
    if text.is_empty() || text.len() > most {
        let words = format!(
            "the path of a UNIX socket in the run's directory would have {} bytes, but the maximum is {most}: set \
             TMP to a directory with a shorter path",
            text.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    for (place, byte) in address.sun_path.iter_mut().zip(text) {
        *place = byte.cast_signed();
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::{tcp_pair, udp_pair};

    #[test]
    fn streams_end_and_datagrams_stay_apart() {
        let (one, other) = tcp_pair().unwrap();
        let other = settle(other, false).unwrap();
        let mut buffer = [0; 3];
        assert_eq!(receive(other.as_handle(), &mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let other = settle(other, true).unwrap();
        assert_eq!(send(one.as_handle(), b"abc").unwrap(), 3);
        assert_eq!(receive(other.as_handle(), &mut buffer).unwrap(), 3);
        drop(one);
        assert_eq!(receive(other.as_handle(), &mut buffer).unwrap(), 0);
        let (one, other) = udp_pair().unwrap();
        send(one.as_handle(), b"first").unwrap();
        send(one.as_handle(), b"a").unwrap();
        assert_eq!(receive_message(other.as_handle(), &mut buffer).unwrap(), 4, "it is longer than 3");
        assert_eq!(receive_message(other.as_handle(), &mut buffer).unwrap(), 1);
    }

    #[test]
    fn a_buffer_is_as_large_as_asked_for() {
        let (one, _other) = tcp_pair().unwrap();
        for buffer in [Buffer::Send, Buffer::Receive] {
            set_buffer(one.as_handle(), buffer, 100_000).unwrap();
            assert!(buffer_bytes(one.as_handle(), buffer).unwrap() >= 100_000);
        }
    }
}

//! Sockets, and messages through them.
//!
//! A socket is a handle that a child inherits like any other. A process has to say that it uses sockets before it does.

use crate::error::Context;
use crate::handle::{AsHandle, BorrowedHandle, Handle};
use crate::socket_buffer::Buffer;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawSocket, RawHandle};
use std::sync::OnceLock;
use windows_sys::Win32::Networking::WinSock::{
    FIONBIO, FROM_PROTOCOL_INFO, INVALID_SOCKET, SO_RCVBUF, SO_SNDBUF, SOCKET, SOCKET_ERROR, SOL_SOCKET,
    WSA_FLAG_OVERLAPPED, WSADATA, WSADuplicateSocketW, WSAEMSGSIZE, WSAPROTOCOL_INFOW, WSASocketW,
    WSAStartup, getsockopt, ioctlsocket, recv, send as send_bytes, setsockopt,
};

/// What a socket of the standard library owns.
pub(crate) fn owned(socket: impl IntoRawSocket) -> Handle {
    // SAFETY: the socket was owned by what gives it up here, and is a handle of Windows' own.
    unsafe { Handle::from_raw_handle(socket.into_raw_socket() as usize as RawHandle) }
}

fn number(socket: BorrowedHandle<'_>) -> SOCKET {
    socket.as_raw_handle() as SOCKET
}

/// 0 is success.
fn check(result: i32) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Says once that this process uses sockets.
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

/// A socket that this process inherited or made, to be used here, with calls that wait or say that they would.
///
/// # Errors
/// If it is no socket.
pub fn settle(socket: Handle, blocking: bool) -> io::Result<Handle> {
    start()?;
    let socket = duplicate(socket.as_handle()).context(|| "WSADuplicateSocket")?;
    set_non_blocking(socket.as_handle(), !blocking)?;
    Ok(socket)
}

/// The same socket once more, as Windows hands one to a process: an inherited one works there, but Wine's library knows only
/// those that it has made itself.
fn duplicate(socket: BorrowedHandle<'_>) -> io::Result<Handle> {
    let mut described = WSAPROTOCOL_INFOW::default();
    // SAFETY: one structure is written, and then read; what is given out is owned by nobody.
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

/// How many bytes the buffer may hold.
///
/// # Errors
/// If it is no socket.
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
/// `PermissionDenied` where it is smaller all the same.
pub fn set_buffer(socket: BorrowedHandle<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    ask_for_buffer(socket, buffer, bytes)?;
    match buffer_bytes(socket, buffer)? {
        in_force if in_force >= bytes => Ok(()),
        in_force => {
            let words = format!("a socket's buffer of {bytes} bytes was asked for, and it has {in_force}");
            Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
        }
    }
}

pub(crate) fn ask_for_buffer(socket: BorrowedHandle<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    let (bytes, len) = (i32::try_from(bytes).unwrap_or(i32::MAX), size_of::<i32>() as i32);
    // SAFETY: one integer is read.
    check(unsafe { setsockopt(number(socket), SOL_SOCKET, buffer.option(), (&raw const bytes).cast(), len) })
}

/// The most that one call is asked for.
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// What a call gave: a count, or an error.
#[inline]
fn count(result: i32) -> io::Result<usize> {
    if result == SOCKET_ERROR { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

/// One `send`. For a stream it may take less than all.
#[inline]
pub fn send(socket: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: Windows only reads the bytes.
    count(unsafe { send_bytes(number(socket), bytes.as_ptr(), length(bytes.len()), 0) })
}

/// One `recv`. 0 is the end of a stream.
#[inline]
pub fn receive(socket: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: at most so many bytes are written into a buffer that we hold exclusively.
    count(unsafe { recv(number(socket), buffer.as_mut_ptr(), length(buffer.len()), 0) })
}

/// One `recv` of a message. Of one that is longer than the buffer Windows does not tell the length: then it is one more.
#[inline]
pub fn receive_message(socket: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match receive(socket, buffer) {
        Err(error) if error.raw_os_error() == Some(WSAEMSGSIZE) => Ok(buffer.len() + 1),
        received => received,
    }
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

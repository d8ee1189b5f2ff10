//! UNIX datagram sockets that receive one message through one call.

use crate::error::{Context, check, retry};
use crate::linux::socket::open;
use crate::socket::drop_all;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// Returns a socket that sends, and `receivers` sockets that receive from it alone. The kernel chooses their names, which
/// disappear with the sockets.
///
/// # Errors
/// Returns an error if the kernel creates no socket.
pub fn sockets(receivers: usize) -> io::Result<(OwnedFd, Vec<OwnedFd>)> {
    let sender = named()?;
    let (address, length) = name(&sender)?;
    let receiver = |_| {
        let socket = named()?;
        // SAFETY: the kernel reads `length` bytes of the address.
        check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        without_received(socket)
    };
    let receivers = (0..receivers).map(receiver).collect::<io::Result<_>>()?;
    Ok((sender, receivers))
}

/// Returns the socket without the datagrams that others sent before it was connected.
fn without_received(socket: OwnedFd) -> io::Result<OwnedFd> {
    let socket = UnixDatagram::from(socket);
    socket.set_nonblocking(true)?;
    drop_all(|| socket.recv(&mut []))?;
    socket.set_nonblocking(false)?;
    Ok(socket.into())
}

/// Returns a socket with a name of the kernel's choice.
fn named() -> io::Result<OwnedFd> {
    let socket = open(libc::AF_UNIX, libc::SOCK_DGRAM, 0)?;
    // SAFETY: zeroes are a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let length = size_of::<libc::sa_family_t>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of the address.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
        .context(|| "name a UNIX socket")?;
    Ok(socket)
}

fn name(socket: &OwnedFd) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: zeroes are a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of the address, and the length of the address.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length) })?;
    Ok((address, length))
}

/// The sockets to which one call sends.
pub struct Addressees {
    names: Vec<(libc::sockaddr_un, libc::socklen_t)>,
    headers: Vec<libc::mmsghdr>,
}

impl fmt::Debug for Addressees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addressees").field("names", &self.names.len()).finish_non_exhaustive()
    }
}

impl Addressees {
    /// Creates the list of these sockets.
    ///
    /// # Errors
    /// Returns an error if the name of a socket cannot be read.
    pub fn of(sockets: &[OwnedFd]) -> io::Result<Addressees> {
        let names = sockets.iter().map(name).collect::<io::Result<Vec<_>>>()?;
        let headers = Vec::with_capacity(names.len());
        Ok(Addressees { names, headers })
    }

    /// Sends the bytes to all sockets: one `sendmmsg`, and another one each time that it ends early. Waits for sockets without
    /// room.
    ///
    /// # Errors
    /// Returns the error of a `send` to one of them.
    #[inline]
    pub fn send(&mut self, socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
        let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        self.headers.clear();
        for (address, length) in &mut self.names {
            // SAFETY: zeroes are a valid mmsghdr.
            let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
            header.msg_hdr.msg_name = (&raw mut *address).cast();
            header.msg_hdr.msg_namelen = *length;
            header.msg_hdr.msg_iov = &raw mut part;
            header.msg_hdr.msg_iovlen = 1;
            self.headers.push(header);
        }
        let mut sent = 0;
        while sent < self.headers.len() {
            let left = &mut self.headers[sent..];
            // SAFETY: the headers point to addresses, and to a part that describes `bytes`, all of which outlive the call; the
            // kernel writes only the lengths in the headers.
            sent += retry(|| unsafe {
                libc::sendmmsg(
                    socket.as_raw_fd(),
                    left.as_mut_ptr(),
                    left.len() as libc::c_uint,
                    libc::MSG_NOSIGNAL,
                )
            })? as usize;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::socket::receive_message;
    use std::os::fd::AsFd;

    #[test]
    fn one_call_sends_to_all() {
        let (sender, receivers) = sockets(3).unwrap();
        let mut all = Addressees::of(&receivers).unwrap();
        for text in [&b"one"[..], b"another"] {
            all.send(sender.as_fd(), text).unwrap();
        }
        let mut buffer = [0; 16];
        for receiver in &receivers {
            for text in [&b"one"[..], b"another"] {
                let length = receive_message(receiver.as_fd(), &mut buffer).unwrap();
                assert_eq!(&buffer[..length], text);
            }
        }
    }
}

//! Sockets that the supervisor creates as a connected pair, which avoids a start-up race and leaves no name behind.

use crate::error::{Context, REMEDY, check, retry};
use crate::linux::handle::{own, set_non_blocking};
use crate::linux::limited::limit;
use crate::socket_buffer::Buffer;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The kinds of UNIX sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A stream of bytes.
    Stream,
    /// Messages over a connection.
    Seqpacket,
    /// Messages without a connection.
    Datagram,
}

impl Kind {
    fn number(self) -> libc::c_int {
        match self {
            Kind::Stream => libc::SOCK_STREAM,
            Kind::Seqpacket => libc::SOCK_SEQPACKET,
            Kind::Datagram => libc::SOCK_DGRAM,
        }
    }
}

/// Length of the longest path of a UNIX socket, in bytes.
const LONGEST_PATH: usize = size_of::<libc::sockaddr_un>() - size_of::<libc::sa_family_t>() - 1;

/// Returns a connected pair without a name.
pub fn socketpair(kind: Kind) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two integers into an array of two.
    check(unsafe {
        libc::socketpair(libc::AF_UNIX, kind.number() | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr())
    })
    .context(|| "socketpair")?;
    // SAFETY: both were opened just now.
    Ok(unsafe { (own(ends[0]), own(ends[1])) })
}

/// Returns a pair connected over paths in `folder`, and removes the paths before it returns.
pub fn unix_pair(kind: Kind, folder: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    let (first, second) = (folder.join("initiator.socket"), folder.join("responder.socket"));
    check_length(&first)?;
    check_length(&second)?;
    let pair = match kind {
        Kind::Datagram => datagram_pair(&first, &second),
        Kind::Stream | Kind::Seqpacket => connected_pair(kind, &second),
    };
    for path in [&first, &second] {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    pair.context(|| format!("UNIX socket in {}", folder.display()))
}

/// Checks whether a socket can have this path, in the run's directory.
pub(crate) fn check_length(path: &Path) -> io::Result<()> {
    let (length, most) = (path.as_os_str().len(), LONGEST_PATH);
    if length <= most {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "the path of a UNIX socket in the run's directory would have {length} bytes, but the maximum is {most}: \
             set TMPDIR to a directory with a shorter path"
        ),
    ))
}

/// Returns a pair of stream sockets connected over paths in `folder`.
///
/// # Errors
/// Returns the errors of [`unix_pair`].
pub fn unix_stream_pair(folder: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    unix_pair(Kind::Stream, folder)
}

/// Checks whether there are UNIX stream sockets.
///
/// # Errors
/// Returns no error: a Linux without them starts no user's program.
pub fn has_unix_streams() -> io::Result<()> {
    Ok(())
}

/// Returns a socket that listens at `path`, which must not exist yet and is not removed.
pub fn listen(kind: Kind, path: &Path) -> io::Result<OwnedFd> {
    let listener = unix_socket(kind)?;
    bind(&listener, path)?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::listen(listener.as_raw_fd(), 1) })?;
    Ok(listener)
}

/// Returns a socket for datagrams to `path`, which must not exist yet and is not removed.
pub fn bound_datagram(path: &Path) -> io::Result<OwnedFd> {
    let socket = unix_socket(Kind::Datagram)?;
    bind(&socket, path)?;
    Ok(socket)
}

/// Returns a socket connected to the one that listens at `path`.
pub fn connect_to(kind: Kind, path: &Path) -> io::Result<OwnedFd> {
    let socket = unix_socket(kind)?;
    connect(&socket, path)?;
    Ok(socket)
}

fn connected_pair(kind: Kind, path: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    let listener = listen(kind, path)?;
    let initiator = connect_to(kind, path)?;
    let flags = libc::SOCK_CLOEXEC;
    // SAFETY: no address is requested; the new descriptor has no other owner.
    let responder = retry(|| unsafe {
        libc::accept4(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
    })
    .map(|number| unsafe { own(number) })?;
    Ok((initiator, responder))
}

fn datagram_pair(first: &Path, second: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    let (initiator, responder) = (unix_socket(Kind::Datagram)?, unix_socket(Kind::Datagram)?);
    bind(&initiator, first)?;
    bind(&responder, second)?;
    connect(&initiator, second)?;
    connect(&responder, first)?;
    Ok((initiator, responder))
}

/// Creates a socket that is closed on exec.
pub(crate) fn open(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: plain integers in and out; the new descriptor has no other owner.
    check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })
        .map(|number| unsafe { own(number) })
}

fn unix_socket(kind: Kind) -> io::Result<OwnedFd> {
    open(libc::AF_UNIX, kind.number(), 0)
}

/// Returns the kernel's form of a path, and its length.
fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: zeroes are a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= address.sun_path.len() {
        let message = format!(
            "'{}' has {} bytes, but the path of a UNIX socket has at most {}: set TMPDIR to a directory with a \
             shorter path",
            path.display(),
            bytes.len(),
            address.sun_path.len() - 1
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Ok((address, size_of::<libc::sockaddr_un>() as libc::socklen_t))
}

fn bind(socket: &OwnedFd, path: &Path) -> io::Result<()> {
    let (address, len) = address(path)?;
    // SAFETY: the kernel reads `len` bytes of the address.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) }).map(drop)
}

fn connect(socket: &OwnedFd, path: &Path) -> io::Result<()> {
    let (address, len) = address(path)?;
    // SAFETY: the kernel reads `len` bytes of the address.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len) }).map(drop)
}

/// Returns the handle of a socket of the standard library.
pub fn owned(socket: impl Into<OwnedFd>) -> OwnedFd {
    socket.into()
}

/// Prepares a socket that this process inherited or created, for calls that wait or that return `WouldBlock`.
///
/// # Errors
/// Returns an error if the flags of the descriptor cannot be changed.
pub fn settle(socket: OwnedFd, blocking: bool) -> io::Result<OwnedFd> {
    set_non_blocking(socket.as_fd(), !blocking)?;
    Ok(socket)
}

/// Returns the size of the buffer in bytes, including the kernel's bookkeeping.
pub fn buffer_bytes(socket: BorrowedFd<'_>, buffer: Buffer) -> io::Result<usize> {
    let option = match buffer {
        Buffer::Send => libc::SO_SNDBUF,
        Buffer::Receive => libc::SO_RCVBUF,
    };
    number_of(socket, libc::SOL_SOCKET, option).map(|bytes| bytes as usize)
}

/// Returns the value of an option that is a number.
pub(crate) fn number_of(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<libc::c_int> {
    let mut number: libc::c_int = 0;
    let mut len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes one int and its length.
    check(unsafe {
        let value = (&raw mut number).cast();
        libc::getsockopt(socket.as_raw_fd(), level, option, value, &raw mut len)
    })?;
    Ok(number)
}

/// Sets a buffer to `bytes`, which the kernel doubles for its bookkeeping.
///
/// # Errors
/// Returns `QuotaExceeded` with the limit if the kernel grants a smaller buffer.
pub fn set_buffer(socket: BorrowedFd<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    ask_for_buffer(socket, buffer, bytes)?;
    let in_force = buffer_bytes(socket, buffer)? / 2;
    if in_force >= bytes {
        return Ok(());
    }
    let option = match buffer {
        Buffer::Send => "SO_SNDBUF",
        Buffer::Receive => "SO_RCVBUF",
    };
    // setsockopt itself succeeds. Root may exceed the limits, up to the largest buffer of the kernel.
    let is_largest = in_force >= libc::c_int::MAX as usize / 2;
    let (limit, remedy) = limit(option, libc::ENOBUFS, bytes).filter(|_| !is_largest).unwrap_or_else(|| {
        (format!("the kernel grants at most {in_force} bytes"), "ask for a smaller buffer".to_owned())
    });
    let words = format!("a socket buffer of {bytes} bytes was requested, but {limit}{REMEDY}{remedy}");
    Err(io::Error::new(io::ErrorKind::QuotaExceeded, words))
}

/// Requests a buffer, above the limits `net.core.wmem_max` and `rmem_max` if this process may.
pub(crate) fn ask_for_buffer(socket: BorrowedFd<'_>, buffer: Buffer, bytes: usize) -> io::Result<()> {
    let (force, plain) = match buffer {
        Buffer::Send => (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
        Buffer::Receive => (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
    };
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    let ask = |option| set_option(&socket, libc::SOL_SOCKET, option, &bytes);
    ask(force).or_else(|_| ask(plain))
}

/// Sets an option of a socket; `value` has the type that the kernel reads.
pub(crate) fn set_option<T>(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of the value.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const *value).cast(), length) })
        .map(drop)
}

/// Makes one `send` call. On a stream it may send fewer bytes.
#[inline]
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel only reads `bytes`.
    retry(|| unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    })
    .map(|count| count as usize)
}

/// Sends a message after setting its priority, from 0 to 6, for the queues of network devices.
pub fn send_with_priority(socket: BorrowedFd<'_>, bytes: &[u8], priority: u32) -> io::Result<usize> {
    let value = libc::c_int::try_from(priority).unwrap_or(libc::c_int::MAX);
    set_option(&socket, libc::SOL_SOCKET, libc::SO_PRIORITY, &value).context(|| "set SO_PRIORITY")?;
    send(socket, bytes)
}

/// Makes one `recv` call for a message. Returns the message's full length even if the buffer was too short for it.
#[inline]
pub fn receive_message(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes into a buffer that we hold exclusively.
    retry(|| unsafe {
        libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_TRUNC)
    })
    .map(|count| count as usize)
}

//! UNIX sockets that preserve message boundaries: in pairs, or with a name.

use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::linux::return_value::{check as succeed, own};
use crate::waiting::Limit;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

const SOCKET_KIND: libc::c_int = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;

/// Maximum number of connections that wait to be accepted.
pub(crate) const BACKLOG: libc::c_int = 128;

/// Creates two connected sockets.
pub(crate) fn pair() -> io::Result<[OwnedFd; 2]> {
    let mut numbers = [-1; 2];
    // SAFETY: there is room for two numbers.
    succeed(unsafe { libc::socketpair(libc::AF_UNIX, SOCKET_KIND, 0, numbers.as_mut_ptr()) })?;
    Ok(numbers.map(own))
}

/// The address of a UNIX socket: a path or, after `@`, a name outside the file system.
pub(crate) struct Address {
    address: libc::sockaddr_un,
    len: libc::socklen_t,
}

impl Address {
    pub(crate) fn new(name: &[u8]) -> io::Result<Address> {
        // SAFETY: all zeroes are a valid address.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let is_abstract = name.first() == Some(&b'@');
        if name.is_empty() || name.len() >= address.sun_path.len() || name.contains(&0) {
            let message = "a socket name must have 1 to 107 bytes and no zero byte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        for (to, from) in address.sun_path.iter_mut().zip(name) {
            *to = *from as libc::c_char;
        }
        if is_abstract {
            address.sun_path[0] = 0;
        }
        let head = size_of::<libc::sa_family_t>();
        let len = (head + name.len() + usize::from(!is_abstract)) as libc::socklen_t;
        Ok(Address { address, len })
    }

    fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.address).cast()
    }
}

fn socket(flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    Ok(own(succeed(unsafe { libc::socket(libc::AF_UNIX, SOCKET_KIND | flags, 0) })?))
}

/// Creates a listening socket. [`accept`] does not wait for clients.
pub(crate) fn listen(address: &Address) -> io::Result<OwnedFd> {
    let listener = socket(libc::SOCK_NONBLOCK)?;
    // SAFETY: the address has the given length.
    succeed(unsafe { libc::bind(listener.as_raw_fd(), address.as_ptr(), address.len) })?;
    // SAFETY: no memory is involved.
    succeed(unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) })?;
    Ok(listener)
}

fn connect_once(socket: &OwnedFd, address: &Address) -> io::Result<()> {
    // SAFETY: the address has the given length.
    succeed(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr(), address.len) }).map(drop)
}

/// Returns whether no process listens at an address that is bound. Does not wait for a listener with a full backlog.
pub(crate) fn is_refused(address: &Address) -> io::Result<bool> {
    let refused = io::ErrorKind::ConnectionRefused;
    Ok(connect_once(&socket(libc::SOCK_NONBLOCK)?, address).is_err_and(|error| error.kind() == refused))
}

/// Returns a socket that is connected to a listener. Waits within `limit` for room in the listener's backlog.
///
/// # Errors
/// Returns `TimedOut` if there is no room in time.
pub(crate) fn connect(address: &Address, limit: Limit) -> io::Result<OwnedFd> {
    let connected = socket(0)?;
    loop {
        let left = limit.left();
        limit_sending(&connected, left.unwrap_or_default())?;
        match connect_once(&connected, address) {
            Ok(()) => return Ok(connected),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                left.ok_or(io::ErrorKind::TimedOut)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Limits how long connect(2) waits. Zero would mean no limit.
fn limit_sending(socket: &OwnedFd, limit: Duration) -> io::Result<()> {
    let limit = limit.max(Duration::from_micros(1));
    let time = libc::timeval {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_usec: libc::suseconds_t::from(limit.subsec_micros()),
    };
    let (level, name, len) = (libc::SOL_SOCKET, libc::SO_SNDTIMEO, size_of_val(&time) as libc::socklen_t);
    // SAFETY: the time lives for the whole call.
    succeed(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const time).cast(), len) })?;
    Ok(())
}

/// Returns the next connection of a listener, if there is one.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    loop {
        let none = std::ptr::null_mut();
        // SAFETY: no address is requested.
        let number = unsafe { libc::accept4(listener.as_raw_fd(), none, none.cast(), libc::SOCK_CLOEXEC) };
        match succeed(number) {
            Ok(number) => return Ok(Some(own(number))),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                _ => return Err(error),
            },
        }
    }
}

/// Checks that a descriptor from another process is a socket of the kind that this library creates.
///
/// # Errors
/// Returns `Corrupt` if it is not. Waiting for another kind of file could run code of its owner.
pub(crate) fn check(socket: BorrowedFd<'_>) -> Result<()> {
    let is = |name, expected: libc::c_int| {
        let mut found: libc::c_int = -1;
        option(socket, name, &mut found).is_ok() && found == expected
    };
    if is(libc::SO_DOMAIN, libc::AF_UNIX) && is(libc::SO_TYPE, libc::SOCK_SEQPACKET) {
        return Ok(());
    }
    Err(Error::Corrupt("a descriptor is not a socket of a channel"))
}

/// Reads an option of a socket.
fn option<T: Copy>(socket: BorrowedFd<'_>, name: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut len = size_of::<T>() as libc::socklen_t;
    let value: *mut T = value;
    // SAFETY: there is room for the answer, and callers pass options whose value is valid for any bytes of a `T`.
    succeed(unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, value.cast(), &raw mut len)
    })?;
    Ok(())
}

/// Returns the pidfd of the process that connected, listened or made the pair; `None` before Linux 6.5, or if it has exited.
///
/// # Errors
/// Returns the error if no descriptor or memory is left. Without a pidfd, a fork of that process would hide its death.
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    let mut found: libc::c_int = -1;
    match option(socket, libc::SO_PEERPIDFD, &mut found) {
        Ok(()) => Ok((found >= 0).then(|| own(found))),
        Err(error) => match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Err(error),
            _ => Ok(None),
        },
    }
}

/// Returns the effective user ID of this process.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Returns the credentials of the process at the other end of a connected socket.
pub(crate) fn credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    option(socket, libc::SO_PEERCRED, &mut found)?;
    Ok(Credentials { process: found.pid, user: found.uid, group: found.gid })
}

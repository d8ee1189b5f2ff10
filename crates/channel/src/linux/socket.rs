//! UNIX sockets with message boundaries: in pairs, or by a name.

use crate::credentials::Credentials;
use crate::linux::return_value::{check, own};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

const SOCKET_KIND: libc::c_int = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;

/// Two sockets that are connected with each other.
pub(crate) fn pair() -> io::Result<[OwnedFd; 2]> {
    let mut numbers = [-1; 2];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::socketpair(libc::AF_UNIX, SOCKET_KIND, 0, numbers.as_mut_ptr()) })?;
    Ok(numbers.map(own))
}

/// A name of a UNIX socket as the kernel takes it: a path, or after `@` a name that is in no file system.
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
            let message = "a name of a socket has 1 to 107 bytes, none of them 0";
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

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    Ok(own(check(unsafe { libc::socket(libc::AF_UNIX, SOCKET_KIND, 0) })?))
}

/// A socket that others can connect to.
pub(crate) fn listen(address: &Address) -> io::Result<OwnedFd> {
    let listener = socket()?;
    // SAFETY: the address is as long as it says.
    check(unsafe { libc::bind(listener.as_raw_fd(), address.as_ptr(), address.len) })?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::listen(listener.as_raw_fd(), 128) })?;
    Ok(listener)
}

/// A socket that is connected to a listener.
pub(crate) fn connect(address: &Address) -> io::Result<OwnedFd> {
    let connected = socket()?;
    // SAFETY: as above.
    check(unsafe { libc::connect(connected.as_raw_fd(), address.as_ptr(), address.len) })?;
    Ok(connected)
}

/// The next connection of a listener, after waiting for one.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    loop {
        let none = std::ptr::null_mut();
        // SAFETY: no address is asked for.
        let number = unsafe { libc::accept4(listener.as_raw_fd(), none, none.cast(), libc::SOCK_CLOEXEC) };
        match check(number) {
            Ok(number) => return Ok(own(number)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The number of this process's user.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Who is at the other end of a connected socket.
pub(crate) fn credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: there is room for the answer.
    check(unsafe {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut found).cast(), &raw mut len)
    })?;
    Ok(Credentials { process: found.pid, user: found.uid, group: found.gid })
}

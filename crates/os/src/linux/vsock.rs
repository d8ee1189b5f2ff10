//! Sockets between a host and its virtual machines (AF_VSOCK), here over the loopback of one machine.

use crate::error::{Context, check, retry};
use crate::linux::handle::own;
use crate::linux::socket::open;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Returns a connected pair of streams over the loopback (VMADDR_CID_LOCAL).
///
/// # Errors
/// Returns `Unsupported` without such sockets, `AddrNotAvailable` without their loopback.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let listener = stream().context(|| "make a socket of AF_VSOCK")?;
    let any = address(libc::VMADDR_PORT_ANY);
    // SAFETY: the kernel reads as many bytes as the address has.
    check(unsafe { libc::bind(listener.as_raw_fd(), (&raw const any).cast(), LENGTH) })
        .context(|| "bind a port of VMADDR_CID_LOCAL")?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::listen(listener.as_raw_fd(), 1) })?;
    let initiator = stream()?;
    let to = own_address(&listener)?;
    // SAFETY: as for bind.
    retry(|| unsafe { libc::connect(initiator.as_raw_fd(), (&raw const to).cast(), LENGTH) })
        .context(|| "connect over the loopback of vsock")?;
    let expected = own_address(&initiator)?.svm_port;
    loop {
        let (mut from, mut length) = (address(0), LENGTH);
        // SAFETY: the kernel writes at most `length` bytes into the address; the new descriptor has no other owner.
        let responder = retry(|| unsafe {
            libc::accept4(listener.as_raw_fd(), (&raw mut from).cast(), &raw mut length, libc::SOCK_CLOEXEC)
        })
        .map(|number| unsafe { own(number) })?;
        // Any process on this machine may have connected in between: only our own connection is accepted.
        if from.svm_port == expected {
            return Ok((initiator, responder));
        }
    }
}

/// Size of an address, in bytes.
const LENGTH: libc::socklen_t = size_of::<libc::sockaddr_vm>() as libc::socklen_t;

fn stream() -> io::Result<OwnedFd> {
    open(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
}

/// Returns the address of a port of this machine's loopback.
fn address(port: libc::c_uint) -> libc::sockaddr_vm {
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::AF_VSOCK as libc::sa_family_t;
    address.svm_cid = libc::VMADDR_CID_LOCAL;
    address.svm_port = port;
    address
}

/// Returns the address of a socket.
fn own_address(socket: &OwnedFd) -> io::Result<libc::sockaddr_vm> {
    let (mut address, mut length) = (address(0), LENGTH);
    // SAFETY: the kernel writes at most `length` bytes into the address.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length) })?;
    Ok(address)
}

//! Passing of descriptors through a socket.

use crate::error::{Error, Result};
use crate::linux::poll;
use crate::linux::return_value::own;
use crate::waiting::Limit;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Room for a control message with more descriptors than allowed, so that they can be counted and closed.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// Number of descriptors for which [`Control`] has room.
const MOST_DESCRIPTORS: usize = (256 - size_of::<libc::cmsghdr>()) / size_of::<RawFd>();

/// Sends bytes with descriptors. Never waits, because the socket is empty before.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let numbers_bytes = size_of_val(&*numbers);
    let mut control = Control([0; 256]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all zeroes are an empty message; the pointers are valid for the whole call, and the control message has
    // room for the descriptor numbers.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(numbers_bytes as u32) as _;
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(numbers_bytes as u32) as _;
        std::ptr::copy_nonoverlapping(numbers.as_ptr().cast(), libc::CMSG_DATA(head), numbers_bytes);
        libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    match sent {
        count if count == bytes.len() as isize => Ok(()),
        count if count < 0 => Err(io::Error::last_os_error()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Receives the bytes and descriptors that [`send`] has sent, within a timeout. The number of bytes must match exactly.
pub(crate) fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8], limit: Limit) -> Result<Vec<OwnedFd>> {
    if !poll::is_readable(socket, limit)? {
        return Err(Error::TimedOut);
    }
    let mut control = Control([0; 256]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut descriptors = Vec::new();
    // SAFETY: as in `send`; the kernel stores in the message how much it has written, and every number in it is a new
    // descriptor of this process.
    let (count, flags) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        let count = libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags);
        if count < 0 {
            return Err(io::Error::last_os_error().into());
        }
        let mut head = libc::CMSG_FIRSTHDR(&raw const message);
        while !head.is_null() {
            if (*head).cmsg_level == libc::SOL_SOCKET && (*head).cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(head).cast::<RawFd>();
                let len = ((*head).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                descriptors
                    .extend((0..len / size_of::<RawFd>()).map(|at| own(data.add(at).read_unaligned())));
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
        (count, message.msg_flags)
    };
    if count == 0 {
        return Err(Error::Closed);
    }
    if flags & libc::MSG_CTRUNC != 0 && descriptors.len() < MOST_DESCRIPTORS {
        return Err(io::Error::from_raw_os_error(libc::EMFILE).into());
    }
    if count as usize != bytes.len() || flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(Error::Corrupt("the greeting has the wrong length"));
    }
    Ok(descriptors)
}

/// Returns the `N` descriptors of a greeting.
///
/// # Errors
/// Returns `Corrupt` if the number of descriptors is not `N`; all of them are then closed.
pub(crate) fn exactly<const N: usize>(descriptors: Vec<OwnedFd>) -> Result<[OwnedFd; N]> {
    descriptors.try_into().map_err(|_| Error::Corrupt("the greeting has the wrong number of descriptors"))
}

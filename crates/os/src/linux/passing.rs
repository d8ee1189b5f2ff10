//! Descriptors passed to another process over a UNIX socket (SCM_RIGHTS).

use crate::error::{Context, retry};
use crate::linux::handle::own;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Largest number of descriptors that the kernel accepts at once (its SCM_MAX_FD).
pub const MOST_HANDLES: usize = 253;

/// Buffer for a control message with that number of descriptors, in words so that it is aligned.
type Room = [u64; 160];

/// Sends descriptors, at most [`MOST_HANDLES`]. The receiver has to request the same number.
#[inline]
pub fn send_handles(socket: BorrowedFd<'_>, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
    if handles.is_empty() || handles.len() > MOST_HANDLES {
        let what = format!("{} descriptors cannot be sent at once", handles.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut byte = [0u8; 1];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut room: Room = [0; 160];
    let bytes = size_of::<RawFd>() * handles.len();
    // SAFETY: the message describes `part` and `room`, which outlive the call. CMSG_SPACE of the most descriptors is 1032
    // bytes, so that `room` holds the header and all numbers.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(bytes as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(bytes as u32) as _;
        let numbers = libc::CMSG_DATA(header).cast::<RawFd>();
        for (index, handle) in handles.iter().enumerate() {
            numbers.add(index).write_unaligned(handle.as_raw_fd());
        }
        retry(|| libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL))?;
    }
    Ok(())
}

/// Receives `count` descriptors that were sent at once.
///
/// # Errors
/// Returns `UnexpectedEof` if the other end is closed; `InvalidData` if it sent another number of descriptors.
pub fn receive_handles(socket: BorrowedFd<'_>, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut received = Vec::new();
    receive(socket, |handle| received.push(handle)).context(|| "receive descriptors")?;
    match received.len() {
        number if number == count => Ok(received),
        number => Err(miscounted(number, count)),
    }
}

/// Receives one descriptor that was sent alone. Like [`send_handles`], it allocates nothing.
///
/// # Errors
/// Returns the errors of [`receive_handles`].
#[inline]
pub fn receive_handle(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let (mut first, mut number) = (None, 0);
    receive(socket, |handle| {
        number += 1;
        first.get_or_insert(handle);
    })?;
    first.filter(|_| number == 1).ok_or_else(|| miscounted(number, 1))
}

#[cold]
fn miscounted(number: usize, count: usize) -> io::Error {
    let what = format!("{number} descriptors arrived, but {count} were announced");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Receives the descriptors that were sent at once.
fn receive(socket: BorrowedFd<'_>, mut take: impl FnMut(OwnedFd)) -> io::Result<()> {
    let mut byte = [0u8; 1];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut room: Room = [0; 160];
    // SAFETY: the message describes `part` and `room`, which outlive the call. The kernel writes no more into `room` than its
    // size, and the numbers that it writes there are descriptors without another owner.
    let read = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&room) as _;
        let read = retry(|| libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC))?;
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let numbers = libc::CMSG_DATA(header).cast::<RawFd>();
                for index in 0..bytes / size_of::<RawFd>() {
                    take(own(numbers.add(index).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        read
    };
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::pipe::{duplex, pipe};
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    #[test]
    fn what_is_sent_is_the_same_open_object() {
        let (ours, theirs) = duplex().unwrap();
        let (reader, writer) = pipe().unwrap();
        send_handles(ours.as_fd(), &[reader.as_fd(), writer.as_fd()]).unwrap();
        drop((reader, writer));
        let mut received = receive_handles(theirs.as_fd(), 2).unwrap();
        let (mut writer, mut reader) = (File::from(received.remove(1)), File::from(received.remove(0)));
        writer.write_all(b"through").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn as_many_as_the_kernel_takes_are_sent_and_another_number_is_refused() {
        let (ours, theirs) = duplex().unwrap();
        let many = vec![ours.as_fd(); MOST_HANDLES];
        send_handles(ours.as_fd(), &many).unwrap();
        assert_eq!(receive_handles(theirs.as_fd(), MOST_HANDLES).unwrap().len(), MOST_HANDLES);
        assert!(send_handles(ours.as_fd(), &[&many[..], &many[..1]].concat()).is_err());
        assert!(send_handles(ours.as_fd(), &[]).is_err());
        send_handles(ours.as_fd(), &many[..2]).unwrap();
        assert_eq!(receive_handles(theirs.as_fd(), 1).unwrap_err().kind(), io::ErrorKind::InvalidData);
        drop(ours);
        assert_eq!(receive_handles(theirs.as_fd(), 1).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}

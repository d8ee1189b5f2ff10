//! Several datagrams per call: `sendmmsg` and `recvmmsg`.

use crate::error::retry;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The headers of the messages of one call. Their pointers are valid only during a call, which sets them.
pub struct MessageHeaders {
    headers: Vec<libc::mmsghdr>,
    parts: Vec<libc::iovec>,
}

impl fmt::Debug for MessageHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageHeaders").field("most", &self.headers.len()).finish_non_exhaustive()
    }
}

impl MessageHeaders {
    /// Allocates the headers of up to `most` messages.
    pub fn new(most: usize) -> MessageHeaders {
        // SAFETY: zeroes are a valid mmsghdr.
        let headers = (0..most).map(|_| unsafe { std::mem::zeroed() }).collect();
        let part = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        MessageHeaders { headers, parts: vec![part; most] }
    }

    /// Makes one `sendmmsg` call for messages of `size_bytes` that follow each other, and returns how many of them were sent: at
    /// least one.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the socket does not wait and has no room for the first message.
    #[inline]
    pub fn send(&mut self, socket: BorrowedFd<'_>, messages: &[u8], size_bytes: usize) -> io::Result<usize> {
        let count = self.point_to(messages.as_ptr().cast_mut(), messages.len(), size_bytes);
        // SAFETY: each header points to one part, and each part to a message within `messages`, which the kernel only reads. All
        // of them outlive the call.
        retry(|| unsafe {
            libc::sendmmsg(socket.as_raw_fd(), self.headers.as_mut_ptr(), count, libc::MSG_NOSIGNAL)
        })
        .map(|sent| sent as usize)
    }

    /// Makes one `recvmmsg` call, which waits for the first message only, and returns how many messages were received: at least
    /// one. Each begins at a multiple of `size_bytes`.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the socket does not wait and has no message.
    #[inline]
    pub fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        messages: &mut [u8],
        size_bytes: usize,
    ) -> io::Result<usize> {
        let count = self.point_to(messages.as_mut_ptr(), messages.len(), size_bytes);
        let flags = libc::MSG_TRUNC | libc::MSG_WAITFORONE;
        // SAFETY: each header points to one part, and each part to a message within `messages`, which we hold exclusively. All of
        // them outlive the call.
        retry(|| unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                flags as _,
                std::ptr::null_mut(),
            )
        })
        .map(|received| received as usize)
    }

    /// Returns the full length of a message of the last receive, even if its part was too short for it.
    #[inline]
    pub fn length(&self, place: usize) -> usize {
        self.headers[place].msg_len as usize
    }

    /// Makes the headers point to messages, and returns their number.
    #[inline]
    fn point_to(&mut self, messages: *mut u8, len: usize, size_bytes: usize) -> libc::c_uint {
        let count = (len / size_bytes.max(1)).min(self.headers.len());
        for (place, (header, part)) in self.headers.iter_mut().zip(&mut self.parts).take(count).enumerate() {
            part.iov_base = messages.wrapping_add(place * size_bytes).cast();
            part.iov_len = size_bytes;
            header.msg_hdr.msg_iov = &raw mut *part;
            header.msg_hdr.msg_iovlen = 1;
        }
        count as libc::c_uint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::socket::{Kind, send, settle, socketpair};
    use std::os::fd::AsFd;

    #[test]
    fn one_call_carries_several_messages() {
        for kind in [Kind::Datagram, Kind::Seqpacket] {
            let (sender, receiver) = socketpair(kind).unwrap();
            let (mut headers, mut buffer) = (MessageHeaders::new(3), [0; 12]);
            assert_eq!(headers.send(sender.as_fd(), b"one.two.six.ten.", 4).unwrap(), 3, "more than headers");
            send(sender.as_fd(), b"too long").unwrap();
            assert_eq!(headers.receive(receiver.as_fd(), &mut buffer[..8], 4).unwrap(), 2);
            assert_eq!((&buffer[..8], headers.length(1)), (&b"one.two."[..], 4));
            assert_eq!(headers.receive(receiver.as_fd(), &mut buffer, 4).unwrap(), 2);
            assert_eq!((&buffer[..8], [0, 1].map(|place| headers.length(place))), (&b"six.too "[..], [4, 8]));
            let receiver = settle(receiver, false).unwrap();
            let error = headers.receive(receiver.as_fd(), &mut buffer, 4).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }
}

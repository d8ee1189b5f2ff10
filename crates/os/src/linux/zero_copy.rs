//! Sends without a copy (`MSG_ZEROCOPY`): the kernel reads the sender's pages until it reports completion in the socket's error
//! queue.

use crate::error::retry;
use crate::linux::limited::named;
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Maximum number of sends without completion. The kernel charges each of them to `net.core.optmem_max`.
const MOST_SENDS: usize = 16;
/// Maximum bytes of messages without completion. The kernel charges their pages to `RLIMIT_MEMLOCK`.
const MOST_BYTES: usize = 4 << 20;
/// Origin of completions in an error queue (linux/errqueue.h).
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;

/// Sends whose bytes the kernel may still read.
#[derive(Debug)]
pub struct ZeroCopySends {
    incomplete: Cell<usize>,
    most: usize,
    blocking: bool,
}

impl ZeroCopySends {
    /// Returns the state of an end without sends.
    pub fn new(message_bytes: usize, blocking: bool) -> ZeroCopySends {
        let most = (MOST_BYTES / message_bytes.max(1)).clamp(1, MOST_SENDS);
        ZeroCopySends { incomplete: Cell::new(0), most, blocking }
    }

    /// Returns the maximum number of sends without completion. After that number of further messages, or after an answer, which
    /// acknowledges the message, the message can be overwritten.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Sends once, when fewer than the maximum are incomplete.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the end does not wait and there is no room, or too many sends are incomplete.
    #[inline]
    pub fn send(&self, socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        while self.incomplete.get() >= self.most && !self.collect(socket)? {
            if !self.blocking {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            // No events: an error queue that is not empty is always reported.
            let mut watched = libc::pollfd { fd: socket.as_raw_fd(), events: 0, revents: 0 };
            // SAFETY: one pollfd is passed, and the count is one.
            retry(|| unsafe { libc::poll(&raw mut watched, 1, -1) })?;
        }
        let flags = libc::MSG_NOSIGNAL | libc::MSG_ZEROCOPY;
        // SAFETY: the kernel only reads `bytes`.
        let count =
            retry(|| unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) })
                .map_err(|error| named("MSG_ZEROCOPY", error))?;
        self.incomplete.set(self.incomplete.get() + 1);
        Ok(count as usize)
    }

    /// Collects one notification, which may complete several sends. Returns whether there was one.
    ///
    /// A descriptor with notifications counts as readable, so an end that waits for readability collects them.
    ///
    /// # Errors
    /// Returns another error of the socket, if its error queue has one.
    #[inline]
    pub fn collect(&self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        let Some(error) = queued_error(socket)? else { return Ok(false) };
        if error.ee_origin != SO_EE_ORIGIN_ZEROCOPY {
            return Err(io::Error::from_raw_os_error(error.ee_errno as i32));
        }
        // The numbers of the first and the last completed send.
        let completed = error.ee_data.wrapping_sub(error.ee_info) as usize + 1;
        self.incomplete.set(self.incomplete.get().saturating_sub(completed));
        Ok(true)
    }
}

/// Takes the first notification out of the error queue; `None` if it is empty.
#[inline]
fn queued_error(socket: BorrowedFd<'_>) -> io::Result<Option<libc::sock_extended_err>> {
    // In words, so that it is aligned: the notification, and the address of the peer.
    let mut room = [0u64; 16];
    // SAFETY: the message describes `room`, which outlives the call, and the kernel writes no more than its size. The first
    // control message of an error queue contains a `sock_extended_err`.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_control = room.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&room) as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        match retry(|| libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            result => result?,
        };
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        Ok((!header.is_null())
            .then(|| libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::{receive_message, set_socket_option, tcp_pair, udp_pair};
    use furlong_model::SocketOption;
    use std::os::fd::AsFd;

    /// Flag of a completion whose data was copied (linux/errqueue.h).
    const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

    #[test]
    fn sends_over_loopback_complete_and_are_copied() {
        for (sender, receiver) in [tcp_pair().unwrap(), udp_pair().unwrap()] {
            let (sender, receiver) = (sender.as_fd(), receiver.as_fd());
            set_socket_option(sender, SocketOption::ZeroCopy).unwrap();
            let sends = ZeroCopySends::new(1, true);
            assert_eq!(sends.send(sender, b"?").unwrap(), 1);
            receive_message(receiver, &mut [0]).unwrap();
            let error = loop {
                if let Some(error) = queued_error(sender).unwrap() {
                    break error;
                }
                std::thread::yield_now();
            };
            assert_eq!((error.ee_origin, error.ee_code), (SO_EE_ORIGIN_ZEROCOPY, SO_EE_CODE_ZEROCOPY_COPIED));
        }
    }

    #[test]
    fn sends_beyond_the_maximum_wait_for_completion() {
        let (sender, receiver) = tcp_pair().unwrap();
        let (sender, receiver) = (sender.as_fd(), receiver.as_fd());
        set_socket_option(sender, SocketOption::ZeroCopy).unwrap();
        let sends = ZeroCopySends::new(MOST_BYTES / 3, true);
        assert_eq!(sends.most(), 3);
        let mut buffer = [0; 100];
        for _ in 0..20 {
            sends.send(sender, &[7; 100]).unwrap();
            assert!((1..=3).contains(&sends.incomplete.get()), "{sends:?}");
            receive_message(receiver, &mut buffer).unwrap();
        }
    }
}

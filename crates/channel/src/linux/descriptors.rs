//! The descriptors of an end, including the one to wait for with poll or epoll.

use crate::channel::{Channel, Side};
use crate::error::Result;
use crate::linux::link::Link;
use crate::linux::{shared_memory, socket};
use crate::options::Options;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::storage::shared_bytes;
use crate::trust::Trust;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The descriptors of one end. They are closed on `exec` unless a program clears the flag.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Options};
///
/// let options = Options::new();
/// let [own, other] = Channel::pair(&options)?;
/// let channel = Channel::from_descriptors(own, &options)?;
/// // Send `other` to another process through a UNIX socket, or let a child inherit it.
/// println!("memory {:?}, sockets {:?} and {:?}", other.memory, other.sending, other.receiving);
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Descriptors {
    /// The shared memory of both ends.
    pub memory: OwnedFd,
    /// A socket of the direction in which this end sends.
    pub sending: OwnedFd,
    /// A socket of the direction in which this end receives.
    pub receiving: OwnedFd,
    /// The end that these descriptors belong to.
    pub side: Side,
}

impl Channel {
    /// Returns the descriptors of both ends of a new channel. Pass them to two processes through a fork, `exec` or a
    /// socket. Each process creates one end and drops the descriptors of the other end, because they would hide the
    /// death of the other process.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
    pub fn pair(options: &Options) -> Result<[Descriptors; 2]> {
        let memory = shared_memory::new(shared_bytes(options.capacity, 2))?;
        let [there, there_other] = socket::pair()?;
        let [back, back_other] = socket::pair()?;
        let copy = memory.try_clone()?;
        Ok([
            Descriptors { memory, sending: there, receiving: back, side: Side::First },
            Descriptors { memory: copy, sending: back_other, receiving: there_other, side: Side::Second },
        ])
    }

    /// Returns both ends, in heap memory of this process, for tools that do not support shared memory.
    #[cfg(in_one_process)]
    #[doc(hidden)]
    pub fn pair_in_one_process(options: &Options) -> Result<[Channel; 2]> {
        let peer = crate::credentials::Credentials { process: 0, user: 0, group: 0 };
        let sockets = || {
            std::os::unix::net::UnixStream::pair()
                .map(|(one, other)| [one, other].map(|end| std::os::fd::OwnedFd::from(end).into()))
        };
        Ok(Channel::both_in_one_process(options, peer, [sockets()?, sockets()?]))
    }

    /// Creates an end from inherited or received descriptors. Both ends must have the same options, except for the wait
    /// strategy. Use each set of descriptors once.
    ///
    /// # Errors
    /// Returns `Corrupt` if [`pair`](Channel::pair) does not return such descriptors with these options.
    pub fn from_descriptors(descriptors: Descriptors, options: &Options) -> Result<Channel> {
        let Descriptors { memory, sending, receiving, side } = descriptors;
        socket::check(sending.as_fd())?;
        socket::check(receiving.as_fd())?;
        let peer = socket::credentials(sending.as_fd())?;
        Channel::connected(memory.as_fd(), Link::all([sending, receiving], None), side, options, peer)
    }
}

/// Implements the descriptors of a sending or a receiving end.
macro_rules! descriptors_of {
    ($end:ident) => {
        impl<T: Trust> $end<T> {
            /// Returns the descriptor that becomes readable when the event of [`watch`](Self::watch) occurs after it
            /// has returned true, or when no process has the other end any more. Use it with poll or epoll.
            pub fn descriptor(&self) -> BorrowedFd<'_> {
                self.link().as_fd()
            }

            /// Returns the pidfd of the process at the other end. It becomes readable when that process exits, even if a fork of
            /// the process keeps the other end open. `None` before Linux 6.5, and for an end of [`Channel::pair`].
            pub fn peer_process(&self) -> Option<BorrowedFd<'_>> {
                self.link().process()
            }
        }

        impl<T: Trust> AsFd for $end<T> {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.descriptor()
            }
        }

        impl<T: Trust> AsRawFd for $end<T> {
            fn as_raw_fd(&self) -> RawFd {
                self.descriptor().as_raw_fd()
            }
        }
    };
}

descriptors_of!(Sender);
descriptors_of!(Receiver);

//! The descriptors that an end is made of, and the one by which it is waited for among others.

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

/// What one end is made of. They are closed on `exec` unless a program says otherwise.
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
    /// The shared memory, which both ends have.
    pub memory: OwnedFd,
    /// A socket of the direction in which this end sends.
    pub sending: OwnedFd,
    /// A socket of the direction in which this end receives.
    pub receiving: OwnedFd,
    /// Which of the ends it is.
    pub side: Side,
}

impl Channel {
    /// The descriptors of both ends of a new channel, to be handed to two processes: by a fork, or through `exec` or a
    /// socket. Each makes an end of one and drops the other, or it does not notice when the other process dies.
    ///
    /// # Errors
    /// What the operating system refused.
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

    /// Both ends in this process, on its heap: for tools that cannot follow shared memory.
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

    /// An end of descriptors that were inherited or received. Both ends are made with the same options, but for how they
    /// wait, and from each set of descriptors an end is made once.
    ///
    /// # Errors
    /// Returns `Corrupt` if the descriptors are not what [`pair`](Channel::pair) makes with these options.
    pub fn from_descriptors(descriptors: Descriptors, options: &Options) -> Result<Channel> {
        let Descriptors { memory, sending, receiving, side } = descriptors;
        socket::check(sending.as_fd())?;
        socket::check(receiving.as_fd())?;
        let peer = socket::credentials(sending.as_fd())?;
        Channel::connected(memory.as_fd(), Link::all([sending, receiving], None), side, options, peer)
    }
}

/// What is waited for at one of both ends.
macro_rules! descriptors_of {
    ($end:ident) => {
        impl<T: Trust> $end<T> {
            /// Returns the descriptor that becomes readable when [`watch`](Self::watch) said that it will, or when no
            /// process has the other end any more.
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

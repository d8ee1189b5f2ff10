//! The descriptors that an end is made of, and the one by which it is waited for among others.

use crate::channel::{Channel, Side};
use crate::error::Result;
use crate::linux::{shared_memory, socket};
use crate::options::Options;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::storage::shared_bytes;
use crate::trust::Trust;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What one end is made of. They are closed on `exec` unless a program says otherwise.
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
        let memory = shared_memory::new(shared_bytes(options.capacity))?;
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
        let sockets =
            || std::os::unix::net::UnixStream::pair().map(|(one, other)| [one.into(), other.into()]);
        Ok(Channel::both_in_one_process(options, peer, [sockets()?, sockets()?]))
    }

    /// An end of descriptors that were inherited or received. Both ends are made with the same options, but for how they
    /// wait, and from each set of descriptors an end is made once.
    ///
    /// # Errors
    /// `Corrupt` if the memory is not what [`pair`](Channel::pair) makes with these options.
    pub fn from_descriptors(descriptors: Descriptors, options: &Options) -> Result<Channel> {
        let Descriptors { memory, sending, receiving, side } = descriptors;
        let peer = socket::credentials(sending.as_fd())?;
        Channel::connected(memory.as_fd(), [sending, receiving], side, options, peer)
    }
}

impl<T: Trust> Sender<T> {
    /// The descriptor that becomes readable when [`watch`](Self::watch) said that it will.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.link().as_fd()
    }
}

impl<T: Trust> Receiver<T> {
    /// The descriptor that becomes readable when [`watch`](Self::watch) said that it will.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.link().as_fd()
    }
}

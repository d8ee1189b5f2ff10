//! The handles that an end is made of, and the one by which it is waited for among others.

use crate::channel::{Channel, Side};
use crate::credentials::Credentials;
use crate::error::Result;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::storage::shared_bytes;
use crate::trust::Trust;
use crate::windows::wake::Link;
use crate::windows::{event, pipe, shared_memory};
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::sync::Arc;

/// The events of one direction: each end sets the other one's when that sleeps.
#[derive(Debug)]
pub struct Events {
    /// For which its sender waits.
    pub sender: OwnedHandle,
    /// For which its receiver waits.
    pub receiver: OwnedHandle,
}

impl Events {
    /// New ones.
    pub(crate) fn new() -> io::Result<Events> {
        Ok(Events { sender: event::auto_reset()?, receiver: event::auto_reset()? })
    }

    /// Further handles of the same.
    pub(crate) fn try_clone(&self) -> io::Result<Events> {
        Ok(Events { sender: self.sender.try_clone()?, receiver: self.receiver.try_clone()? })
    }
}

/// What one end is made of. No child inherits them unless a program says otherwise, by `SetHandleInformation`.
#[derive(Debug)]
pub struct Handles {
    /// The section, which both ends have.
    pub memory: OwnedHandle,
    /// A named pipe, made for overlapped calls, that carries nothing and breaks when the other process is gone.
    pub connection: OwnedHandle,
    /// The events of the direction in which this end sends.
    pub sending: Events,
    /// The events of the direction in which this end receives.
    pub receiving: Events,
    /// Which of the ends it is.
    pub side: Side,
}

impl Handles {
    /// The end of these, where it is known who is at the other end.
    ///
    /// # Errors
    /// `Corrupt` if the memory is not such as a channel with these options has.
    pub(crate) fn open(self, options: &Options, process: u32) -> Result<Channel> {
        let Handles { memory, connection, sending, receiving, side } = self;
        let connection = Arc::new(connection);
        let links = [
            Link::new(sending.sender, sending.receiver, Arc::clone(&connection)),
            Link::new(receiving.receiver, receiving.sender, connection),
        ];
        let peer = Credentials { process: process as i32 };
        Channel::connected(memory.as_handle(), links, side, options, peer)
    }
}

impl Channel {
    /// The handles of both ends of a new channel, to be handed to two processes: by inheritance or `DuplicateHandle`. Each
    /// makes an end of one and drops the other, or it does not notice when the other process dies.
    ///
    /// # Errors
    /// What the operating system refused.
    pub fn pair(options: &Options) -> Result<[Handles; 2]> {
        let memory = shared_memory::new(shared_bytes(options.capacity, 2))?;
        let [connection, other_connection] = pipe::pair()?;
        let (there, back) = (Events::new()?, Events::new()?);
        let second = Handles {
            memory: memory.try_clone()?,
            connection: other_connection,
            sending: back.try_clone()?,
            receiving: there.try_clone()?,
            side: Side::Second,
        };
        Ok([Handles { memory, connection, sending: there, receiving: back, side: Side::First }, second])
    }

    /// An end of handles that were inherited or received. Both ends are made with the same options, but for how they wait,
    /// and from each set of handles an end is made once.
    ///
    /// # Errors
    /// `Corrupt` if the memory is not what [`pair`](Channel::pair) makes with these options; `System` if the connection is no
    /// pipe.
    pub fn from_handles(handles: Handles, options: &Options) -> Result<Channel> {
        let process = pipe::server_process(handles.connection.as_handle())?;
        handles.open(options, process)
    }
}

impl<T: Trust> Sender<T> {
    /// The event that is set when there may be room, or when the other end was closed, after [`watch`](Self::watch) said that
    /// it will; a wait for it resets it. That the other process died it does not tell: wait no longer than you may hear
    /// of that late, and call `watch` again, which tells.
    pub fn handle(&self) -> BorrowedHandle<'_> {
        self.link().own_event()
    }
}

impl<T: Trust> Receiver<T> {
    /// The event that is set when a message comes, or when the other end was closed, after [`watch`](Self::watch) said that
    /// it will; a wait for it resets it. That the other process died it does not tell: wait no longer than you may hear
    /// of that late, and call `watch` again, which tells.
    pub fn handle(&self) -> BorrowedHandle<'_> {
        self.link().own_event()
    }
}

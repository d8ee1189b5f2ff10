//! The handles of an end, including the one to wait for.

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

/// The events of one direction. Each end sets the event of the other one if it sleeps.
#[derive(Debug)]
pub struct Events {
    /// The event that the sender waits for.
    pub sender: OwnedHandle,
    /// The event that the receiver waits for.
    pub receiver: OwnedHandle,
}

impl Events {
    /// Creates the events of a direction.
    pub(crate) fn new() -> io::Result<Events> {
        Ok(Events { sender: event::auto_reset()?, receiver: event::auto_reset()? })
    }

    /// Returns further handles of the same events.
    pub(crate) fn try_clone(&self) -> io::Result<Events> {
        Ok(Events { sender: self.sender.try_clone()?, receiver: self.receiver.try_clone()? })
    }
}

/// The handles of one end. Child processes do not inherit them unless a program calls `SetHandleInformation`.
#[derive(Debug)]
pub struct Handles {
    /// The section of both ends.
    pub memory: OwnedHandle,
    /// A named pipe, created for overlapped calls. It carries no data, and breaks when the other process exits.
    pub connection: OwnedHandle,
    /// The events of the direction in which this end sends.
    pub sending: Events,
    /// The events of the direction in which this end receives.
    pub receiving: Events,
    /// The end that these handles belong to.
    pub side: Side,
}

impl Handles {
    /// Creates an end of these handles and the PID of the process at the other end.
    ///
    /// # Errors
    /// Returns `Corrupt` if the memory is not that of a channel with these options.
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
    /// Returns the handles of both ends of a new channel. Pass them to two processes through inheritance or
    /// `DuplicateHandle`. Each process creates one end and drops the handles of the other end, because they would hide
    /// the death of the other process.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system.
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

    /// Creates an end from inherited or received handles. Both ends must have the same options, except for the wait
    /// strategy. Use each set of handles once.
    ///
    /// # Errors
    /// Returns `Corrupt` if [`pair`](Channel::pair) does not return such memory with these options, and `System` if the
    /// connection is not a pipe.
    pub fn from_handles(handles: Handles, options: &Options) -> Result<Channel> {
        let process = pipe::server_process(handles.connection.as_handle())?;
        handles.open(options, process)
    }
}

impl<T: Trust> Sender<T> {
    /// Returns the event that is set when there may be room or the other end was closed, after [`watch`](Self::watch)
    /// has returned true. A wait for the event resets it.
    ///
    /// The death of the other process does not set the event. Wait with a timeout, and then call `watch` again, which
    /// reports the death.
    pub fn handle(&self) -> BorrowedHandle<'_> {
        self.link().own_event()
    }
}

impl<T: Trust> Receiver<T> {
    /// Returns the event that is set when a message has arrived or the other end was closed, after
    /// [`watch`](Self::watch) has returned true. A wait for the event resets it.
    ///
    /// The death of the other process does not set the event. Wait with a timeout, and then call `watch` again, which
    /// reports the death.
    pub fn handle(&self) -> BorrowedHandle<'_> {
        self.link().own_event()
    }
}

//! The interface of a mechanism: its capabilities, how its link is made, and how each end sends and receives.

use super::{BetweenHosts, EndpointSetup, Link, LinkSpecification, Message, MessageBatch, NamedObject};
use furlong_model::{Access, Capabilities, Limits, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::wait::Interest;
use std::io;

/// A mechanism through which two processes exchange messages.
pub trait Mechanism: 'static {
    /// Properties of the mechanism on all systems. Every field is a claim, and a conformance test checks every claim.
    const CAPABILITIES: Capabilities;
    /// Whether programs use the mechanism so often that a run without a selection includes it.
    const IS_COMMON: bool = true;
    /// Steps that make its ends on two hosts; `None` if both ends must be on one host.
    const BETWEEN_HOSTS: Option<BetweenHosts> = None;
    /// Object with a name, for probes of its lifetime; `None` if it has no name, or if furlong does not use it.
    const NAMED: Option<NamedObject> = None;
    /// One process's end.
    type Endpoint: Endpoint;

    /// Returns the limits of the mechanism on this machine.
    ///
    /// # Errors
    /// Returns the reason and a remedy if the machine does not have the mechanism.
    fn probe() -> Result<Limits, Unavailable>;

    /// Makes the objects of both ends. Runs once, in the supervisor, before either role exists. Every name is derived from
    /// `specification`, and is removed before this function returns if the kernel permits that.
    ///
    /// # Errors
    /// Returns an error if an object cannot be made. The error names the limit, if there is one.
    fn create(specification: &LinkSpecification) -> io::Result<Link>;

    /// Opens this role's end from its handles, in the order in which `create` added them. Runs once in each role's process.
    ///
    /// # Errors
    /// Returns an error if an object cannot be opened.
    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint>;
}

/// One process's end of a link.
///
/// A blocking end never returns `WouldBlock`. A non-blocking end returns it at once, keeps the finished part of the message,
/// and continues from there when it is called again with the same message.
pub trait Endpoint {
    /// Sends the whole message.
    ///
    /// # Errors
    /// Returns `WouldBlock` as described above. Any other error ends the trial.
    fn send(&mut self, message: &mut Message) -> io::Result<()>;

    /// Sends the whole message. Others follow at once, and the last of them is sent through [`send`](Self::send). The message
    /// may become visible together with them.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    #[inline(always)]
    fn send_more(&mut self, message: &mut Message) -> io::Result<()> {
        self.send(message)
    }

    /// Receives one message into `message` and returns its true length, even if that is larger than the buffer. A byte stream
    /// has no message lengths and fills the buffer.
    ///
    /// # Errors
    /// Returns `WouldBlock` as described above, and `UnexpectedEof` if the peer has exited. Any other error ends the trial.
    fn recv(&mut self, message: &mut Message) -> io::Result<usize>;

    /// Returns whether [`recv`](Self::recv) would not wait. Ends in shared memory know it, and their `recv` waits inside even if they
    /// busy-wait. `None` if only a system call can tell.
    fn has_message(&mut self) -> Option<bool> {
        None
    }

    /// Sends the whole message with a priority, from 0 to 6.
    ///
    /// # Errors
    /// Returns `Unsupported` if the mechanism has no priorities, and otherwise the errors of [`send`](Self::send).
    fn send_with_priority(&mut self, _message: &mut Message, _priority: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sends the first `count` messages of a batch, in as few calls as possible. Only mechanisms with a
    /// [batch call](Capabilities::batch_call) have it.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    fn send_batch(&mut self, _batch: &MessageBatch, _count: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Receives messages into the front of a batch with one call, if at least one is complete then, and otherwise with as many
    /// calls as that needs. Returns their number, and sets their lengths. The next call must get the same batch, which contains
    /// the part of a stream's next message.
    ///
    /// # Errors
    /// The errors of [`recv`](Self::recv).
    fn recv_batch(&mut self, _batch: &mut MessageBatch) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns how many messages of this size may still be read out of the sender's own buffers when `send` has returned: 0 for
    /// a mechanism that copies.
    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        0
    }

    /// Returns how the end accesses the bytes of messages.
    fn access(&self) -> Access {
        Access::Copy
    }

    /// Returns the number of messages that are known to be lost since the end was opened; `None` if it does not count them.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// Returns the descriptor that `select`, `poll` and `epoll` may watch; `None` if there is none.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

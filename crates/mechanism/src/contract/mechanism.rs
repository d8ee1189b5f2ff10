//! What a mechanism is: what it claims, how its link is made, and what each end of it does.

use super::{BetweenHosts, EndpointSetup, Link, LinkSpecification, Message};
use furlong_model::{Access, Capabilities, Limits, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::wait::Interest;
use std::io;

/// One way for two processes to exchange messages.
pub trait Mechanism: 'static {
    /// What it is and promises, everywhere. Every field is a claim, and every claim is a conformance test.
    const CAPABILITIES: Capabilities;
    /// Whether programs use it so often that whoever measures nothing in particular looks for it.
    const IS_COMMON: bool = true;
    /// How its ends are made on two hosts; `None` where both are made on one.
    const BETWEEN_HOSTS: Option<BetweenHosts> = None;
    /// One process's end.
    type Endpoint: Endpoint;

    /// Whether this machine has it, and within which limits.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn probe() -> Result<Limits, Unavailable>;

    /// Makes what both ends need. Runs once, in the supervisor, before either role exists; every name it uses
    /// comes from `spec` and is gone before this returns where the kernel lets it go.
    ///
    /// # Errors
    /// What could not be made, in words that name the limit where there is one.
    fn create(specification: &LinkSpecification) -> io::Result<Link>;

    /// Takes this role's handles in the order in which `create` gave them. Runs once in each role's process.
    ///
    /// # Errors
    /// What could not be opened.
    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint>;
}

/// One process's end of a link.
///
/// Opened blocking it never says `WouldBlock`. Opened non-blocking it says so at once, keeps what it has done
/// so far of this message, and goes on from there when it is called again with the same message.
pub trait Endpoint {
    /// Sends the whole message.
    ///
    /// # Errors
    /// `WouldBlock` as said above; anything else ends the trial.
    fn send(&mut self, message: &mut Message) -> io::Result<()>;

    /// Sends the whole message, which others follow at once, the last of them through [`send`](Self::send): it may become
    /// visible together with them.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    #[inline(always)]
    fn send_more(&mut self, message: &mut Message) -> io::Result<()> {
        self.send(message)
    }

    /// Receives one message into `message` and gives its true length, even if that is more than the room.
    /// A byte stream has no lengths of its own: it fills the room.
    ///
    /// # Errors
    /// `WouldBlock` as said above, `UnexpectedEof` if the other end is gone; anything else ends the trial.
    fn recv(&mut self, message: &mut Message) -> io::Result<usize>;

    /// How many messages of this size may still be read out of the sender's own buffers when `send` has returned:
    /// none where it copies.
    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        0
    }

    /// Where it writes and reads the bytes of messages.
    fn access(&self) -> Access {
        Access::Copy
    }

    /// How many messages it knows to have lost since it was opened; `None` if it does not count them.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// The descriptor that `select` and its kin may watch; `None` if there is none.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

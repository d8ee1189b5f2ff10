//! How the two ends of a link come to be on two hosts, each made where it is used.

use super::{Link, LinkSpecification};
use furlong_os::{BorrowedHandle, identity};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// What the initiator shows, so that the responder takes nobody else for it: any host may come to its port.
pub type Secret = [u8; 16];

/// One that nobody else has.
///
/// # Errors
/// If the system has no random numbers.
pub fn new_secret() -> io::Result<Secret> {
    let mut secret = Secret::default();
    for half in secret.chunks_mut(8) {
        half.copy_from_slice(&identity::random()?.to_le_bytes());
    }
    Ok(secret)
}

/// Sends a whole message by a descriptor.
pub type SendAgain = fn(BorrowedHandle<'_>, &[u8]) -> io::Result<usize>;

/// How the two ends of a link come to be on two hosts. It happens before anything is measured, and ends at a time that the
/// caller says.
#[derive(Debug, Clone, Copy)]
pub struct BetweenHosts {
    /// On the responder's host: opens a port at this address.
    pub listen: fn(IpAddr) -> io::Result<Box<dyn Entrance>>,
    /// On the initiator's host: goes to that port, and makes the link with the initiator's end alone.
    pub enter: fn(SocketAddr, &Secret, Instant, &LinkSpecification) -> io::Result<Link>,
    /// How a message is sent again by the descriptor of an end, where the network may lose it; `None` where it loses none.
    pub send_again: Option<SendAgain>,
}

/// A port at which a responder waits for its initiator.
pub trait Entrance: Send {
    /// Where it is.
    ///
    /// # Errors
    /// If the system does not say.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Waits for who has the secret, closes the port, and makes the link with the responder's end alone.
    ///
    /// # Errors
    /// `TimedOut` if nobody came in time.
    fn admit(
        self: Box<Self>,
        secret: &Secret,
        deadline: Instant,
        specification: &LinkSpecification,
    ) -> io::Result<Link>;
}

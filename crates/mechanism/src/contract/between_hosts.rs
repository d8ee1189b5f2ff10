//! Links between two hosts, each end of which is made on its own host.

use super::{Link, LinkSpecification};
use furlong_os::{BorrowedHandle, identity};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// Secret that the initiator presents, so that the responder accepts no other client: any host can connect to its port.
pub type Secret = [u8; 16];

/// Returns a new random secret.
///
/// # Errors
/// Returns an error if the system has no random numbers.
pub fn new_secret() -> io::Result<Secret> {
    let mut secret = Secret::default();
    for half in secret.chunks_mut(8) {
        half.copy_from_slice(&identity::random()?.to_le_bytes());
    }
    Ok(secret)
}

/// Function that sends a whole message through a descriptor.
pub type SendAgain = fn(BorrowedHandle<'_>, &[u8]) -> io::Result<usize>;

/// The steps that make the two ends of a link on two hosts. They run before the measurement and end by a deadline of the
/// caller.
#[derive(Debug, Clone, Copy)]
pub struct BetweenHosts {
    /// Opens a port at this address on the responder's host.
    pub listen: fn(IpAddr) -> io::Result<Box<dyn Entrance>>,
    /// Connects to that port from the initiator's host, and makes the link with the initiator's end alone.
    pub enter: fn(SocketAddr, &Secret, Instant, &LinkSpecification) -> io::Result<Link>,
    /// Function that retransmits a message through the descriptor of an end, if the network may lose messages; otherwise
    /// `None`.
    pub send_again: Option<SendAgain>,
}

/// A port at which a responder waits for its initiator.
pub trait Entrance: Send {
    /// Returns the address of the port.
    ///
    /// # Errors
    /// Returns an error if the system does not report the address.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Waits for a client with the secret, closes the port, and makes the link with the responder's end alone.
    ///
    /// # Errors
    /// Returns `TimedOut` if no such client arrived before the deadline.
    fn admit(
        self: Box<Self>,
        secret: &Secret,
        deadline: Instant,
        specification: &LinkSpecification,
    ) -> io::Result<Link>;
}

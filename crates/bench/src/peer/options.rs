//! The options for another host, before anything is known about it.

use super::address::PeerAddress;
use std::net::IpAddr;
use std::time::Duration;

/// The options of a connection to another host.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// The address of the host.
    pub address: PeerAddress,
    /// The address at which its responders listen; `None` for the address that ssh has connected to.
    pub listen_at: Option<IpAddr>,
    /// The version of furlong that the host must have.
    pub version: String,
    /// The longest time to wait for an answer.
    pub patience: Duration,
    /// The longest time without input before the agent exits automatically. This is how it ends if the network cable is
    /// cut.
    pub lease: Duration,
}

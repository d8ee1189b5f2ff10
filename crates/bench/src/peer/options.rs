//! What is asked of another host before anything is known of it.

use super::address::PeerAddress;
use std::net::IpAddr;
use std::time::Duration;

/// How another host is reached.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// Where it is.
    pub address: PeerAddress,
    /// Where its responders listen; `None` for the address by which ssh has reached it.
    pub listen_at: Option<IpAddr>,
    /// The version that furlong has to have there.
    pub version: String,
    /// How long it may take to answer.
    pub patience: Duration,
    /// How long it may hear nothing before its side ends by itself: that is how a cut cable ends there.
    pub lease: Duration,
}

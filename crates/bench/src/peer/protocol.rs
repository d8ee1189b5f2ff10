//! The protocol between the hosts: one line of JSON per message, over the pipe of the command.

use crate::control::{Report, RoleConfiguration, RoleResult};
use furlong_mechanism::{LinkSpecification, Secret};
use furlong_model::{Machine, Phase, Room, Wait};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The longest line, in bytes.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// A request to the agent on the other host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// Create the responder's end of a link. The replies are [`Reply::Listening`], and [`Reply::Connected`] after the
    /// initiator has connected.
    Listen {
        mechanism: String,
        wait: Wait,
        specification: Box<LinkSpecification>,
        /// The address to listen at.
        address: IpAddr,
        /// The secret that the initiator presents.
        secret: Secret,
        /// The time that the initiator may take to connect, in milliseconds.
        patience_ms: u64,
    },
    /// Start the role that uses the link. Its reports arrive as [`Reply::Said`], and its end as [`Reply::Ended`].
    Begin { configuration: Box<RoleConfiguration> },
    /// Let the role enter the phase.
    Enter { phase: Phase },
    /// Announce the number of the last message. The reply is [`Reply::Known`] once the role can see it.
    Last { number: u64 },
}

/// A reply of the agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    /// The first message.
    Hello {
        version: String,
        machine: Box<Machine>,
        /// The address of that host that ssh has connected to, if ssh reports it.
        reached_at: Option<IpAddr>,
    },
    /// The responder's end listens at this address.
    Listening { address: SocketAddr },
    /// The initiator has connected.
    Connected { rooms: [Room; 2], effective: BTreeMap<String, u64> },
    /// The request failed.
    Cannot { detail: String },
    /// The role has sent this report.
    Said { report: Box<Report<RoleResult>> },
    /// The role can read the number of the last message.
    Known,
    /// The role's process has ended.
    Ended {
        /// The exit status, or otherwise the signal.
        exit: Result<i32, i32>,
        /// The start of its standard error.
        words: String,
    },
}

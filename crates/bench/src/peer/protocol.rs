//! What is said between the hosts: one line of JSON each, over the pipe that the command gives.

use crate::control::{Report, RoleConfiguration, RoleResult};
use furlong_mechanism::{LinkSpecification, Secret};
use furlong_model::{Machine, Phase, Room, Wait};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The longest line.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// What is asked of the other host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// Make the responder's end of a link: [`Reply::Listening`], and [`Reply::Connected`] once the initiator has come.
    Listen {
        mechanism: String,
        wait: Wait,
        specification: Box<LinkSpecification>,
        /// Where to listen.
        address: IpAddr,
        /// What the initiator shows.
        secret: Secret,
        /// How long it may take to come, in milliseconds.
        patience_ms: u64,
    },
    /// Start the role that uses it. Its reports come as [`Reply::Said`], and its end as [`Reply::Ended`].
    Begin { configuration: Box<RoleConfiguration> },
    /// Let the role into the phase.
    Enter { phase: Phase },
    /// This message will be the last one: [`Reply::Known`] once the role can see that.
    Last { number: u64 },
}

/// What the other host says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    /// The first word.
    Hello {
        version: String,
        machine: Box<Machine>,
        /// The address of that host by which ssh has reached it, if ssh says so.
        reached_at: Option<IpAddr>,
    },
    /// There is a port.
    Listening { address: SocketAddr },
    /// The initiator has come.
    Connected { rooms: [Room; 2], effective: BTreeMap<String, u64> },
    /// What was asked could not be done.
    Cannot { detail: String },
    /// The role reports this.
    Said { report: Box<Report<RoleResult>> },
    /// The number of the last message is where the role reads it.
    Known,
    /// The role's process has ended.
    Ended {
        /// Its exit code, or else the signal.
        exit: Result<i32, i32>,
        /// What it wrote to its standard error.
        words: String,
    },
}

//! The two ends of an exchange and the stages that they pass through.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which end of the exchange a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sends first and holds the clock.
    Initiator,
    /// Answers.
    Responder,
}

impl Role {
    /// Both, the initiator first.
    pub const BOTH: [Role; 2] = [Role::Initiator, Role::Responder];

    /// The other end.
    #[inline]
    pub const fn peer(self) -> Role {
        match self {
            Role::Initiator => Role::Responder,
            Role::Responder => Role::Initiator,
        }
    }

    /// 0 for the initiator, 1 for the responder.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Initiator => "initiator",
            Role::Responder => "responder",
        })
    }
}

/// The stages of a trial, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The supervisor makes the link.
    Create,
    /// The processes start, pin themselves and open their ends.
    Open,
    /// Every byte of every message is checked; nothing is timed.
    Verify,
    /// The measured loop runs until its pace is steady; its times are thrown away.
    WarmUp,
    /// The measured loop.
    Timed,
    /// The processes report and leave.
    Finish,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Create => "create",
            Phase::Open => "open",
            Phase::Verify => "verify",
            Phase::WarmUp => "warm-up",
            Phase::Timed => "timed",
            Phase::Finish => "finish",
        })
    }
}

//! Why a role cannot go on.

use crate::stamp::Discrepancy;
use furlong_mechanism::NotAsWritten;
use furlong_model::{Fault, Phase};
use std::fmt::Display;
use std::io;

/// A message came by another link than it was sent by. Links have numbers from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherLink {
    /// Which message was due.
    pub message: u64,
    /// The link that it was due by.
    pub due: usize,
    /// The one that something came by.
    pub came: usize,
}

impl Display for OtherLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OtherLink { message, due, came } = self;
        write!(f, "message {message} was due by link {due}, and a message came by link {came}")
    }
}

impl std::error::Error for OtherLink {}

/// Why a role cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleError {
    /// What kind of thing went wrong.
    pub fault: Fault,
    /// What exactly.
    pub detail: String,
    /// Where, once the place is known.
    pub phase: Option<Phase>,
}

impl RoleError {
    /// At a place that is not known yet.
    pub fn new(fault: Fault, detail: impl Into<String>) -> RoleError {
        RoleError { fault, detail: detail.into(), phase: None }
    }

    /// A call of the mechanism failed. Takes the error, so that a loop that calls this has nothing left to clean up.
    #[cold]
    #[inline(never)]
    pub fn of_call(call: &str, error: io::Error) -> RoleError {
        if let Some(other) = error.get_ref().and_then(|inner| inner.downcast_ref::<OtherLink>()) {
            return RoleError::new(Fault::OtherLink, other.to_string());
        }
        if let Some(found) = error.get_ref().and_then(|inner| inner.downcast_ref::<NotAsWritten>()) {
            return RoleError::new(Fault::Flipped, found.to_string());
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                RoleError::new(Fault::PeerGone, format!("{call}: the other end is gone"))
            }
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused => {
                RoleError::new(Fault::PeerGone, format!("{call}: {error}"))
            }
            _ => RoleError::new(Fault::Error, format!("{call}: {error}")),
        }
    }

    /// In this phase, unless it is known to be another.
    pub fn at(self, phase: Phase) -> RoleError {
        RoleError { phase: self.phase.or(Some(phase)), ..self }
    }
}

impl From<Discrepancy> for RoleError {
    fn from(found: Discrepancy) -> RoleError {
        RoleError::new(found.fault, found.detail)
    }
}

/// Says what a step was for when it fails.
pub fn step<T, E: Display>(phase: Phase, what: &str, result: Result<T, E>) -> Result<T, RoleError> {
    result.map_err(|error| RoleError::new(Fault::Error, format!("{what}: {error}")).at(phase))
}

//! The reason why a role cannot continue.

use crate::stamp::Discrepancy;
use furlong_mechanism::NotAsWritten;
use furlong_model::{Fault, Phase};
use std::fmt::Display;
use std::io;

/// A message that arrived over another link than the one on which it was due. Links are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherLink {
    /// Number of the message that was due.
    pub message: u64,
    /// Link on which it was due.
    pub due: usize,
    /// Link on which a message arrived.
    pub came: usize,
}

impl Display for OtherLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OtherLink { message, due, came } = self;
        write!(f, "message {message} was due over link {due}, but a message arrived over link {came}")
    }
}

impl std::error::Error for OtherLink {}

/// The reason why a role cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleError {
    /// Kind of fault.
    pub fault: Fault,
    /// Details of the fault.
    pub detail: String,
    /// Phase in which it occurred; `None` while it is unknown.
    pub phase: Option<Phase>,
}

impl RoleError {
    /// Creates an error of an unknown phase.
    pub fn new(fault: Fault, detail: impl Into<String>) -> RoleError {
        RoleError { fault, detail: detail.into(), phase: None }
    }

    /// Creates the error of a failed call of the mechanism. It takes ownership of the error, so that the calling loop has
    /// nothing left to drop.
    #[cold]
    #[inline(never)]
    pub fn from_call(call: &str, error: io::Error) -> RoleError {
        if let Some(other) = error.get_ref().and_then(|inner| inner.downcast_ref::<OtherLink>()) {
            return RoleError::new(Fault::OtherLink, other.to_string());
        }
        if let Some(found) = error.get_ref().and_then(|inner| inner.downcast_ref::<NotAsWritten>()) {
            return RoleError::new(Fault::Flipped, found.to_string());
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                RoleError::new(Fault::PeerGone, format!("{call}: the peer has disconnected"))
            }
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused => {
                RoleError::new(Fault::PeerGone, format!("{call}: {error}"))
            }
            _ => RoleError::new(Fault::Error, format!("{call}: {error}")),
        }
    }

    /// Sets the phase, unless the error already has one.
    pub fn at(self, phase: Phase) -> RoleError {
        RoleError { phase: self.phase.or(Some(phase)), ..self }
    }
}

impl From<Discrepancy> for RoleError {
    fn from(found: Discrepancy) -> RoleError {
        RoleError::new(found.fault, found.detail)
    }
}

/// Adds the purpose of a failed step to its error.
pub fn step<T, E: Display>(phase: Phase, what: &str, result: Result<T, E>) -> Result<T, RoleError> {
    result.map_err(|error| RoleError::new(Fault::Error, format!("{what}: {error}")).at(phase))
}

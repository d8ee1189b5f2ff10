//! Replacements for systems from which other hosts cannot be reached yet.

use std::path::PathBuf;
use std::time::Duration;

/// The start of the command that provides a pipe.
pub(super) mod start {
    use super::super::options::PeerOptions;
    use super::super::pipe::Pipe;
    use furlong_model::{Failure, Fault, Phase};

    /// Starts nothing.
    ///
    /// # Errors
    /// Returns the reason always: benchmarks between hosts need Linux.
    pub(crate) fn start(_options: &PeerOptions, _run: &str) -> Result<Pipe, Failure> {
        let detail = "benchmarks between hosts can be started only from Linux".to_owned();
        Err(Failure { phase: Phase::Create, party: None, fault: Fault::Error, detail })
    }
}

/// Returns `None`, because no process is started as an agent on this system.
pub fn requested() -> Option<(PathBuf, Duration)> {
    None
}

/// Does nothing. Returns an exit status of failure.
pub fn main(
    _mechanisms: fn() -> Vec<crate::MechanismEntry>,
    _version: &str,
    _asked: (PathBuf, Duration),
) -> i32 {
    1
}

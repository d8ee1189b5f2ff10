//! The other host, on systems from which none is reached yet.

use std::path::PathBuf;
use std::time::Duration;

/// How a command that gives a pipe is started.
pub(super) mod start {
    use super::super::options::PeerOptions;
    use super::super::pipe::Pipe;
    use furlong_model::{Failure, Fault, Phase};

    /// Starts nothing.
    ///
    /// # Errors
    /// Why.
    pub(crate) fn start(_options: &PeerOptions, _run: &str) -> Result<Pipe, Failure> {
        let detail = "rows between hosts are measured from Linux alone".to_owned();
        Err(Failure { phase: Phase::Create, party: None, fault: Fault::Error, detail })
    }
}

/// Nobody is asked to be the other side here.
pub fn requested() -> Option<(PathBuf, Duration)> {
    None
}

/// Does nothing.
pub fn main(
    _mechanisms: fn() -> Vec<crate::MechanismEntry>,
    _version: &str,
    _asked: (PathBuf, Duration),
) -> i32 {
    1
}

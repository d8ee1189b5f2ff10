//! Facts about a run and its machine, at the head of every result.

use crate::{Run, Verdict};
use furlong_model::{Harness, Machine, PeerHost};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Head of a result: facts about its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Version of furlong that ran the measurement.
    pub version: String,
    /// Command line.
    pub argv: Vec<String>,
    /// Start in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Seed for the order of trials and for all resampling.
    pub seed: u64,
    /// Number of repetitions of the whole run, with time between them.
    #[serde(default = "once")]
    pub across: u32,
    /// Machine of the run.
    pub machine: Machine,
    /// Host of the responders; `None` if it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<PeerHost>>,
    /// Overhead of the harness, which is never subtracted.
    pub harness: Harness,
    /// Noise verdict of the machine.
    pub noise: Verdict,
    /// Whether trials are missing, because the run was interrupted or its file cut off.
    pub partial: bool,
    /// Number of processes that were started again, because Wine had failed to start them; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_again: Option<NonZeroU32>,
}

fn once() -> u32 {
    1
}

impl RunFacts {
    /// Returns the facts of a run with this noise verdict.
    pub(crate) fn of(run: &Run, noise: Verdict) -> RunFacts {
        let header = run.header.clone();
        RunFacts {
            version: header.version,
            argv: header.argv,
            started_unix_s: header.started_unix_s,
            seed: header.seed,
            across: header.across,
            machine: header.machine,
            peer: header.peer,
            harness: header.harness,
            noise,
            partial: run.is_partial(),
            started_again: run.end.and_then(|end| end.started_again),
        }
    }
}

//! What a run is and what it was measured on: the head of everything that is computed from one.

use crate::{Run, Verdict};
use furlong_model::{Harness, Machine, PeerHost};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The head of a result: which run it is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Version of furlong that measured.
    pub version: String,
    /// The command as it was typed.
    pub argv: Vec<String>,
    /// Seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Seed of the order of trials and of all resampling.
    pub seed: u64,
    /// How often all of it was measured, some time apart.
    #[serde(default = "once")]
    pub across: u32,
    /// What the run was measured on.
    pub machine: Machine,
    /// The host that responders were on; `None` where that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<PeerHost>>,
    /// What the harness itself costs; never subtracted.
    pub harness: Harness,
    /// How quiet the machine was.
    pub noise: Verdict,
    /// Whether trials are missing, because the run was interrupted or its file cut off.
    pub partial: bool,
    /// Processes that were started once more, because Wine had failed to; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_again: Option<NonZeroU32>,
}

fn once() -> u32 {
    1
}

impl RunFacts {
    /// Those of a run, which was as quiet as `noise` says.
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

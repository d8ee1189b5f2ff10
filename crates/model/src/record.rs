//! What a run leaves behind: one line of JSON a record, appended as things happen.

use crate::{
    CostReading, Count, Experiment, HandoverCount, HandoverTrial, Machine, NoiseReading, PeerHost, Shortlist,
    StartReading, Trial,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Version of the record format. Readers ignore fields they do not know, read older schemas
/// and refuse newer ones.
pub const SCHEMA: u32 = 2;

/// One line of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The first line: what was asked, of which machine.
    Run(RunHeader),
    /// What else the machine was doing.
    Noise(NoiseReading),
    /// What the machine charges.
    Costs(CostReading),
    /// One trial, whatever came of it.
    Trial(Trial),
    /// The counted pass of one case.
    Count(Count),
    /// One trial of a handover, whatever came of it.
    Handover(HandoverTrial),
    /// The counted pass of a handover.
    HandoverCount(HandoverCount),
    /// How long processes took to start.
    Start(StartReading),
    /// The published comparison that the run repeats, as it was asked for.
    Experiment(Experiment),
    /// The workload for which a mechanism is to be chosen, and what was known before anything was measured.
    Shortlist(Shortlist),
    /// The last line; a file without one was cut off.
    End(End),
}

impl Record {
    /// Reads the record of this kind from JSON; `None` for a kind that a later version added. The code that reads records is
    /// compiled here, and the crates above share it.
    pub fn read(kind: &str, text: &[u8]) -> serde_json::Result<Option<Record>> {
        Ok(Some(match kind {
            "run" => Record::Run(serde_json::from_slice(text)?),
            "noise" => Record::Noise(serde_json::from_slice(text)?),
            "costs" => Record::Costs(serde_json::from_slice(text)?),
            "trial" => Record::Trial(serde_json::from_slice(text)?),
            "count" => Record::Count(serde_json::from_slice(text)?),
            "handover" => Record::Handover(serde_json::from_slice(text)?),
            "handover-count" => Record::HandoverCount(serde_json::from_slice(text)?),
            "start" => Record::Start(serde_json::from_slice(text)?),
            "experiment" => Record::Experiment(serde_json::from_slice(text)?),
            "shortlist" => Record::Shortlist(serde_json::from_slice(text)?),
            "end" => Record::End(serde_json::from_slice(text)?),
            _ => return Ok(None),
        }))
    }

    /// Writes the record as one line of JSON with its line break.
    pub fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// What was asked, and of which machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of furlong, with the commit that it is built from where that is known, as in `0.1.0+1f5549bd9d1a`.
    pub version: String,
    /// The command as it was typed.
    pub argv: Vec<String>,
    /// What the user calls the conditions of the run, as in `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Seed of the order of trials and of the bootstrap.
    pub seed: u64,
    /// Trials asked for each case, in each repetition.
    pub trials: u32,
    /// How often all of it is measured, some time apart: trial n belongs to repetition n / `trials`.
    #[serde(default = "once")]
    pub across: u32,
    /// Time asked for the measured part of each trial, in nanoseconds.
    pub budget_ns: u64,
    /// Least time asked for the warm-up of each trial, in nanoseconds; `None` until the pace is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ns: Option<u64>,
    /// The machine.
    pub machine: Machine,
    /// The host that responders were on; `None` where that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<PeerHost>>,
    /// What the harness itself costs.
    pub harness: Harness,
}

fn once() -> u32 {
    1
}

/// What the harness itself costs on this machine. Never subtracted from a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Harness {
    /// One reading of the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// The smallest step between two different readings, in nanoseconds.
    pub clock_step_ns: f64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The signal that interrupted it, if one did; trials that had ended are in the file.
    pub interrupted_by: Option<i32>,
    /// Wall time of the run, in nanoseconds.
    pub elapsed_ns: u64,
    /// Processes that were started once more, because Wine had failed to; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_again: Option<NonZeroU32>,
}

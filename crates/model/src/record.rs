//! The file of a run: one record per line, as JSON, appended during the run.

use crate::{
    CostReading, Count, Experiment, HandoverCount, HandoverTrial, Machine, MeaningReading, NoiseReading,
    PeerHost, Shortlist, Slo, StartReading, Trial,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Version of the record format. Readers ignore unknown fields, read older schemas and reject newer ones.
pub const SCHEMA: u32 = 2;

/// One line of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "most records of a run are trials, the largest variant")]
pub enum Record {
    /// The first line: the command and the machine.
    Run(RunHeader),
    /// Other activity of the machine.
    Noise(NoiseReading),
    /// The costs of operations on the machine.
    Costs(CostReading),
    /// One trial, with any outcome.
    Trial(Trial),
    /// The counted pass of one case.
    Count(Count),
    /// One trial of a handover, with any outcome.
    Handover(HandoverTrial),
    /// The counted pass of a handover.
    HandoverCount(HandoverCount),
    /// Start times of processes.
    Start(StartReading),
    /// The probe of a meaning.
    Meaning(MeaningReading),
    /// The published comparison that the run repeats, as requested.
    Experiment(Experiment),
    /// The workload for which a mechanism is to be chosen, and the facts that were known before the measurement.
    Shortlist(Shortlist),
    /// The last line. A file without it is incomplete.
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
            "meaning" => Record::Meaning(serde_json::from_slice(text)?),
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

/// The command of a run and its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of furlong, with its commit if it is known, for example `0.1.0+1f5549bd9d1a`.
    pub version: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The user's label for the conditions of the run, for example `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Seed of the order of trials and of the bootstrap.
    pub seed: u64,
    /// Requested trials of each case in each repetition.
    pub trials: u32,
    /// Number of repetitions of the whole run, some time apart: trial n belongs to repetition n / `trials`.
    #[serde(default = "once")]
    pub across: u32,
    /// Requested duration of the measured part of each trial, in nanoseconds.
    pub budget_ns: u64,
    /// Requested minimum duration of the warm-up of each trial, in nanoseconds; `None` if it ends when the pace is
    /// steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ns: Option<u64>,
    /// The objective whose highest rate was searched, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_rate: Option<Slo>,
    /// The machine.
    pub machine: Machine,
    /// The host of the responders; `None` if it is the same host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Box<PeerHost>>,
    /// The overhead of the harness itself.
    pub harness: Harness,
}

fn once() -> u32 {
    1
}

/// The overhead of the harness on this machine. It is never subtracted from a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Harness {
    /// Duration of one clock reading, in nanoseconds.
    pub clock_read_ns: f64,
    /// Smallest difference between two different clock readings, in nanoseconds.
    pub clock_step_ns: f64,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The signal that interrupted the run, if any. The file contains the trials that had ended.
    pub interrupted_by: Option<i32>,
    /// Wall time of the run, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of processes that were started again because Wine had failed to start them; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_again: Option<NonZeroU32>,
}

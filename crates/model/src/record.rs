//! What a run leaves behind: one line of JSON a record, appended as things happen.

use crate::{
    Case, CostReading, Count, Experiment, Family, HandoverCount, HandoverTrial, Machine, NoiseReading, Phase,
    Role, Shortlist, StartReading, Unavailable,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

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

/// What was asked, and of which machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of furlong.
    pub version: String,
    /// The command as it was typed.
    pub argv: Vec<String>,
    /// Seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Seed of the order of trials and of the bootstrap.
    pub seed: u64,
    /// Trials asked for each case.
    pub trials: u32,
    /// Time asked for the measured part of each trial, in nanoseconds.
    pub budget_ns: u64,
    /// The machine.
    pub machine: Machine,
    /// What the harness itself costs.
    pub harness: Harness,
}

/// What the harness itself costs on this machine. Never subtracted from a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Harness {
    /// One reading of the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// The smallest step between two different readings, in nanoseconds.
    pub clock_step_ns: f64,
}

/// One trial of one case: of an exchange of messages, or of what else has a case `C` and figures `M`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial<C = Case, M = Measurement> {
    /// What was tried.
    #[serde(alias = "handover")]
    pub case: C,
    /// The kind of mechanism, so that a record explains itself anywhere; `None` if there is none.
    pub family: Option<Family>,
    /// 0 for the first trial of the case.
    pub number: u32,
    /// What came of it.
    pub outcome: Outcome<M>,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome<M = Measurement> {
    /// All that arrived is what was sent.
    Measured(M),
    /// The combination makes no sense, or exceeds a limit; nothing was started.
    Refused(Unavailable),
    /// This machine, or the rights of this process, have no such thing.
    Unavailable(Unavailable),
    /// It started and did not end well.
    Failed(Failure),
}

impl<M> Outcome<M> {
    /// Its figures, if all that arrived is what was sent.
    pub fn measurement(&self) -> Option<&M> {
        match self {
            Outcome::Measured(measurement) => Some(measurement),
            _ => None,
        }
    }
}

/// The figures of one trial, both roles together. What is called a round trip in a record is one message where the
/// pattern is one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Round trips that were timed.
    pub round_trips: u64,
    /// Time that they took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Round trips to one reading of the clock: above 1 the histogram holds means of that many.
    pub round_trips_per_sample: u32,
    /// Times of samples in nanoseconds: HdrHistogram V2 with deflate, in base64.
    pub histogram: String,
    /// Messages that were sent later than they were due, where the pace sets a time for each.
    #[serde(default)]
    pub late_sends: u64,
    /// Messages of which every byte was checked, both directions together.
    pub verified_messages: u64,
    /// Values in force where the kernel has a say, by name, as in `pipe-size-bytes`.
    pub effective: BTreeMap<String, u64>,
    /// What each role used and counted, the initiator first.
    pub roles: Vec<RoleTally>,
}

/// What one role used and counted in the measured part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleTally {
    /// Which end.
    pub role: Role,
    /// The processor it was on at the end, by the kernel's number.
    pub processor: usize,
    /// Messages that this role received from the first of the trial to the last; one way, for the initiator, those
    /// that it sent.
    pub messages_received: u64,
    /// Round trips between the two readings of the figures below.
    pub round_trips: u64,
    /// Processor time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// How much of both went into waiting for a message to be due, which is the pace's and not the mechanism's, in
    /// nanoseconds.
    #[serde(default)]
    pub idle_ns: u64,
    /// Times that it gave up the processor to wait.
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
    /// Page faults served without reading a disk.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
}

impl RoleTally {
    /// Processor time in user mode without what went into waiting for a message to be due, in nanoseconds.
    pub fn user_work_ns(&self) -> u64 {
        self.user_ns.saturating_sub(self.idle_ns)
    }

    /// The same in the kernel. Kernels that split processor time by clock ticks may say that waiting was there.
    pub fn system_work_ns(&self) -> u64 {
        self.system_ns.saturating_sub(self.idle_ns.saturating_sub(self.user_ns))
    }
}

/// How a trial went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The stage it happened in.
    pub phase: Phase,
    /// The role it happened to; `None` for the supervisor, or where it could be either.
    pub role: Option<Role>,
    /// What kind of thing went wrong.
    pub fault: Fault,
    /// What exactly happened, in words that need no context.
    pub detail: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Some(role) => write!(f, "{role} in phase {}: {}", self.phase, self.detail),
            None => write!(f, "in phase {}: {}", self.phase, self.detail),
        }
    }
}

/// The kinds of things that go wrong with a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A process was killed by a signal.
    Killed,
    /// A process left before its time.
    Exited,
    /// A process was stopped (state T) past the deadline.
    Stopped,
    /// A process is alive, and nothing came from it before the deadline.
    Silent,
    /// A call failed.
    Error,
    /// A message never arrived.
    Lost,
    /// A message arrived twice.
    Repeated,
    /// Messages arrived in another order.
    Reordered,
    /// A message arrived with another length.
    Truncated,
    /// A message arrived with other bytes.
    Flipped,
}

impl Fault {
    /// Whether the mechanism delivered something other than what was sent.
    pub const fn is_corruption(self) -> bool {
        matches!(self, Fault::Lost | Fault::Repeated | Fault::Reordered | Fault::Truncated | Fault::Flipped)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The signal that interrupted it, if one did; trials that had ended are in the file.
    pub interrupted_by: Option<i32>,
    /// Wall time of the run, in nanoseconds.
    pub elapsed_ns: u64,
}

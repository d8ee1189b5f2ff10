//! One trial: its case and its outcome.

use crate::{Access, Case, Depth, Family, Party, Phase, TrialEnvironment, Unavailable};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// One trial, generic over its case `C` and its measurements `M`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial<C = Case, M = Measurement> {
    /// The case.
    #[serde(alias = "handover")]
    pub case: C,
    /// The kind of mechanism, so that a record is self-explanatory; `None` if there is none.
    pub family: Option<Family>,
    /// 0 for the first trial of the case.
    pub number: u32,
    /// Its start, in nanoseconds after the start of the run; `None` if nothing was started, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// The outcome.
    pub outcome: Outcome<M>,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome<M = Measurement> {
    /// All messages arrived as they were sent.
    Measured(M),
    /// The combination makes no sense or exceeds a limit. Nothing was started.
    Refused(Unavailable),
    /// The mechanism is not available on this machine or to this process.
    Unavailable(Unavailable),
    /// The trial started and failed.
    Failed(Failure),
}

impl<M> Outcome<M> {
    /// Returns the figures, if all messages arrived as they were sent.
    pub fn measurement(&self) -> Option<&M> {
        match self {
            Outcome::Measured(measurement) => Some(measurement),
            _ => None,
        }
    }

    /// Returns whether something was started. Both figures and failures are evidence.
    pub const fn was_started(&self) -> bool {
        matches!(self, Outcome::Measured(_) | Outcome::Failed(_))
    }
}

/// The figures of one trial, for both roles. In one-way patterns, a round trip is one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Number of timed round trips.
    pub round_trips: u64,
    /// Duration of these round trips, in nanoseconds.
    pub elapsed_ns: u64,
    /// Round trips per clock reading. If it is above 1, the histogram contains means of this number of round trips.
    pub round_trips_per_sample: u32,
    /// Times of samples in nanoseconds: HdrHistogram V2 with deflate, in base64.
    pub histogram: String,
    /// Number of messages that were sent after their due time, if the pace sets due times.
    #[serde(default)]
    pub late_sends: u64,
    /// Those of them that were late because of the sender's timer. They are timed from their send, and all others from
    /// their due time. `None` without due times, for programs with their own loop, and in older records, in which every
    /// message is timed from its due time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_late: Option<TimerLateness>,
    /// Total time that the messages of a window had been in flight at the start and at the end of the measured part, in
    /// nanoseconds; `None` if one message is in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding_ns: Option<[u64; 2]>,
    /// Messages in flight, if they were sent when they were due, whether or not others were in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoop>,
    /// Number of messages whose every byte was checked, in both directions.
    pub verified_messages: u64,
    /// Values in effect if the kernel may change them, by name, for example `pipe-size-bytes`.
    pub effective: BTreeMap<String, u64>,
    /// Number of messages that the link held in each direction while no message was received, there and back; `None` in
    /// older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<[Depth; 2]>,
    /// The resources and counts of each role, the initiator first. Several pairs follow pair after pair, and several
    /// receivers follow the initiator.
    pub roles: Vec<RoleTally>,
    /// Times until the first receiver had a message, and until half of them had it, if several receive each message. In
    /// nanoseconds, as in `histogram`, which has the times until the last receiver had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<[String; 2]>,
    /// Messages of the other receivers while one slept, if that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// Total number of messages of the measured part that receivers lost; `None` if none can be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Number of messages of the measured part that were sent again because they or their answers were lost; `None` if
    /// the mechanism itself retransmits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_again: Option<u64>,
    /// Times of the messages of each size, by size; empty if all messages have the same size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub size_classes: Vec<SizeClass>,
    /// The figures of each of several pairs or receivers; empty if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The resources of processes that are neither role: servers of the mechanism.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProcess>,
    /// The program that carries the messages, if it is not furlong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<AdapterFacts>,
    /// Warm-up of an adapter's program; `None` for furlong's own loop, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Box<WarmUp>>,
    /// The timed programs, if they do not use furlong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramFacts>,
    /// CPUs on which own programs spent at least a twentieth of their CPU time, as seen in /proc during the measured
    /// part. Empty if the measured part was too short, for furlong's own roles, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran_on: Vec<usize>,
    /// Quotas and neighbours, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Box<TrialEnvironment>>,
}

impl Measurement {
    /// Returns the time per round trip, in nanoseconds.
    pub fn each_ns(&self) -> f64 {
        self.elapsed_ns as f64 / self.round_trips as f64
    }
}

/// Messages in flight in an open loop, whose bound is the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Most messages that were in flight at once.
    pub most_in_flight: u32,
    /// Number of messages that were due while the window was full, and were sent later.
    pub sends_at_bound: u64,
}

impl OpenLoop {
    /// Combines the figures of two pairs.
    #[must_use]
    pub fn and(self, other: OpenLoop) -> OpenLoop {
        OpenLoop {
            most_in_flight: self.most_in_flight.max(other.most_in_flight),
            sends_at_bound: self.sends_at_bound.saturating_add(other.sends_at_bound),
        }
    }
}

/// Times of the messages of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeClass {
    /// Bytes of each of these messages.
    pub size_bytes: usize,
    /// Times in nanoseconds: HdrHistogram V2 with deflate, in base64.
    pub histogram: String,
}

/// Messages that were sent late although none was in flight, because the sender's timer woke it late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerLateness {
    /// Number of these messages.
    pub sends: u64,
    /// Total delay in nanoseconds.
    pub total_ns: u64,
    /// Longest delay in nanoseconds.
    pub longest_ns: u64,
}

impl TimerLateness {
    /// Returns the sums of two senders.
    #[must_use]
    pub fn and(self, other: TimerLateness) -> TimerLateness {
        TimerLateness {
            sends: self.sends.saturating_add(other.sends),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }

    /// Returns the sums if each message counts once per receiver.
    #[must_use]
    pub fn times(self, receivers: u64) -> TimerLateness {
        TimerLateness {
            sends: self.sends.saturating_mul(receivers),
            total_ns: self.total_ns.saturating_mul(receivers),
            ..self
        }
    }
}

/// Messages of all receivers but one while that receiver slept, and while it was awake before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Duration of the time awake, in nanoseconds.
    pub awake_ns: u64,
    /// Total number of messages of the others in that time.
    pub awake_messages: u64,
    /// Duration of the sleep, in nanoseconds.
    pub asleep_ns: u64,
    /// Total number of messages of the others in that time.
    pub asleep_messages: u64,
}

/// The facts about own programs: a server and its client, or one program that is the whole system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// The command lines of the server and the client. The server's is empty if the client is the whole system.
    pub commands: [String; 2],
    /// Whether the time begins when the client reports that it is ready, and not at its start.
    pub begins_when_ready: bool,
    /// Whether the time ends when the client reports that it is done, and not when it exits.
    pub ends_when_done: bool,
    /// Whether the client reports the number of its exchanges. Otherwise its whole run counts as one.
    pub counts: bool,
}

/// The facts about a program that carries messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterFacts {
    /// Its components with their versions, by name.
    pub versions: BTreeMap<String, String>,
    /// Its work in addition to moving bytes, according to its manifest.
    pub does: Vec<String>,
    /// Whether its language compiles while the program runs, according to its manifest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compiles_while_running: bool,
}

/// Exchanges of a program before the measured part of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Duration, in nanoseconds.
    pub elapsed_ns: u64,
    /// Round trips, or messages one way.
    pub exchanges: u64,
    /// Mean time of an exchange in the first 50 ms, in nanoseconds.
    pub first_ns: f64,
    /// Mean time of an exchange at the end, in nanoseconds.
    pub last_ns: f64,
    /// Whether the pace was steady at the end.
    pub is_steady: bool,
}

/// The resources of a process that is neither role, in the measured part of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherProcess {
    /// Name of the process.
    pub name: String,
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Number of times that it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times that it was preempted.
    pub involuntary_switches: u64,
}

/// The figures of one of several pairs or receivers in the measured part, as measured by its party with the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The party with the clock.
    #[serde(rename = "role")]
    pub party: Party,
    /// Round trips, or messages one way.
    pub round_trips: u64,
    /// Its start, in nanoseconds after the start of the first part.
    pub began_ns: u64,
    /// Its duration, in nanoseconds.
    pub elapsed_ns: u64,
}

/// The resources and counts of one role in the measured part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleTally {
    /// The process.
    #[serde(rename = "role")]
    pub party: Party,
    /// The CPU on which it was at the end, by the kernel's number.
    pub processor: usize,
    /// How it accessed the bytes of messages, as reported by its end.
    #[serde(default, skip_serializing_if = "Access::is_copy")]
    pub access: Access,
    /// Number of messages that this role received in the whole trial, plus those that it knows to be lost. For the
    /// initiator of a one-way pattern, the number of messages that it sent.
    pub messages_received: u64,
    /// Round trips between the two readings of the figures below.
    pub round_trips: u64,
    /// The batches in which it sent or received them; `None` if each message had its own call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<BatchTally>,
    /// Time between these readings, in nanoseconds. It exceeds the measured part if one role waited for the other
    /// before or after it. `None` for programs, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<u64>,
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Part of both times that was spent waiting for a message to be due, in nanoseconds. It belongs to the pace and
    /// not to the mechanism.
    #[serde(default)]
    pub idle_ns: u64,
    /// Number of times that it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Number of these waits for a message to be due.
    #[serde(default)]
    pub idle_switches: u64,
    /// Number of times that it was preempted.
    pub involuntary_switches: u64,
    /// Page faults that needed no read from disk.
    pub minor_faults: u64,
    /// Page faults that needed a read from disk.
    pub major_faults: u64,
}

/// The batches of one role in the measured part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchTally {
    /// The system call that carried a batch.
    pub call: String,
    /// Number of batches. A batch needs further calls if attempts failed, or if a message came in parts.
    pub number: u64,
}

impl RoleTally {
    /// Returns the CPU time in user mode without the waits for a message to be due, in nanoseconds.
    pub fn user_work_ns(&self) -> u64 {
        self.user_ns.saturating_sub(self.idle_ns)
    }

    /// Returns the CPU time in the kernel without these waits, in nanoseconds. Kernels that split CPU time by clock
    /// ticks may attribute the waits to the kernel.
    pub fn system_work_ns(&self) -> u64 {
        self.system_ns.saturating_sub(self.idle_ns.saturating_sub(self.user_ns))
    }

    /// Returns the number of times that it gave up the CPU to wait for the other role.
    pub fn switches_to_wait(&self) -> u64 {
        self.voluntary_switches.saturating_sub(self.idle_switches)
    }
}

/// The failure of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The phase of the failure.
    pub phase: Phase,
    /// The affected party; `None` for the supervisor, or if any party could be affected.
    #[serde(rename = "role")]
    pub party: Option<Party>,
    /// The kind of failure.
    pub fault: Fault,
    /// Description of the failure that needs no context.
    pub detail: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.party {
            Some(party) => write!(f, "{party} in phase {}: {}", self.phase, self.detail),
            None => write!(f, "in phase {}: {}", self.phase, self.detail),
        }
    }
}

/// The kinds of failures of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A process was killed by a signal.
    Killed,
    /// A process exited too early.
    Exited,
    /// A process was stopped (state T) beyond the deadline.
    Stopped,
    /// A process is alive, but sent nothing before the deadline.
    Silent,
    /// A call failed.
    Error,
    /// A call failed because the other end was closed, which is rarely the cause.
    PeerGone,
    /// A message never arrived.
    Lost,
    /// A message arrived twice.
    Repeated,
    /// Messages arrived in another order.
    Reordered,
    /// A message arrived through another link.
    OtherLink,
    /// A message arrived with another length.
    Truncated,
    /// A message arrived with other bytes.
    Flipped,
}

impl Fault {
    /// Returns whether the mechanism delivered something other than the sent messages.
    pub const fn is_corruption(self) -> bool {
        matches!(
            self,
            Fault::Lost
                | Fault::Repeated
                | Fault::Reordered
                | Fault::OtherLink
                | Fault::Truncated
                | Fault::Flipped
        )
    }
}

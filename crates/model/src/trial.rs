//! One trial: what was tried, and what came of it.

use crate::{Access, Case, Depth, Family, Party, Phase, Unavailable};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

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
    /// When it began, in nanoseconds after the run did; `None` where nothing was started, and in records of before this
    /// was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
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

    /// Whether something was started: figures and failures are evidence.
    pub const fn was_started(&self) -> bool {
        matches!(self, Outcome::Measured(_) | Outcome::Failed(_))
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
    /// Those of them that the sender's timer made late: they are timed from their send, and all others from when they were due.
    /// `None` where no time is set, of programs with their own loop, and in older records: there every
    /// message is timed from when it was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_late: Option<TimerLateness>,
    /// How long the messages of a window had been outstanding when the measured part began and when it ended, all of them
    /// together, in nanoseconds; `None` where one is outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding_ns: Option<[u64; 2]>,
    /// Messages of which every byte was checked, both directions together.
    pub verified_messages: u64,
    /// Values in force where the kernel has a say, by name, as in `pipe-size-bytes`.
    pub effective: BTreeMap<String, u64>,
    /// Messages that the link held in either direction while nobody received, there and back; `None` in records of
    /// before that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<[Depth; 2]>,
    /// What each role used and counted, the initiator first; of several pairs, pair after pair; of several receivers, those after it.
    pub roles: Vec<RoleTally>,
    /// Until the first receiver had a message, and until half of them had it, where several receive each: times in
    /// nanoseconds, as in `histogram`, which is until the last had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<[String; 2]>,
    /// What the other receivers got while one slept, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// Messages of the measured part that receivers lost, all of them together; `None` where none can be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Messages of the measured part that were sent again, since they or their answers were lost on the way; `None` where that is
    /// seen to by somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_again: Option<u64>,
    /// What each of several pairs or receivers did; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What processes used that are neither role: servers of the mechanism's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProcess>,
    /// The program that carries the messages, where that is another than furlong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<AdapterFacts>,
    /// Warm-up of an adapter's program; `None` for furlong's own loop, and in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Box<WarmUp>>,
    /// The programs that were timed, where they know nothing of furlong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramFacts>,
    /// Processors on which own programs spent at least a twentieth of their CPU time, as seen in /proc during the measured part.
    /// Empty if the measured part was too short to see them, for furlong's own roles, and in records from before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran_on: Vec<usize>,
}

/// Messages that were sent later than they were due although none was in flight: the timer of the sender woke it late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerLateness {
    /// Their number.
    pub sends: u64,
    /// How late they were, all together, in nanoseconds.
    pub total_ns: u64,
    /// How late the latest was, in nanoseconds.
    pub longest_ns: u64,
}

impl TimerLateness {
    /// Of two senders.
    #[must_use]
    pub fn and(self, other: TimerLateness) -> TimerLateness {
        TimerLateness {
            sends: self.sends.saturating_add(other.sends),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }

    /// Returns the sums if each message counts once for each receiver.
    #[must_use]
    pub fn times(self, receivers: u64) -> TimerLateness {
        TimerLateness {
            sends: self.sends.saturating_mul(receivers),
            total_ns: self.total_ns.saturating_mul(receivers),
            ..self
        }
    }
}

/// What all receivers but one got while that one slept, and in a time before in which it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// How long it was awake before, in nanoseconds.
    pub awake_ns: u64,
    /// Messages that the others got in that time, all of them together.
    pub awake_messages: u64,
    /// How long it slept, in nanoseconds.
    pub asleep_ns: u64,
    /// Messages that the others got in that time, all of them together.
    pub asleep_messages: u64,
}

/// What is known of own programs: of a server and its client, or of one program that is the whole system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Commands as they were typed: the server, which is empty if the client is the whole system, and the client.
    pub commands: [String; 2],
    /// Whether the time begins when the one that asks says that it is ready, and not when it is started.
    pub begins_when_ready: bool,
    /// Whether the time ends when it says that it is done, and not when it ends.
    pub ends_when_done: bool,
    /// Whether it says how many exchanges it has done. Else its whole run counts as one.
    pub counts: bool,
}

/// What is said of a program that carries messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterFacts {
    /// What is inside, by name, with its version.
    pub versions: BTreeMap<String, String>,
    /// What it does beside moving bytes, by its manifest.
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

/// What a process used in the measured part of a trial that is neither role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherProcess {
    /// What it is called.
    pub name: String,
    /// Processor time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Times that it gave up the processor to wait.
    pub voluntary_switches: u64,
    /// Times that the processor was taken from it.
    pub involuntary_switches: u64,
}

/// What one of several pairs or receivers did in the measured part, as the party saw it that held its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Who held the clock.
    #[serde(rename = "role")]
    pub party: Party,
    /// Round trips, or messages one way.
    pub round_trips: u64,
    /// When it began, after the first of all, in nanoseconds.
    pub began_ns: u64,
    /// How long it took, in nanoseconds.
    pub elapsed_ns: u64,
}

/// What one role used and counted in the measured part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleTally {
    /// Which process.
    #[serde(rename = "role")]
    pub party: Party,
    /// The processor it was on at the end, by the kernel's number.
    pub processor: usize,
    /// Where it wrote and read the bytes of messages, as its end says.
    #[serde(default, skip_serializing_if = "Access::is_copy")]
    pub access: Access,
    /// Messages that this role received from the first of the trial to the last, with those that it knows it lost; one way,
    /// for the initiator, those that it sent.
    pub messages_received: u64,
    /// Round trips between the two readings of the figures below.
    pub round_trips: u64,
    /// Time between these readings, in nanoseconds: longer than the measured part if one role waited for the other before or
    /// after it. `None` of programs, and in records of before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<u64>,
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
    /// How many of these were to wait for a message to be due.
    #[serde(default)]
    pub idle_switches: u64,
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

    /// Times that it gave up the processor to wait for the other role.
    pub fn switches_to_wait(&self) -> u64 {
        self.voluntary_switches.saturating_sub(self.idle_switches)
    }
}

/// How a trial went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The stage it happened in.
    pub phase: Phase,
    /// Whom it happened to; `None` for the supervisor, or where it could be any of them.
    #[serde(rename = "role")]
    pub party: Option<Party>,
    /// What kind of thing went wrong.
    pub fault: Fault,
    /// What exactly happened, in words that need no context.
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
    /// A call failed since the other end was gone, which is seldom the cause.
    PeerGone,
    /// A message never arrived.
    Lost,
    /// A message arrived twice.
    Repeated,
    /// Messages arrived in another order.
    Reordered,
    /// A message arrived by another link.
    OtherLink,
    /// A message arrived with another length.
    Truncated,
    /// A message arrived with other bytes.
    Flipped,
}

impl Fault {
    /// Whether the mechanism delivered something other than what was sent.
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

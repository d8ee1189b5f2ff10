//! A published comparison: the measured benchmarks, the machine, the figures and the conclusions.
//!
//! It is part of a run's records, so that a replay is self-explanatory on any machine.

use crate::case::row_of_subsystem;
use crate::{
    Backing, Case, ChildStart, Exchange, Figure, Handover, Meaning, MeaningProbe, Pattern, Placement,
    Request, RequestedConditions, StartMethod, Subsystem, Touch, Wait, is_one, one,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

/// A comparison that can be repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The name on the command line.
    pub name: String,
    /// The question that it answers, in one line.
    pub title: String,
    /// The author of the publication.
    pub author: Option<String>,
    /// The location of the publication.
    pub source: Option<String>,
    /// The year of the publication.
    pub year: Option<u16>,
    /// The machine of the published figures.
    pub machine: Option<String>,
    /// The other machines of the publication.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<PublishedMachine>,
    /// The parameters of the measurement.
    pub measure: Measure,
    /// The compared benchmarks.
    pub rows: Vec<ExperimentRow>,
    /// The start times of processes, if they are part of the comparison.
    pub starts: Vec<ExperimentStart>,
    /// The published conclusions.
    pub claims: Vec<Claim>,
    /// The published conclusions about meanings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanings: Vec<MeaningClaim>,
    /// Known faults of the published programs.
    pub faults: Vec<String>,
    /// How the published programs compare with these benchmarks, or why they were not run.
    #[serde(default)]
    pub programs: Option<String>,
    /// Published figures that are shown and not replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Context>,
    /// The parts of the publication that the author of the file could not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

/// A further machine of a publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedMachine {
    /// Its name in the file.
    pub name: String,
    /// A description.
    pub text: String,
}

/// A published figure without a benchmark here, such as one of another operating system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The figure in words.
    pub text: String,
    /// The location of its publication, if it is another one.
    pub source: Option<String>,
}

/// The parameters of all benchmarks of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The task of the two processes.
    pub work: Work,
    /// Bytes in a message, in an answer, or in the region. Each size is a separate benchmark.
    pub sizes_bytes: Vec<usize>,
    /// The placement of the two processes.
    pub place: Placement,
    /// Trials of each benchmark and size.
    pub trials: u32,
    /// The figure that determines which benchmark is faster.
    pub order_by: Figure,
    /// An explanation of the parameters, if they need one.
    pub note: Option<String>,
    /// How children with a separate subsystem are started.
    #[serde(default, skip_serializing_if = "ChildStart::is_usual")]
    pub child: ChildStart,
}

/// The task of the two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// They exchange messages.
    Exchange(ExchangeWork),
    /// One process writes a region of shared memory, and the other process reads it.
    Handover {
        /// The bytes that are accessed.
        touch: Touch,
        /// Number of repetitions in the published program.
        repetitions: u32,
    },
}

/// An exchange of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeWork {
    /// The pattern of the exchange.
    pub pattern: Pattern,
    /// The request; `None` unless the pattern is a request.
    pub request: Option<Request>,
    /// The number of parties, which [`Pattern::several`] names.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parties: NonZeroU32,
    /// The amount to which the published figures refer, for each size. Figures of a whole run are scaled to it.
    pub count: Amount,
    /// The amount that one trial exchanges, if the pattern has [one party](ExchangeWork::trial_amount).
    pub per_trial: Amount,
}

impl ExchangeWork {
    /// Duration of a trial that has no amount.
    pub const TRIAL_WITHOUT_AMOUNT: Duration = Duration::from_millis(100);

    /// Returns the amount that one trial exchanges; `None` with several parties, which end their trials by time, because each
    /// of them exchanges its own amount.
    pub fn trial_amount(&self) -> Option<Amount> {
        let has_one_party =
            is_one(&self.parties) && (self.pattern.is_of_pairs() || self.pattern.makes_links());
        has_one_party.then_some(self.per_trial)
    }

    /// Returns the exchange of messages between the roles.
    pub fn exchange(&self) -> Exchange {
        Exchange::of(self.pattern).with_request(self.request.clone()).with_parties(self.parties)
    }
}

/// An amount of exchanged messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// This number of round trips, requests or one-way messages, for every size.
    Exchanges(u64),
    /// This number of bytes in one direction, for every size.
    Bytes(u64),
}

impl Amount {
    /// Longest measured part of a trial with an amount. Without it, a benchmark that busy-waits on one core would take 15 minutes.
    pub const LONGEST_TRIAL: Duration = Duration::from_secs(5);

    /// Returns the number of exchanges with messages of `size_bytes`; at least one.
    pub fn exchanges(self, size_bytes: usize) -> u64 {
        match self {
            Amount::Exchanges(count) => count.max(1),
            Amount::Bytes(bytes) => (bytes / (size_bytes as u64).max(1)).max(1),
        }
    }
}

/// A line of the published comparison, or a line that was added to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRow {
    /// Its published name.
    pub name: String,
    /// The benchmark for it; `None` if furlong has none.
    pub target: Option<Target>,
    /// A description of the benchmark, if it differs from the published one.
    pub counterpart: Option<String>,
    /// The reason why there is no figure, if a run has none.
    pub missing: Option<String>,
    /// The remark of the publication about it.
    pub remark: Option<String>,
    /// The published figures; empty for an added line.
    pub published: Vec<PublishedFigures>,
    /// The published system calls of both processes, by name; empty if there are none.
    pub system_calls: BTreeMap<String, u64>,
}

/// The benchmark of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A mechanism, its wait strategy, and the settings that other lines do not have.
    Row(RowTarget),
    /// The backing of a region.
    Backing(Backing),
}

/// The benchmark of a line that exchanges messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTarget {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of both roles.
    pub wait: Wait,
    /// Subsystem of the responder's program, if it has a separate one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsystem: Option<Subsystem>,
    /// The placement of the two processes; `None` for that of all lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Placement>,
    /// The conditions of the two processes.
    #[serde(default, skip_serializing_if = "RequestedConditions::is_empty")]
    pub conditions: RequestedConditions,
}

impl Target {
    /// Returns `mechanism/wait` with its own settings, or the name of the backing.
    pub fn name(&self) -> String {
        match self {
            Target::Row(row) => {
                let settings = row.conditions.iter().map(ToString::to_string);
                let settings = settings.chain(row.place.map(|place| place.to_string()));
                let row = row_of_subsystem(&row.mechanism, row.wait, row.subsystem);
                [row].into_iter().chain(settings).collect::<Vec<_>>().join(", ")
            }
            Target::Backing(backing) => backing.name().to_owned(),
        }
    }
}

/// The published figures of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigures {
    /// The name of one of the other machines; `None` for the machine of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// One of the experiment's sizes.
    pub size_bytes: usize,
    /// The figures, in the unit at the end of their names.
    pub figures: BTreeMap<Figure, f64>,
}

/// Published start times of processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentStart {
    /// Its published name.
    pub name: String,
    /// The method that starts the processes; `None` if furlong has none.
    pub method: Option<StartMethod>,
    /// A description of the method, if it differs from the published one.
    pub counterpart: Option<String>,
    /// The reason why there is no figure, if a run has none.
    pub missing: Option<String>,
    /// Time of the first start in milliseconds.
    pub first_ms: Option<f64>,
    /// Time of later starts in milliseconds.
    pub later_ms: Option<f64>,
}

/// A published conclusion, in a form that can be tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The text of the conclusion.
    pub text: String,
    /// The statement to test, with the published names of benchmarks.
    pub states: Statement,
    /// The size of the statement; `None` for each size at which it can be tested.
    pub size_bytes: Option<usize>,
    /// The smallest size of the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_bytes: Option<usize>,
    /// The largest size of the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_bytes: Option<usize>,
}

impl Claim {
    /// Returns whether the statement is about this size.
    pub fn is_about(&self, size_bytes: usize) -> bool {
        self.size_bytes.is_none_or(|size| size == size_bytes)
            && self.from_bytes.is_none_or(|from| from <= size_bytes)
            && self.to_bytes.is_none_or(|to| size_bytes <= to)
    }
}

/// A published conclusion about a meaning, which a probe judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeaningClaim {
    /// The text of the conclusion.
    pub text: String,
    /// The promise.
    pub meaning: Meaning,
    /// The published name of the benchmark.
    pub of: String,
    /// Whether the mechanism keeps the promise according to the publication.
    pub holds: bool,
}

/// A statement about the figure that determines the order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// No other published benchmark is as fast.
    Fastest(String),
    /// One benchmark is at least this number of times as fast as another.
    Faster {
        /// The faster benchmark.
        row: String,
        /// The slower benchmark.
        than: String,
        /// Minimum ratio; 1 for any difference.
        times: f64,
        /// Maximum ratio; `None` if the publication has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<f64>,
    },
    /// Two benchmarks differ by at most this ratio.
    Alike {
        /// The two benchmarks.
        rows: [String; 2],
        /// Maximum ratio of the slower to the faster one.
        within: f64,
    },
    /// A benchmark is fastest with this size.
    BestSize {
        /// The benchmark.
        row: String,
        /// Bytes of a message.
        size_bytes: usize,
    },
}

impl Experiment {
    /// Returns whether it starts programs with separate subsystems.
    pub fn has_subsystems(&self) -> bool {
        self.rows.iter().any(|row| matches!(&row.target, Some(Target::Row(row)) if row.subsystem.is_some()))
            || self.starts.iter().any(|start| start.method.is_some_and(|method| method.subsystem().is_some()))
    }

    /// Returns the probe of a claim; `None` if its line has no mechanism.
    pub fn meaning_probe(&self, claim: &MeaningClaim) -> Option<MeaningProbe> {
        match &self.row(&claim.of)?.target {
            Some(Target::Row(row)) => Some(MeaningProbe {
                mechanism: row.mechanism.clone(),
                wait: row.wait,
                meaning: claim.meaning,
            }),
            _ => None,
        }
    }

    /// Returns the benchmark with this published name.
    pub fn row(&self, name: &str) -> Option<&ExperimentRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Measure {
    /// Returns the case of a mechanism with messages of `size_bytes`; `None` for a handover.
    pub fn case(&self, row: &RowTarget, size_bytes: usize) -> Option<Case> {
        let Work::Exchange(exchange) = &self.work else { return None };
        let place = row.place.unwrap_or(self.place);
        let case = Case::round_trip(&row.mechanism, row.wait, size_bytes, place).with(exchange.exchange());
        Some(Case { subsystem: row.subsystem, conditions: row.conditions.clone(), ..case })
    }

    /// Returns the handover of a backing with a region of `size_bytes`; `None` for an exchange of messages.
    pub fn handover(&self, backing: Backing, size_bytes: usize) -> Option<Handover> {
        let Work::Handover { touch, repetitions } = self.work else { return None };
        Some(Handover { backing, touch, size_bytes, repetitions, placement: self.place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_bytes_is_fewer_messages_the_larger_they_are() {
        assert_eq!(Amount::Bytes(1 << 30).exchanges(32 << 10), 32_768);
        assert_eq!(Amount::Bytes(1 << 20).exchanges(32 << 20), 1);
        assert_eq!(Amount::Bytes(7).exchanges(0), 7);
        assert_eq!(Amount::Exchanges(500).exchanges(32 << 20), 500);
        assert_eq!(Amount::Exchanges(0).exchanges(1), 1);
    }

    #[test]
    fn targets_have_the_names_of_rows() {
        let row = RowTarget {
            mechanism: "pipe".into(),
            wait: Wait::SelectFirst,
            subsystem: None,
            place: None,
            conditions: RequestedConditions::default(),
        };
        assert_eq!(Target::Row(row.clone()).name(), "pipe/select-first");
        let pinned = RowTarget { place: Some(Placement::SameCore), ..row };
        assert_eq!(Target::Row(pinned).name(), "pipe/select-first, same-core");
        assert_eq!(Target::Backing(Backing::RamDisk).name(), "ram-disk");
    }
}

//! A published comparison: the measured benchmarks, the machine, the figures and the conclusions.
//!
//! It is part of a run's records, so that a replay is self-explanatory on any machine.

use crate::case::row_of_subsystem;
use crate::{
    Backing, Case, ChildStart, Exchange, Figure, Handover, Pattern, Placement, Request, StartMethod,
    Subsystem, Touch, Wait,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// The parameters of the measurement.
    pub measure: Measure,
    /// The compared benchmarks.
    pub rows: Vec<ExperimentRow>,
    /// The start times of processes, if they are part of the comparison.
    pub starts: Vec<ExperimentStart>,
    /// The published conclusions.
    pub claims: Vec<Claim>,
    /// Known faults of the published programs.
    pub faults: Vec<String>,
    /// How the published programs compare with these benchmarks, or why they were not run.
    #[serde(default)]
    pub programs: Option<String>,
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
    /// The amount to which the published figures refer, for each size. Figures of a whole run are scaled to it.
    pub count: Amount,
    /// The amount that one trial exchanges.
    pub per_trial: Amount,
}

impl ExchangeWork {
    /// Returns the exchange of messages between the roles.
    pub fn exchange(&self) -> Exchange {
        self.request.clone().map_or_else(|| Exchange::of(self.pattern), Exchange::asking)
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
    /// A mechanism and its wait strategy.
    Row {
        /// Name of the mechanism.
        mechanism: String,
        /// Wait strategy of both roles.
        wait: Wait,
        /// Subsystem of the responder's program, if it has a separate one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subsystem: Option<Subsystem>,
    },
    /// The backing of a region.
    Backing(Backing),
}

impl Target {
    /// Returns `mechanism/wait`, or the name of the backing.
    pub fn name(&self) -> String {
        match self {
            Target::Row { mechanism, wait, subsystem } => row_of_subsystem(mechanism, *wait, *subsystem),
            Target::Backing(backing) => backing.name().to_owned(),
        }
    }
}

/// The published figures of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigures {
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
        self.rows.iter().any(|row| matches!(row.target, Some(Target::Row { subsystem: Some(_), .. })))
            || self.starts.iter().any(|start| start.method.is_some_and(|method| method.subsystem().is_some()))
    }

    /// Returns the benchmark with this published name.
    pub fn row(&self, name: &str) -> Option<&ExperimentRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Measure {
    /// Returns the case of a mechanism with messages of `size_bytes`; `None` for a handover.
    pub fn case(
        &self,
        (mechanism, wait, subsystem): (&str, Wait, Option<Subsystem>),
        size_bytes: usize,
    ) -> Option<Case> {
        let Work::Exchange(exchange) = &self.work else { return None };
        let case = Case::round_trip(mechanism, wait, size_bytes, self.place).with(exchange.exchange());
        Some(Case { subsystem, ..case })
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
        let target = Target::Row { mechanism: "pipe".into(), wait: Wait::SelectFirst, subsystem: None };
        assert_eq!(target.name(), "pipe/select-first");
        assert_eq!(Target::Backing(Backing::RamDisk).name(), "ram-disk");
    }
}

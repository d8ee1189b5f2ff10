//! A published comparison: what was measured on which machine, what came of it, and what was said of it.
//!
//! It is part of a run's records, so that a replay explains itself on any machine.

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
    /// The name by which it is asked for.
    pub name: String,
    /// What it asks, in a line.
    pub title: String,
    /// Who published it.
    pub author: Option<String>,
    /// Where.
    pub source: Option<String>,
    /// When.
    pub year: Option<u16>,
    /// What it was measured on then.
    pub machine: Option<String>,
    /// How it is measured.
    pub measure: Measure,
    /// What is compared.
    pub rows: Vec<ExperimentRow>,
    /// How long processes took to start, where that is part of it.
    pub starts: Vec<ExperimentStart>,
    /// What was concluded.
    pub claims: Vec<Claim>,
    /// What is known to be wrong with the published programs.
    pub faults: Vec<String>,
    /// How the published programs compare with these rows where they were run, or why they were not.
    #[serde(default)]
    pub programs: Option<String>,
}

/// How all rows of an experiment are measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// What the two processes do.
    pub work: Work,
    /// Bytes in a message, in an answer, or in the region; each size is a row of its own.
    pub sizes_bytes: Vec<usize>,
    /// Where the two processes run.
    pub place: Placement,
    /// Trials of each row and size.
    pub trials: u32,
    /// The figure that decides which row is faster.
    pub order_by: Figure,
    /// Why it is measured like this, where that needs a word.
    pub note: Option<String>,
    /// How children of a subsystem of their own are started.
    #[serde(default, skip_serializing_if = "ChildStart::is_usual")]
    pub child: ChildStart,
}

/// What the two processes do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// They exchange messages.
    Exchange(ExchangeWork),
    /// One writes a region of shared memory and the other reads it.
    Handover {
        /// Which bytes are touched.
        touch: Touch,
        /// How often the published program handed the region over.
        repetitions: u32,
    },
}

/// An exchange of messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeWork {
    /// How messages go back and forth.
    pub pattern: Pattern,
    /// What is asked with; `None` unless the pattern is a request.
    pub request: Option<Request>,
    /// What the published figures are of, for each size: figures of a whole are scaled to it.
    pub count: Amount,
    /// What one trial exchanges.
    pub per_trial: Amount,
}

impl ExchangeWork {
    /// The exchange of messages between the roles.
    pub fn exchange(&self) -> Exchange {
        self.request.clone().map_or_else(|| Exchange::of(self.pattern), Exchange::asking)
    }
}

/// How much is exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// So many round trips, requests or one-way messages, whatever the size.
    Exchanges(u64),
    /// So many bytes in one direction, whatever the size of a message.
    Bytes(u64),
}

impl Amount {
    /// How many exchanges that is with messages of `size_bytes`; at least one.
    pub fn exchanges(self, size_bytes: usize) -> u64 {
        match self {
            Amount::Exchanges(count) => count.max(1),
            Amount::Bytes(bytes) => (bytes / (size_bytes as u64).max(1)).max(1),
        }
    }
}

/// One line of the published comparison, or one that is added to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRow {
    /// As published.
    pub name: String,
    /// What is measured for it; `None` where there is nothing of the kind.
    pub target: Option<Target>,
    /// What stands in for the published thing, where it is not the same.
    pub counterpart: Option<String>,
    /// Why there is no figure, where a run has none.
    pub missing: Option<String>,
    /// What the publication says of it in words.
    pub remark: Option<String>,
    /// The published figures; empty for a row that is added.
    pub published: Vec<Published>,
    /// The published system calls of both processes, by name; empty if there are none.
    pub system_calls: BTreeMap<String, u64>,
}

/// What is measured for a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A mechanism and its way of waiting.
    Row {
        /// The mechanism's name.
        mechanism: String,
        /// How both roles wait.
        wait: Wait,
        /// The subsystem of the responder's program, where it has one of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subsystem: Option<Subsystem>,
    },
    /// What backs a region.
    Backing(Backing),
}

impl Target {
    /// `mechanism/wait`, or the backing's name.
    pub fn name(&self) -> String {
        match self {
            Target::Row { mechanism, wait, subsystem } => row_of_subsystem(mechanism, *wait, *subsystem),
            Target::Backing(backing) => backing.name().to_owned(),
        }
    }
}

/// The published figures of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// One of the experiment's sizes.
    pub size_bytes: usize,
    /// The figures, in the unit that their name ends in.
    pub figures: BTreeMap<Figure, f64>,
}

/// How long processes took to start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentStart {
    /// As published.
    pub name: String,
    /// How processes are started for it; `None` where there is nothing of the kind.
    pub method: Option<StartMethod>,
    /// What stands in for the published thing, where it is not the same.
    pub counterpart: Option<String>,
    /// Why there is no figure, where a run has none.
    pub missing: Option<String>,
    /// The first start, in milliseconds.
    pub first_ms: Option<f64>,
    /// The later ones, in milliseconds.
    pub later_ms: Option<f64>,
}

/// Something that was concluded, in a form that can be tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// What has to be true; it names rows by their published names.
    pub states: Statement,
    /// The one size that it is about; `None` if it is about each that it can be tested at.
    pub size_bytes: Option<usize>,
}

/// What a claim says of the figure that decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// No other published row is as fast.
    Fastest(String),
    /// One row is at least so many times as fast as another.
    Faster {
        /// The faster one.
        row: String,
        /// The slower one.
        than: String,
        /// At least so many times; 1 if it is just faster.
        times: f64,
    },
    /// Two rows do not differ by more than this.
    Alike {
        /// Two rows.
        rows: [String; 2],
        /// The most that the slower one may take, by the faster one.
        within: f64,
    },
    /// A row is fastest with this size.
    BestSize {
        /// The row.
        row: String,
        /// Bytes.
        size_bytes: usize,
    },
}

impl Experiment {
    /// Whether it starts programs of subsystems of their own.
    pub fn has_subsystems(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.target, Some(Target::Row { subsystem: Some(_), .. })))
            || self.starts.iter().any(|start| start.method.is_some_and(|method| method.subsystem().is_some()))
    }

    /// The row that was published under this name.
    pub fn row(&self, name: &str) -> Option<&ExperimentRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Measure {
    /// What is measured of a mechanism with messages of `size_bytes`; `None` for a handover.
    pub fn case(
        &self,
        (mechanism, wait, subsystem): (&str, Wait, Option<Subsystem>),
        size_bytes: usize,
    ) -> Option<Case> {
        let Work::Exchange(exchange) = &self.work else { return None };
        let case = Case::round_trip(mechanism, wait, size_bytes, self.place).with(exchange.exchange());
        Some(Case { subsystem, ..case })
    }

    /// What is measured of a backing with a region of `size_bytes`; `None` unless it is a handover.
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

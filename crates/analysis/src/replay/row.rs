//! One row of a replay: what was published of it, what was measured, or why nothing was.

use crate::SkippedStatus;
use furlong_model::{ExperimentRow, Figure, Target, Unavailable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A row at one size, then and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayRow {
    /// As published.
    pub mechanism: String,
    /// What is measured for it: `mechanism/wait`, or what backs the region; `None` where there is nothing.
    pub row: Option<String>,
    /// Bytes in a message, an answer or the region, as asked.
    pub size_bytes: usize,
    /// Bytes that a message has; not `size_bytes` where a notification has its own.
    pub carried_bytes: usize,
    /// What came of it.
    pub status: ReplayStatus,
    /// What was published, in the unit that the name ends in.
    pub published: BTreeMap<Figure, f64>,
    /// The same now, and what the publication did not have.
    pub measured: BTreeMap<Figure, Measured>,
    /// How many times as long it took as the fastest published row of its size: then.
    pub ratio_then: Option<f64>,
    /// And now.
    pub ratio_now: Option<f64>,
    /// Trials that the figures are from.
    pub trials: usize,
    /// Whether what arrived was compared with what was sent in every trial.
    pub verified: bool,
    /// Whether something arrived other than it was sent.
    pub corrupted: bool,
    /// Why there are no figures, or why trials are missing.
    pub reason: Option<String>,
    /// What would help.
    pub remedy: Option<String>,
    /// What stands in for the published thing, where it is not the same.
    pub counterpart: Option<String>,
    /// What the publication says of it in words.
    pub remark: Option<String>,
    /// The file system and device in effect, in words.
    pub in_effect: Option<String>,
    /// The published system calls of both processes, by name.
    pub system_calls_published: BTreeMap<String, u64>,
    /// The same now; `None` where they were not counted.
    pub system_calls: Option<BTreeMap<String, u64>>,
    /// The times of single exchanges over all trials.
    pub durations: Option<Durations>,
}

/// What came of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayStatus {
    /// It has figures.
    Measured,
    /// It makes no sense, or exceeds a limit.
    Refused,
    /// This machine, or this furlong, has nothing of the kind.
    Unavailable,
    /// It started and did not end well.
    Failed,
    /// Its figures cannot be true.
    Void,
}

impl ReplayStatus {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            ReplayStatus::Measured => "measured",
            ReplayStatus::Refused => SkippedStatus::Refused.name(),
            ReplayStatus::Unavailable => SkippedStatus::Unavailable.name(),
            ReplayStatus::Failed => SkippedStatus::Failed.name(),
            ReplayStatus::Void => SkippedStatus::Void.name(),
        }
    }
}

impl From<SkippedStatus> for ReplayStatus {
    fn from(status: SkippedStatus) -> Self {
        match status {
            SkippedStatus::Failed => ReplayStatus::Failed,
            // No experiment asks for a rate.
            SkippedStatus::Void | SkippedStatus::Saturated | SkippedStatus::Disturbed => ReplayStatus::Void,
            SkippedStatus::Unavailable => ReplayStatus::Unavailable,
            SkippedStatus::Refused => ReplayStatus::Refused,
        }
    }
}

/// A figure over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The median of the trials.
    pub value: f64,
    /// Its 95 % interval; `None` for fewer than three trials.
    pub ci95: Option<[f64; 2]>,
}

/// The times of single exchanges over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// Exchanges that were timed.
    pub exchanges: u64,
    /// Time that they took, in nanoseconds.
    pub total_ns: u64,
    /// Exchanges to one reading of the clock: above 1 the figures below are of means of that many.
    pub exchanges_per_sample: u32,
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The shortest, in nanoseconds, to the resolution of the histogram.
    pub min_ns: f64,
    /// The longest, in nanoseconds.
    pub max_ns: f64,
    /// The standard deviation within and between trials, in nanoseconds.
    pub stddev_ns: f64,
}

impl ReplayRow {
    /// A row without figures, because of `why`.
    pub(super) fn without(row: &ExperimentRow, size_bytes: usize, why: Unavailable) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        let published = row.published.iter().find(|published| published.size_bytes == size_bytes);
        ReplayRow {
            mechanism: row.name.clone(),
            row: row.target.as_ref().map(Target::name),
            size_bytes,
            carried_bytes: size_bytes,
            status: ReplayStatus::Unavailable,
            published: published.map(|published| published.figures.clone()).unwrap_or_default(),
            measured: BTreeMap::new(),
            ratio_then: None,
            ratio_now: None,
            trials: 0,
            verified: false,
            corrupted: false,
            reason: said(why.reason),
            remedy: said(why.remedy),
            counterpart: row.counterpart.clone(),
            remark: row.remark.clone(),
            in_effect: None,
            system_calls_published: row.system_calls.clone(),
            system_calls: None,
            durations: None,
        }
    }

    /// Without figures, and with what stands in the records instead.
    pub(super) fn instead(self, status: ReplayStatus, why: Unavailable) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        ReplayRow { status, reason: said(why.reason), remedy: said(why.remedy), ..self }
    }
}

//! Benchmark of a replay: its published figures, and its measured figures or the reason for their absence.

use crate::SkippedStatus;
use furlong_model::{ExperimentRow, Figure, PublishedFigures, Target, Unavailable, named_enum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Benchmark at one size, then and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayRow {
    /// Name in the publication.
    pub mechanism: String,
    /// Measured counterpart: `mechanism/wait`, or the backing of the region; `None` if there is none.
    pub row: Option<String>,
    /// Requested size of a message, an answer or the region, in bytes.
    pub size_bytes: usize,
    /// Actual size of a message in bytes. It differs from `size_bytes` for a notification with a fixed size.
    pub carried_bytes: usize,
    /// Status of the benchmark.
    pub status: ReplayStatus,
    /// Published figures, in the unit at the end of their names.
    pub published: BTreeMap<Figure, f64>,
    /// Figures of the other machines of the publication, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published_elsewhere: BTreeMap<String, BTreeMap<Figure, f64>>,
    /// Measured figures, including some that were not published.
    pub measured: BTreeMap<Figure, MeasuredFigure>,
    /// Published ratio to the fastest published benchmark of its size. Above 1 is slower.
    pub ratio_then: Option<f64>,
    /// Measured ratio to the same benchmark.
    pub ratio_now: Option<f64>,
    /// Number of trials of the figures.
    pub trials: usize,
    /// Whether received data was compared with sent data in every trial.
    pub verified: bool,
    /// Whether received data was corrupted.
    pub corrupted: bool,
    /// Reason for missing figures or missing trials.
    pub reason: Option<String>,
    /// Remedy for the reason.
    pub remedy: Option<String>,
    /// Difference from the published mechanism, if it is replaced by another.
    pub counterpart: Option<String>,
    /// Remark of the publication.
    pub remark: Option<String>,
    /// Effective file system and device, in words.
    pub in_effect: Option<String>,
    /// The published system calls of both processes, by name.
    pub system_calls_published: BTreeMap<String, u64>,
    /// Measured system calls of both processes, by name; `None` if they were not counted.
    pub system_calls: Option<BTreeMap<String, u64>>,
    /// Times of single exchanges over all trials.
    pub durations: Option<Durations>,
}

named_enum! {
    /// Status of a benchmark.
    ReplayStatus {
        /// It has figures.
        Measured = "measured",
        /// The combination is invalid, or exceeds a limit.
        Refused = "refused",
        /// This machine or this version of furlong does not support it.
        Unavailable = "unavailable",
        /// It started and failed.
        Failed = "failed",
        /// Its figures are inconsistent.
        Void = "void",
    }
}

impl From<SkippedStatus> for ReplayStatus {
    fn from(status: SkippedStatus) -> Self {
        match status {
            SkippedStatus::Failed => ReplayStatus::Failed,
            // Experiments have no fixed rate.
            SkippedStatus::Void | SkippedStatus::Saturated | SkippedStatus::Disturbed => ReplayStatus::Void,
            SkippedStatus::Unavailable => ReplayStatus::Unavailable,
            SkippedStatus::Refused => ReplayStatus::Refused,
        }
    }
}

/// Figure over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    /// Median of the trials.
    pub value: f64,
    /// 95 % confidence interval; `None` for fewer than three trials.
    pub ci95: Option<[f64; 2]>,
}

/// Times of single exchanges over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// Number of timed exchanges.
    pub exchanges: u64,
    /// Total time of these exchanges, in nanoseconds.
    pub total_ns: u64,
    /// Exchanges per reading of the clock. If it is above 1, the following figures are those of means over that many.
    pub exchanges_per_sample: u32,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// Shortest time in nanoseconds, with the resolution of the histogram.
    pub min_ns: f64,
    /// Longest time in nanoseconds.
    pub max_ns: f64,
    /// Standard deviation within and between trials, in nanoseconds.
    pub stddev_ns: f64,
}

impl ReplayRow {
    /// Creates a benchmark without figures, because of `why`.
    pub(super) fn without(row: &ExperimentRow, size_bytes: usize, why: Unavailable) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        let of_size = || row.published.iter().filter(|published| published.size_bytes == size_bytes);
        let published = of_size().find(|published| published.machine.is_none());
        let elsewhere =
            |published: &PublishedFigures| Some((published.machine.clone()?, published.figures.clone()));
        ReplayRow {
            mechanism: row.name.clone(),
            row: row.target.as_ref().map(Target::name),
            size_bytes,
            carried_bytes: size_bytes,
            status: ReplayStatus::Unavailable,
            published: published.map(|published| published.figures.clone()).unwrap_or_default(),
            published_elsewhere: of_size().filter_map(elsewhere).collect(),
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

    /// Removes the figures and adds the status and reason of the records.
    pub(super) fn instead(self, status: ReplayStatus, why: Unavailable) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        ReplayRow { status, reason: said(why.reason), remedy: said(why.remedy), ..self }
    }
}

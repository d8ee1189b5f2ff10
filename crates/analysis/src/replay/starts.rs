//! Times of process starts, then and now.

use super::{MeasuredFigure, figures::over_trials};
use crate::Run;
use furlong_model::{Experiment, ExperimentStart, StartMethod, StartReading};
use serde::{Deserialize, Serialize};

/// One method of starting a process, then and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayStart {
    /// Name in the publication.
    pub name: String,
    /// Measured method; `None` if there is no counterpart.
    pub method: Option<StartMethod>,
    /// Published time of the first start, in milliseconds.
    pub first_ms_then: Option<f64>,
    /// Published time of later starts, in milliseconds.
    pub later_ms_then: Option<f64>,
    /// Time of the first start in the run, in milliseconds; the median if the run has several series.
    pub first_ms: Option<MeasuredFigure>,
    /// Median time of later starts, in milliseconds.
    pub later_ms: Option<MeasuredFigure>,
    /// Reason for missing figures.
    pub reason: Option<String>,
    /// Difference from the published method, if it is replaced by another.
    pub counterpart: Option<String>,
}

/// Returns all starts of the experiment.
pub(super) fn all(run: &Run, experiment: &Experiment) -> Vec<ReplayStart> {
    experiment.starts.iter().map(|start| of(run, start)).collect()
}

fn of(run: &Run, start: &ExperimentStart) -> ReplayStart {
    let of_method = |reading: &&StartReading| Some(reading.method) == start.method;
    let readings: Vec<_> = run.starts.iter().filter(of_method).collect();
    let ms = |ns: &u64| *ns as f64 / 1e6;
    let first: Vec<_> = readings.iter().filter_map(|reading| reading.starts_ns.first()).map(ms).collect();
    let later: Vec<_> =
        readings.iter().flat_map(|reading| reading.starts_ns.iter().skip(1)).map(ms).collect();
    let trouble = readings.iter().find_map(|reading| reading.trouble.clone());
    let absent = || start.missing.clone().unwrap_or_else(|| "this run did not measure it".to_owned());
    let reason = trouble.or_else(|| first.is_empty().then(absent));
    ReplayStart {
        name: start.name.clone(),
        method: start.method,
        first_ms_then: start.first_ms,
        later_ms_then: start.later_ms,
        first_ms: over_trials(&first),
        later_ms: over_trials(&later),
        reason,
        counterpart: start.counterpart.clone(),
    }
}

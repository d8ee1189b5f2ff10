//! How long processes took to start, then and now.

use super::{Measured, figures::over_trials};
use crate::Run;
use furlong_model::{Experiment, ExperimentStart, StartMethod, StartReading};
use serde::{Deserialize, Serialize};

/// One way to start a process, then and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayStart {
    /// As published.
    pub name: String,
    /// How processes are started for it; `None` where there is nothing of the kind.
    pub method: Option<StartMethod>,
    /// The published first start, in milliseconds.
    pub first_ms_then: Option<f64>,
    /// The published later ones, in milliseconds.
    pub later_ms_then: Option<f64>,
    /// The first start of the run, in milliseconds; the median where the run has several series.
    pub first_ms: Option<Measured>,
    /// The median of the later ones, in milliseconds.
    pub later_ms: Option<Measured>,
    /// Why there are no figures.
    pub reason: Option<String>,
    /// What stands in for the published thing, where it is not the same.
    pub counterpart: Option<String>,
}

/// All that the experiment names.
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

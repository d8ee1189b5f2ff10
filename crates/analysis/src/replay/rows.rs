//! All benchmarks of a replay, from the records of a run.

use super::row::ReplayRow;
use super::{exchange, handover};
use crate::{DecodedRun, Verdict};
use furlong_model::{Case, Experiment, ExperimentRow, Target, Unavailable};
use furlong_stats::uncertainty;

/// Returns every benchmark at every size.
pub(super) fn all(run: &DecodedRun, experiment: &Experiment) -> Vec<ReplayRow> {
    let sizes = experiment.measure.sizes_bytes.iter();
    let row_of = |size_bytes: usize, row: &ExperimentRow| {
        let reason = row.missing.clone().unwrap_or_else(|| "this run has no trial of it".to_owned());
        let empty = ReplayRow::without(row, size_bytes, Unavailable::new(reason, ""));
        match &row.target {
            None => empty,
            Some(Target::Backing(backing)) => handover::row(run.records, experiment, *backing, empty),
            Some(Target::Row(row)) => exchange::row(run, experiment, row, empty),
        }
    };
    sizes.flat_map(|size| experiment.rows.iter().map(|row| row_of(*size, row))).collect()
}

/// Returns the noise verdict of the run. It counts the intervals of the figure that decides, which the tables show.
pub(super) fn noise(run: &DecodedRun, experiment: &Experiment, rows: &[ReplayRow]) -> Verdict {
    let interval = |(row, of): (&ReplayRow, &ExperimentRow)| -> Option<(Case, Option<f64>)> {
        let Some(Target::Row(target)) = &of.target else { return None };
        let now = row.now(experiment.measure.order_by)?;
        let case = experiment.measure.case(target, row.size_bytes)?;
        Some((case, now.ci95.map(|ends| uncertainty(now.value, ends))))
    };
    // Rows are in the order of the experiment at each size.
    let intervals: Vec<_> = rows.iter().zip(experiment.rows.iter().cycle()).filter_map(interval).collect();
    Verdict::of(run.records, &run.trials, intervals.iter().map(|(case, width)| (case, *width)))
}

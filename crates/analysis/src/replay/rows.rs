//! All benchmarks of a replay, from the records of a run.

use super::row::ReplayRow;
use super::{exchange, handover};
use crate::DecodedRun;
use furlong_model::{Experiment, ExperimentRow, Target, Unavailable};

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

//! Parts of one run that differ in the value of an axis.

use crate::DecodedRun;
use crate::run::Run;
use crate::trials::Trials;
use furlong_model::{Axis, AxisValue, Case};
use furlong_stats::distinct;

/// Part of a run with one value of an axis.
#[derive(Debug)]
pub struct RunPart {
    /// Value of the axis.
    pub value: AxisValue,
    axis: Axis,
    /// Part as it was measured.
    measured: Run,
    /// Part whose cases have the default value, so that they are equal in all parts.
    comparable: Run,
}

impl RunPart {
    /// Returns the part of a run for each value of an axis, in ascending order.
    pub fn all(run: &Run, axis: Axis) -> Vec<RunPart> {
        let values = distinct(run.trials.iter().filter_map(|trial| axis.value(&trial.case)));
        let part = |value: AxisValue| {
            let measured = part(run, |case| axis.value(case).as_ref() == Some(&value));
            let mut comparable = measured.clone();
            comparable.trials.iter_mut().for_each(|trial| reset(axis, &mut trial.case));
            comparable.counts.iter_mut().for_each(|count| reset(axis, &mut count.case));
            RunPart { value, axis, measured, comparable }
        };
        values.into_iter().map(part).collect()
    }

    /// Decodes the part. Laws, such as Little's, depend on the value with which a trial was measured, so they judge the measured part.
    pub fn decode(&self) -> DecodedRun<'_> {
        let mut summary = DecodedRun::of(&self.measured).summary;
        summary.rows.iter_mut().for_each(|row| reset(self.axis, &mut row.case));
        summary.capacities.iter_mut().for_each(|one| reset(self.axis, &mut one.case));
        summary.skipped.iter_mut().for_each(|skipped| reset(self.axis, &mut skipped.case));
        let trials = Trials::decode(&self.comparable.trials);
        DecodedRun { records: &self.comparable, summary, trials }
    }
}

fn reset(axis: Axis, case: &mut Case) {
    *case = axis.without(case.clone());
}

/// Returns the part of a run with the cases that `keep` accepts.
fn part(run: &Run, keep: impl Fn(&Case) -> bool) -> Run {
    let mut part = run.clone();
    let is_kept: Vec<bool> = run.trials.iter().map(|trial| keep(&trial.case)).collect();
    let kept_before = |trials: &usize| is_kept.iter().take(*trials).filter(|kept| **kept).count();
    part.trials_before = run.trials_before.iter().map(kept_before).collect();
    part.trials.retain(|trial| keep(&trial.case));
    part.counts.retain(|count| keep(&count.case));
    part
}

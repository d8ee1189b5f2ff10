//! Parts of one run that differ in the value of an axis.

use crate::run::Run;
use crate::trials::Trials;
use crate::{DecodedRun, Verdict};
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
    /// Noise during the whole run, in which the trials of all values alternated.
    noise: Verdict,
}

impl RunPart {
    /// Returns the part of a run for each value of an axis, in ascending order.
    pub fn all(run: &Run, axis: Axis) -> Vec<RunPart> {
        let values = distinct(run.trials.iter().filter_map(|trial| axis.value(&trial.case)));
        let noise = DecodedRun::of(run).summary.run.noise;
        let part = |value: AxisValue| {
            let measured = part(run, |case| axis.value(case).as_ref() == Some(&value));
            let mut comparable = measured.clone();
            comparable.trials.iter_mut().for_each(|trial| reset(axis, &mut trial.case));
            comparable.counts.iter_mut().for_each(|count| reset(axis, &mut count.case));
            RunPart { value, axis, measured, comparable, noise: noise.clone() }
        };
        values.into_iter().map(part).collect()
    }

    /// Decodes the part. Laws, such as Little's, and the deciding figure depend on the value with which a trial was measured.
    pub fn decode(&self) -> DecodedRun<'_> {
        let mut summary = DecodedRun::of(&self.measured).summary;
        summary.rows.iter_mut().for_each(|row| reset(self.axis, &mut row.case));
        summary.capacities.iter_mut().for_each(|one| reset(self.axis, &mut one.case));
        summary.skipped.iter_mut().for_each(|skipped| reset(self.axis, &mut skipped.case));
        summary.run.noise.clone_from(&self.noise);
        let trials = Trials::decode_as(&self.comparable.trials, &self.measured.trials);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::fixture::comparison::throttled;
    use crate::{Level, NamedRun};
    use furlong_model::ConditionKind;

    #[test]
    fn values_are_compared_by_the_figure_and_the_noise_of_the_whole_run() {
        let mut run = throttled();
        // Nearly all of the time in which CPU time can be lost is in the trials without a quota.
        run.noise[0].spin_lost = Some(0.03);
        let whole = DecodedRun::of(&run).summary;
        let axis = Axis::Condition(ConditionKind::find("quota").unwrap());
        let parts = RunPart::all(&run, axis);
        let [without, with] = &parts.iter().map(RunPart::decode).collect::<Vec<_>>()[..] else { panic!() };
        let named = [("none", without), ("20%", with)].map(|(name, run)| NamedRun { name, run });
        let comparison = compare(&named, 0.05).unwrap();
        let [row] = &comparison.rows[..] else { panic!("{comparison:?}") };
        assert!((row.ratio.unwrap() - whole.rows[1].vs_first.unwrap().times).abs() < 1e-6, "{row:?}");
        let [low, high] = row.ci95.unwrap();
        assert!(4.5 < low && high < 5.5, "{row:?}");
        assert_eq!(whole.run.noise.level, Level::Quiet);
        assert!(comparison.runs.iter().all(|part| part.run.noise == whole.run.noise));
    }
}

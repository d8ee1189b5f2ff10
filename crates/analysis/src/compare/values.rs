//! Parts of one run that differ in the value of a condition.

use crate::run::Run;
use furlong_model::{Case, ConditionKind, RequestedCondition};
use furlong_stats::distinct;

/// Returns the part of a run for each requested value of a kind of condition, in ascending order. The cases of a part lack the
/// condition, so that they are equal in all parts.
pub fn split_by_condition(run: &Run, kind: &ConditionKind) -> Vec<(RequestedCondition, Run)> {
    let value = |case: &Case| Some(case.conditions.split(kind)?.0);
    let values = distinct(run.trials.iter().filter_map(|trial| value(&trial.case)));
    values.into_iter().map(|value| (value.clone(), part(run, kind, &value))).collect()
}

/// Returns the part of a run with one value of the condition.
fn part(run: &Run, kind: &ConditionKind, value: &RequestedCondition) -> Run {
    let without = |case: &Case| {
        let (_, conditions) = case.conditions.split(kind).filter(|(found, _)| found == value)?;
        Some(Case { conditions, ..case.clone() })
    };
    let mut part = run.clone();
    let is_kept: Vec<bool> = run.trials.iter().map(|trial| without(&trial.case).is_some()).collect();
    let kept_before = |trials: &usize| is_kept.iter().take(*trials).filter(|kept| **kept).count();
    part.trials_before = run.trials_before.iter().map(kept_before).collect();
    part.trials.retain_mut(|trial| without(&trial.case).map(|case| trial.case = case).is_some());
    part.counts.retain_mut(|count| without(&count.case).map(|case| count.case = case).is_some());
    part
}

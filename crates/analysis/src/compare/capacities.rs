//! Comparison of the highest rates that two runs found.

use super::row::{Change, by_margin};
use crate::{HighestRate, Level, NamedRun};
use furlong_model::{Case, Slo};
use furlong_stats::{outwards, quotient, sort_by, tidy};
use serde::Serialize;

/// Highest rates of a benchmark in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCapacity {
    /// The run that is compared with the baseline.
    pub run: String,
    /// Case of the benchmark, in a closed loop.
    #[serde(flatten)]
    pub case: Case,
    /// The objective.
    pub objective: Slo,
    /// Verdict on the change: worse if the rate is lower and the whole interval of the ratio is beyond the margin.
    pub verdict: Change,
    /// Rate in the baseline.
    pub baseline: HighestRate,
    /// Rate in the other run.
    pub new: HighestRate,
    /// Ratio of the rates to the baseline. Below 1 is worse. `None` unless both are known.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio.
    pub ci95: Option<[f64; 2]>,
    /// Whether the interval of the ratio contains 1.
    pub tied: bool,
}

/// Returns the highest rates that both runs searched with one objective and one kind of arrivals: the worse first.
pub(super) fn compare_capacities(baseline: NamedRun, new: NamedRun, margin: f64) -> Vec<ComparedCapacity> {
    let is_unreliable = |side: NamedRun| side.run.summary.run.noise.level == Level::Unreliable;
    let is_known = !is_unreliable(baseline) && !is_unreliable(new);
    let mut found = Vec::new();
    for old in &baseline.run.summary.capacities {
        let other = new.run.summary.capacities.iter().find(|other| {
            let arrivals = [old, other].map(|side| side.offered.with_interval(1));
            other.case == old.case && other.objective == old.objective && arrivals[0] == arrivals[1]
        });
        let Some(other) = other else { continue };
        let rates = [old, other].map(|side| side.highest_rate());
        let both = [old, other].map(|side| (side.per_second, side.interval));
        let are_estimated = rates.iter().all(|rate| rate.per_second.is_some());
        let ratio = are_estimated.then(|| quotient(both[0], both[1]));
        // The margin is that of times.
        let change = |(_, [low, high]): (f64, [f64; 2])| by_margin([1.0 / high, 1.0 / low], margin);
        found.push(ComparedCapacity {
            run: new.name.to_owned(),
            case: old.case.clone(),
            objective: old.objective,
            verdict: ratio.filter(|_| is_known).map_or(Change::Inconclusive, change),
            baseline: rates[0],
            new: rates[1],
            ratio: ratio.map(|(ratio, _)| tidy(ratio)),
            ci95: ratio.map(|(_, ends)| outwards(ends)),
            tied: ratio.is_some_and(|(_, [low, high])| low <= 1.0 && high >= 1.0),
        });
    }
    let ratio = |one: &ComparedCapacity| one.ratio.unwrap_or(f64::INFINITY);
    sort_by(&mut found, |a, b| a.verdict.cmp(&b.verdict).then(ratio(a).total_cmp(&ratio(b))));
    found
}

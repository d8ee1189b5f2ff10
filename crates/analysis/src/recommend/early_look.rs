//! Early look at every candidate: short trials of the workload, which eliminate slow candidates.

use super::RankedBenchmark;
use super::compared::ObjectiveFigure;
use super::integration_costs::effort;
use crate::{DecodedRun, Ratio, Row};
use furlong_model::{Case, Objective, Shortlist, Trial, Wait, row_name};
use furlong_stats::sort_by;
use serde::Serialize;

/// Candidate that was eliminated after the early look.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EliminatedCandidate {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of the receiver.
    pub wait: Wait,
    /// Number of its trials in the early look.
    pub trials: usize,
    /// Ratio of its figure to that of `than`; `None` after fewer than three trials, which have no interval.
    pub times: Option<f64>,
    /// Smallest and largest ratio that both intervals allow.
    pub times_interval: Option<[f64; 2]>,
    /// Benchmark of the comparison: the first in the ranking, or the best of the early look if none is ranked.
    pub than: String,
}

/// Returns the run with only the trials of the early look.
///
/// Older versions measured a closed loop first, for any rate.
pub(super) fn early_look<'a>(run: &DecodedRun<'a>, shortlist: &Shortlist) -> DecodedRun<'a> {
    let Shortlist { workload, placement, first_look_trials, .. } = shortlist;
    let is_closed = |trial: &Trial| {
        let Case { mechanism, wait, .. } = &trial.case;
        let closed = workload.closed_case(mechanism, *wait, workload.size_bytes, *placement);
        trial.number < *first_look_trials && trial.case == closed
    };
    let is_recent = run.records.trials.iter().any(|trial| is_early(shortlist, trial));
    run.only(|trial| if is_recent { is_early(shortlist, trial) } else { is_closed(trial) })
}

/// Whether a trial belongs to the early look under the workload.
pub(super) fn is_early(shortlist: &Shortlist, trial: &Trial) -> bool {
    trial.number < shortlist.first_look_trials && is_at_workload(shortlist, &trial.case)
}

/// Whether a case is the workload, with any mechanism and wait strategy.
pub(super) fn is_at_workload(shortlist: &Shortlist, case: &Case) -> bool {
    *case == shortlist.workload.case(&case.mechanism, case.wait, shortlist.placement)
}

/// Returns the benchmarks of a run with their objective figures, the best first.
pub(super) fn by_objective(run: &DecodedRun, shortlist: &Shortlist) -> Vec<(Row, ObjectiveFigure)> {
    let objective = shortlist.workload.objective;
    let compared = ObjectiveFigure::all(run, objective);
    let mut rows: Vec<_> = run.summary.rows.iter().cloned().zip(compared).collect();
    let effort = |row: &Row| if objective == Objective::Simplicity { effort_of(shortlist, row) } else { 0 };
    sort_by(&mut rows, |a, b| effort(&a.0).cmp(&effort(&b.0)).then(a.1.figure.total_cmp(&b.1.figure)));
    rows
}

/// Returns the integration effort of a benchmark.
pub(super) fn effort_of(shortlist: &Shortlist, row: &Row) -> u32 {
    let candidate = shortlist.candidate(&row.case.mechanism, row.case.wait);
    candidate.map_or(u32::MAX, |candidate| effort(&candidate.integration_costs))
}

/// Returns the candidates of the early look that `is_dropped` accepts, the best first, compared with `first`.
pub(super) fn eliminated(
    early: &DecodedRun,
    shortlist: &Shortlist,
    first: Option<&RankedBenchmark>,
    is_dropped: impl Fn(&Case) -> bool,
) -> Vec<EliminatedCandidate> {
    let mut rows = by_objective(early, shortlist);
    rows.retain(|(row, _)| shortlist.workload.admits(row.case.wait));
    // The best of a few short trials may be the best by chance.
    let first = rows.iter().find(|(row, _)| first.is_some_and(|first| first.is(row)));
    let Some((best, base)) = first.or(rows.first()).cloned() else { return Vec::new() };
    let left_behind = rows.into_iter().filter(|(row, _)| is_dropped(&row.case));
    let eliminated = |(row, compared): (Row, ObjectiveFigure)| {
        let Ratio { times, interval } = compared.ratio_to(&base);
        EliminatedCandidate {
            mechanism: row.case.mechanism.clone(),
            wait: row.case.wait,
            trials: row.trials,
            times: interval.map(|_| times),
            times_interval: interval,
            than: row_name(&best.case.mechanism, best.case.wait),
        }
    };
    left_behind.map(eliminated).collect()
}

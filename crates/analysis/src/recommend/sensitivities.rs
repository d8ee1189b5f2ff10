//! Changes of the workload that change the answer: trust, boundary, message size and placement.

use super::{EliminatedCandidate, RankedBenchmark, ranked};
use crate::DecodedRun;
use furlong_model::{Candidate, Case, Objective, Placement, Shortlist, Wait, row_name};
use furlong_stats::distinct;
use serde::Serialize;

/// Change of the workload with the resulting answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The change.
    #[serde(rename = "change_data")]
    pub change: WorkloadChange,
    /// Reason for the change of the answer; empty if figures show it.
    pub reason: String,
    /// Resulting choice; `None` if no candidate is suitable.
    pub instead: Option<String>,
    /// Ratio of its objective figure to that of the choice. If the choice becomes unsuitable, both figures are those of the
    /// workload. Otherwise they are those under the change. Below 1 is better. `None` if the two were not compared.
    pub times: Option<f64>,
    /// Whether the resulting choice was measured in the longer look, or under the change.
    pub measured: bool,
    /// Whether the choice misses the SLO under the change, and the resulting choice does not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub misses_slo: bool,
    /// Whether the two tie.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tie: bool,
}

/// Change of the workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadChange {
    /// Option of the command line.
    Option {
        /// Option with its value.
        typed: String,
    },
    /// Another message size.
    Size {
        /// Size in bytes.
        size_bytes: usize,
    },
    /// No boundary between the processes.
    WithoutBoundary,
    /// Another placement of the processes.
    Place {
        /// The placement.
        placement: Placement,
    },
}

/// Maximum ratio to the choice that is reported as a change, because a smaller gain is not worthwhile.
const WORTH_IT: f64 = 0.8;

/// Candidates other than the choice.
pub(super) struct OtherCandidates<'a> {
    /// Choice and candidates of the longer look, the best first.
    pub ranked: &'a [RankedBenchmark],
    /// Candidates of the early look only, the best first.
    pub eliminated: &'a [EliminatedCandidate],
    /// Candidates that may not be chosen: they cannot carry the rate, keep a CPU busy, failed or do not exist here.
    pub barred: &'a [(String, Wait)],
}

impl OtherCandidates<'_> {
    fn is_barred(&self, mechanism: &str, wait: Wait) -> bool {
        self.barred.iter().any(|(other, other_wait)| (&**other, *other_wait) == (mechanism, wait))
    }
}

/// Returns every change that is known to change the answer.
pub(super) fn all(
    shortlist: &Shortlist,
    choice: &RankedBenchmark,
    others: &OtherCandidates,
    run: &DecodedRun,
) -> Vec<Sensitivity> {
    let workload = &shortlist.workload;
    let size = |case: &Case, size_bytes, placement| Case {
        size_bytes,
        ..workload.case(&case.mechanism, case.wait, placement)
    };
    let is_other_size = |case: &Case| {
        case.size_bytes != workload.size_bytes && *case == size(case, case.size_bytes, shortlist.placement)
    };
    let cases = run.summary.rows.iter().map(|row| &row.case);
    let sizes = distinct(cases.filter(|case| is_other_size(case)).map(|case| case.size_bytes));
    let sizes = sizes.into_iter().filter_map(|size_bytes| {
        let change = WorkloadChange::Size { size_bytes };
        under(change, shortlist, choice, others, &|case| size(case, size_bytes, shortlist.placement), run)
    });
    let places = [Placement::SameCore, Placement::Free].into_iter();
    let places = places.filter(|place| *place != shortlist.placement).filter_map(|placement| {
        let change = WorkloadChange::Place { placement };
        under(change, shortlist, choice, others, &|case| size(case, workload.size_bytes, placement), run)
    });
    let without = case_without_boundary(shortlist)
        .and_then(|case| under(WorkloadChange::WithoutBoundary, shortlist, choice, others, &case, run));
    without.into_iter().chain(falls(shortlist, choice, others)).chain(sizes).chain(places).collect()
}

/// Returns the function that removes the measured boundary from a case; `None` if no boundary is measured.
fn case_without_boundary(shortlist: &Shortlist) -> Option<impl Fn(&Case) -> Case> {
    let workload = shortlist.workload.without_boundary()?;
    Some(move |case: &Case| workload.case(&case.mechanism, case.wait, shortlist.placement))
}

/// Returns the figures of the choice without the measured boundary, if that affects it.
pub(super) fn without_boundary(
    shortlist: &Shortlist,
    choice: &RankedBenchmark,
    run: &DecodedRun,
) -> Option<RankedBenchmark> {
    let is_affected = shortlist.candidate(&choice.mechanism, choice.wait)?.is_affected;
    let bare = case_without_boundary(shortlist).filter(|_| is_affected)?;
    let rows = ranked::all(shortlist, &run.only(|trial| trial.case == bare(&trial.case)));
    rows.into_iter().find(|row| row.name() == choice.name())
}

/// Returns the changes that would exclude the choice.
fn falls(shortlist: &Shortlist, choice: &RankedBenchmark, others: &OtherCandidates) -> Vec<Sensitivity> {
    let Some(chosen) = shortlist.candidate(&choice.mechanism, choice.wait) else { return Vec::new() };
    let stands =
        |row: &Candidate, change: &str| !row.disqualified_by.iter().any(|fall| fall.change == change);
    let is_standing = |mechanism: &str, wait: Wait, change: &str| {
        shortlist.candidate(mechanism, wait).is_some_and(|row| stands(row, change))
    };
    let unmeasured = |change: &str| {
        let may_be_chosen = |mechanism: &str, wait: Wait| {
            shortlist.workload.admits(wait)
                && !others.is_barred(mechanism, wait)
                && is_standing(mechanism, wait, change)
        };
        let early = others.eliminated.iter().map(|row| (&row.mechanism, row.wait));
        let all = shortlist.candidates.iter().map(|row| (&row.mechanism, row.wait));
        let next = early.chain(all).find(|(mechanism, wait)| may_be_chosen(mechanism, *wait));
        next.map(|(mechanism, wait)| row_name(mechanism, wait))
    };
    let sensitivity = |fall: &furlong_model::Disqualifier| {
        let standing = others.ranked.iter().filter(|row| is_standing(&row.mechanism, row.wait, &fall.change));
        let standing: Vec<RankedBenchmark> = standing.cloned().collect();
        let next = ranked::choose(&standing, shortlist.workload.objective);
        Sensitivity {
            change: WorkloadChange::Option { typed: fall.change.clone() },
            reason: fall.reason.clone(),
            instead: next.map(RankedBenchmark::name).or_else(|| unmeasured(&fall.change)),
            times: next
                .filter(|row| row.differs_from(choice) || row.ties_with(choice))
                .map(|row| row.figure / choice.figure),
            measured: next.is_some(),
            misses_slo: false,
            tie: next.is_some_and(|row| row.ties_with(choice)),
        }
    };
    chosen.disqualified_by.iter().map(sensitivity).collect()
}

/// Returns the answer under a change of the workload that keeps all candidates. Returns `None` if the choice remains, or if
/// no other benchmark is significantly better by the objective.
fn under(
    change: WorkloadChange,
    shortlist: &Shortlist,
    choice: &RankedBenchmark,
    others: &OtherCandidates,
    changed: &dyn Fn(&Case) -> Case,
    run: &DecodedRun,
) -> Option<Sensitivity> {
    let workload = &shortlist.workload;
    let mut rows = ranked::all(shortlist, &run.only(|trial| trial.case == changed(&trial.case)));
    rows.retain(|row| row.may_be_chosen(workload) && !others.is_barred(&row.mechanism, row.wait));
    let own = rows.iter().find(|row| row.name() == choice.name())?;
    let answer = ranked::choose(&rows, workload.objective)?.clone().compared_with(own);
    let is_other = answer.name() != own.name();
    let misses_slo = answer.meets() && !own.meets();
    let is_better = match workload.objective {
        // Another benchmark with the same effort is no reason to change, regardless of its speed.
        Objective::Simplicity => answer.effort < own.effort,
        _ => answer.differs_from(own) && answer.times < WORTH_IT,
    };
    (is_other && (misses_slo || is_better)).then(|| Sensitivity {
        change,
        reason: String::new(),
        instead: Some(answer.name()),
        times: answer.times_interval.map(|_| answer.times),
        measured: true,
        misses_slo,
        tie: answer.ties_with(own),
    })
}

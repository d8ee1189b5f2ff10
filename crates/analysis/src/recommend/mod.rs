//! Recommendation of a mechanism for a workload. The candidates are measured under that workload and ranked by the
//! objective. The result contains the costs of the choice, simpler alternatives, and changes of the workload that would
//! change the answer.
//!
//! Before any measurement, [`shortlist`] selects candidates by their capabilities. An early look at each of them under the
//! workload selects those for longer measurement ([`finalists`]). [`recommend`] analyses the records of the longer
//! measurement.

mod again;
mod budget;
mod candidates;
mod compared;
mod constraints;
mod earlier;
mod early_look;
mod finalists;
mod integration_costs;
mod ranked;
mod sensitivities;
mod switch;
#[cfg(test)]
mod tests;

pub use budget::{Budget, BudgetKind};
pub use candidates::{Offer, row_refusal, shortlist};
pub use constraints::out_of_reach;
pub use earlier::{Answer, ChoiceChange, EarlierAnswer};
pub use early_look::EliminatedCandidate;
pub use finalists::{SLEEPING, SPINNING, finalists, surroundings, without_boundary};
pub use ranked::{RankedBenchmark, SloVerdict, places};
pub use sensitivities::{Sensitivity, WorkloadChange};
pub use switch::{Gain, Switch};

use crate::capacity::CapacitySearch;
use crate::{
    CarriedMost, DecodedRun, Finding, HighestRate, Level, Regimes, Row, RunFacts, Saturation, SkippedCase,
    SkippedStatus, Summary,
};
use constraints::KEEPS_CPUS_BUSY;
use early_look::{early_look, eliminated, is_at_workload, is_early};
use furlong_model::{
    BoundaryAttempt, Case, ExcludedBenchmark, Shortlist, UnmeasuredBoundary, Wait, Workload,
};
use furlong_stats::{FEWEST_TRIALS, sort_by};
use serde::Serialize;

/// Version of the JSON form of a [`Recommendation`].
pub const RECOMMENDATION_SCHEMA: u32 = 2;

/// Recommendation for a workload, with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// [`RECOMMENDATION_SCHEMA`].
    pub schema: u32,
    /// Facts about the run.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Whether another benchmark may be the best: the machine was unreliable, there was no longer look, the choice has
    /// fewer than three trials, or the earlier answer was different.
    pub provisional: bool,
    /// Earlier answer to the same question; `None` if there is none, or without a choice.
    pub earlier: Option<EarlierAnswer>,
    /// Whether a mechanism delivered a corrupted message.
    pub found_corruption: bool,
    /// Workload of the question.
    pub workload: Workload,
    /// Objects that a process across the boundary could or could not reach on this machine.
    pub tried: Vec<BoundaryAttempt>,
    /// Requested boundaries that were not measured, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmeasured_boundaries: Vec<UnmeasuredBoundary>,
    /// Choice without the measured boundary, relative to the choice: `times` below 1 is the cost of the boundary. `None` if no
    /// boundary or no choice was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_boundary: Option<Alternative>,
    /// Choice: of the best benchmark and those that tie with it, the one with the least integration effort. `None` if no
    /// candidate is suitable.
    pub choice: Option<RankedBenchmark>,
    /// Expected gain of a switch from the observed mechanism to the choice; `None` without recorded traffic, or if the trace
    /// does not name the mechanism, it was not measured, or it is the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
    /// Best of the benchmarks that could not carry the rate, if there is no choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_most: Option<CarriedMost>,
    /// Best of the benchmarks that carry the rate but keep a CPU busy, if that is not allowed and there is no choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_by_spinning: Option<RankedBenchmark>,
    /// Results at both levels of the core-to-core time, if it had two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_levels: Option<Regimes>,
    /// Number of candidates before the measurement.
    pub candidates: usize,
    /// Whether the time was over before the longer look, so that the answer is based on the early look.
    pub early_look_alone: bool,
    /// Benchmarks that were measured under the workload and may be chosen, the best first.
    pub ranked: Vec<RankedBenchmark>,
    /// Benchmarks whose objective figure ties with that of the first, whether they meet the SLO or not.
    pub ties: Vec<String>,
    /// Best benchmark with less integration effort than the choice.
    pub simpler: Option<Alternative>,
    /// Best benchmark that keeps a CPU busy while it waits, if that was not allowed.
    pub if_spinning: Option<Alternative>,
    /// Reason why no busy-waiting benchmark was compared, if some are suitable; empty if the time was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spinning_not_compared: Option<String>,
    /// Share of the choice in the available time.
    pub budget: Option<Budget>,
    /// Maximum rate of the choice in messages per second; `None` if it was not measured.
    pub capacity_per_second: Option<f64>,
    /// Highest rate at which the choice keeps the SLO; `None` unless its trials determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_rate: Option<HighestRate>,
    /// Candidates that were eliminated after the early look under the workload.
    pub eliminated: Vec<EliminatedCandidate>,
    /// Benchmarks that may not be chosen or could not be measured, with the reasons.
    pub excluded: Vec<ExcludedBenchmark>,
    /// Benchmarks that could not carry the rate, the highest carried rate first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub saturated: Vec<CarriedMost>,
    /// Changes of the workload that would change the answer.
    pub sensitivities: Vec<Sensitivity>,
}

/// Alternative to the choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// Benchmark, with `times` relative to the choice: above 1 is worse.
    #[serde(flatten)]
    pub row: RankedBenchmark,
    /// Whether it ties with the choice.
    pub tie: bool,
}

/// Computes the recommendation from a run of `furlong recommend`; `None` for any other run.
pub fn recommend(run: &DecodedRun) -> Option<Recommendation> {
    let shortlist = run.records.shortlist.as_ref()?;
    let workload = &shortlist.workload;
    let early_run = early_look(run, shortlist);
    let longer = run.only(|trial| is_at_workload(shortlist, &trial.case) && !is_early(shortlist, trial));
    let early_look_alone = is_too_short(&longer.summary)
        && (longer.summary.rows.is_empty() || !is_too_short(&early_run.summary));
    let long_run = if early_look_alone { &early_run } else { &longer };
    let (early, long) = (&early_run.summary, &long_run.summary);
    let ranked = ranked::all(shortlist, long_run);
    let best_busy = ranked.iter().find(|row| !row.may_be_chosen(workload)).cloned();
    let (mut allowed, spinning): (Vec<_>, Vec<_>) =
        ranked.into_iter().partition(|row| workload.admits(row.wait));
    let mut keeping_busy: Vec<RankedBenchmark> =
        allowed.extract_if(.., |row| !row.may_be_chosen(workload)).collect();
    keeping_busy.extend(busy_in_early_look(shortlist, &early_run, long));
    if let Some(first) = allowed.first().cloned() {
        allowed = allowed.into_iter().map(|row| row.compared_with(&first)).collect();
    }
    let choice = ranked::choose(&allowed, workload.objective).cloned();
    let alternative = |row: &RankedBenchmark| choice.as_ref().map(|choice| Alternative::to(choice, row));
    let simpler = choice.as_ref().and_then(|choice| {
        let simpler = |row: &&RankedBenchmark| row.effort < choice.effort && row.meets() >= choice.meets();
        allowed.iter().find(simpler).and_then(alternative)
    });
    let ties = allowed.first().map_or_else(Vec::new, |best| {
        let others = allowed.iter().skip(1).filter(|row| row.ties_with(best));
        others.map(RankedBenchmark::name).collect()
    });
    let closed = |case: &Case| {
        *case == workload.closed_case(&case.mechanism, case.wait, workload.size_bytes, shortlist.placement)
    };
    // Without a rate, this is the chosen benchmark with the figure of the longer look.
    let closed_row = |choice: &RankedBenchmark| {
        long.rows.iter().chain(&run.summary.rows).find(|row| closed(&row.case) && choice.is(row))
    };
    let highest_rate = choice.as_ref().zip(workload.slo).and_then(|(choice, slo)| {
        let case =
            workload.closed_case(&choice.mechanism, choice.wait, workload.size_bytes, shortlist.placement);
        let rate = CapacitySearch::of(&case, &run.trials, slo)?.result().highest_rate();
        Some(rate).filter(|rate| rate.per_second.is_some())
    });
    let is_measured = |case: &Case| {
        let cases = long.rows.iter().map(|row| &row.case).chain(long.skipped.iter().map(|entry| &entry.case));
        cases.into_iter().any(|other| other.row() == case.row())
    };
    let if_spinning = spinning.first().and_then(alternative);
    let is_shown = |row: &&Row| allowed.iter().any(|shown| shown.is(row));
    let noise = long_run.noise_of(long.rows.iter().filter(is_shown));
    let skipped = || early.skipped.iter().chain(&long.skipped);
    let saturated = saturated(skipped(), &allowed);
    let mut excluded = excluded(shortlist, skipped(), &saturated, &allowed);
    excluded.extend(keeping_busy.iter().map(|row| ExcludedBenchmark {
        mechanism: row.mechanism.clone(),
        wait: Some(row.wait),
        reason: KEEPS_CPUS_BUSY.to_owned(),
    }));
    let barred = barred(&keeping_busy, &saturated, skipped(), &allowed);
    let is_dropped = |case: &Case| !is_measured(case) && !keeping_busy.iter().any(|row| row.is_of(case));
    let eliminated = eliminated(&early_run, shortlist, allowed.first(), is_dropped);
    Some(Recommendation {
        schema: RECOMMENDATION_SCHEMA,
        provisional: noise.level == Level::Unreliable
            || early_look_alone
            || choice.as_ref().is_some_and(|choice| choice.figure_ci95.is_none()),
        run: RunFacts { noise, ..long.run.clone() },
        earlier: None,
        found_corruption: early.found_corruption() || long.found_corruption(),
        workload: workload.clone(),
        tried: shortlist.tried.clone(),
        unmeasured_boundaries: shortlist.unmeasured_boundaries.clone(),
        without_boundary: choice
            .as_ref()
            .and_then(|choice| sensitivities::without_boundary(shortlist, choice, run))
            .as_ref()
            .and_then(alternative),
        switch: choice.as_ref().and_then(|choice| Switch::new(shortlist, long_run, choice)),
        budget: choice.as_ref().and_then(|choice| Budget::of(workload, choice)),
        // With several receivers, the rate counts each message once.
        capacity_per_second: choice
            .as_ref()
            .and_then(closed_row)
            .map(|row| row.exchange.per_second / f64::from(row.case.links().get())),
        highest_rate,
        simpler,
        spinning_not_compared: spinning_not_compared(shortlist, &excluded)
            .filter(|_| choice.is_some() && if_spinning.is_none()),
        if_spinning,
        sensitivities: choice.as_ref().map_or_else(Vec::new, |choice| {
            let others =
                sensitivities::OtherCandidates { ranked: &allowed, eliminated: &eliminated, barred: &barred };
            sensitivities::all(shortlist, choice, &others, run)
        }),
        eliminated,
        carried_most: saturated
            .iter()
            .find(|row| workload.admits(row.wait))
            .filter(|_| choice.is_none())
            .cloned(),
        saturated,
        carried_by_spinning: best_busy.filter(|_| choice.is_none()),
        candidates: shortlist.candidates.len(),
        early_look_alone: early_look_alone && choice.is_some(),
        two_levels: two_levels(long),
        excluded,
        choice,
        ranked: allowed,
        ties,
    })
}

impl Alternative {
    fn to(choice: &RankedBenchmark, row: &RankedBenchmark) -> Alternative {
        Alternative { row: row.clone().compared_with(choice), tie: row.ties_with(choice) }
    }
}

/// Returns the benchmarks that were eliminated after the early look and may not be chosen, because they kept a CPU busy.
fn busy_in_early_look(shortlist: &Shortlist, early: &DecodedRun, long: &Summary) -> Vec<RankedBenchmark> {
    let workload = &shortlist.workload;
    let mut rows = ranked::all(shortlist, early);
    rows.retain(|row| workload.admits(row.wait) && !row.may_be_chosen(workload));
    rows.retain(|row| !long.rows.iter().any(|other| row.is(other)));
    rows
}

/// Returns the candidates that the measurement excluded as an answer.
fn barred<'a>(
    keeping_busy: &[RankedBenchmark],
    saturated: &[CarriedMost],
    skipped: impl Iterator<Item = &'a SkippedCase>,
    ranked: &[RankedBenchmark],
) -> Vec<(String, Wait)> {
    let is_no_answer = |entry: &&SkippedCase| {
        let is_ranked = ranked.iter().any(|row| row.is_of(&entry.case));
        !is_ranked && (entry.status.is_failure() || entry.status == SkippedStatus::Unavailable)
    };
    let busy = keeping_busy.iter().map(|row| (row.mechanism.clone(), row.wait));
    let saturated = saturated.iter().map(|row| (row.mechanism.clone(), row.wait));
    let failed = skipped.filter(is_no_answer).map(|entry| (entry.case.mechanism.clone(), entry.case.wait));
    busy.chain(saturated).chain(failed).collect()
}

/// Returns why no busy-waiting benchmark was measured for comparison; empty if the time was over.
fn spinning_not_compared(shortlist: &Shortlist, excluded: &[ExcludedBenchmark]) -> Option<String> {
    let is_for_comparison = |wait: Wait| !shortlist.workload.admits(wait);
    let candidate = shortlist.candidates.iter().find(|candidate| is_for_comparison(candidate.wait));
    let is_it = |entry: &&ExcludedBenchmark| {
        entry.wait.is_some_and(is_for_comparison)
            && candidate.is_none_or(|candidate| {
                (&candidate.mechanism, Some(candidate.wait)) == (&entry.mechanism, entry.wait)
            })
    };
    let reason = excluded.iter().find(is_it).map(|entry| entry.reason.clone());
    reason.or_else(|| candidate.map(|_| String::new()))
}

/// Whether the time was over before any candidate had enough trials for an interval, and no other error occurred.
fn is_too_short(summary: &Summary) -> bool {
    summary.rows.iter().all(|row| row.trials < FEWEST_TRIALS)
        && summary.skipped.iter().all(|entry| entry.status == SkippedStatus::Refused)
}

fn two_levels(summary: &Summary) -> Option<Regimes> {
    summary.findings.iter().find_map(|finding| match finding {
        Finding::TwoLevels(regimes) => Some(regimes.clone()),
        _ => None,
    })
}

/// Returns the benchmarks without a rank because they could not carry the rate. The highest carried rate comes first.
fn saturated<'a>(
    skipped: impl Iterator<Item = &'a SkippedCase>,
    ranked: &[RankedBenchmark],
) -> Vec<CarriedMost> {
    let mut saturated: Vec<CarriedMost> = Vec::new();
    for (entry, saturation) in skipped.filter_map(|entry| Some((entry, entry.saturation?))) {
        let (mechanism, wait) = (entry.case.mechanism.clone(), entry.case.wait);
        let is_it = |other: &str, other_wait: Wait| (other, other_wait) == (&*mechanism, wait);
        if !ranked.iter().any(|row| is_it(&row.mechanism, row.wait))
            && !saturated.iter().any(|row| is_it(&row.mechanism, row.wait))
        {
            saturated.push(CarriedMost { mechanism, wait, saturation });
        }
    }
    sort_by(&mut saturated, |one, other| {
        other.saturation.carried_per_second.total_cmp(&one.saturation.carried_per_second)
    });
    saturated
}

/// Returns the exclusions before and after the measurement. Saturated benchmarks share one reason.
fn excluded<'a>(
    shortlist: &Shortlist,
    skipped: impl Iterator<Item = &'a SkippedCase>,
    saturated: &[CarriedMost],
    ranked: &[RankedBenchmark],
) -> Vec<ExcludedBenchmark> {
    let mut excluded = shortlist.excluded.clone();
    let alike = |saturation: &Saturation| {
        let all = saturated.iter().map(|row| row.saturation);
        let alike: Vec<_> = all.filter(|other| other.is_alike(saturation)).collect();
        Saturation::reason_and_remedy(&alike).0
    };
    for entry in skipped {
        let (mechanism, wait) = (entry.case.mechanism.clone(), Some(entry.case.wait));
        let is_ranked = ranked.iter().any(|row| row.mechanism == mechanism && Some(row.wait) == wait);
        if !is_ranked && !excluded.iter().any(|other| (&other.mechanism, other.wait) == (&mechanism, wait)) {
            let trials = if entry.trials == 1 { "a trial" } else { "some trials" };
            let remedy = if entry.remedy.is_empty() { String::new() } else { format!("; {}", entry.remedy) };
            let reason = match (entry.status, &entry.saturation) {
                (SkippedStatus::Saturated, Some(saturation)) => format!("saturated: {}", alike(saturation)),
                (SkippedStatus::Disturbed | SkippedStatus::Refused, _) => format!("{}{remedy}", entry.reason),
                (status, _) => format!("{} in {trials}: {}{remedy}", status.name(), entry.reason),
            };
            excluded.push(ExcludedBenchmark { mechanism, wait, reason });
        }
    }
    excluded
}

impl Recommendation {
    /// Returns the `run` of this recommendation without the trials of the early look, which the answer does not use.
    /// Returns `None` without a choice, or if there is only the early look.
    pub fn without_early_look<'a>(&self, run: &DecodedRun<'a>) -> Option<DecodedRun<'a>> {
        let shortlist = run.records.shortlist.as_ref()?;
        let rests_on_longer = self.choice.is_some() && !self.early_look_alone;
        rests_on_longer.then(|| run.only(|trial| !is_early(shortlist, trial)))
    }

    /// Whether the SLO holds; `None` without an SLO, without a choice, or with too few samples.
    pub fn slo_holds(&self) -> Option<bool> {
        self.choice.as_ref()?.slo.as_ref().and_then(|slo| slo.holds)
    }
}

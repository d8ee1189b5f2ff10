//! What to take for a workload: the rows that may serve it, measured at that very workload and ranked by what is to be
//! best, with what it costs, what would be simpler and what would change the answer.
//!
//! Before anything is measured, [`shortlist`] sorts rows by what they promise. A first look at each says which are worth
//! measuring longer ([`finalists`]), and [`recommend`] judges what came of those.

mod again;
mod budget;
mod candidates;
mod constraints;
mod earlier;
mod finalists;
mod first_look;
mod integration_costs;
mod ranked;
mod sensitivities;
#[cfg(test)]
mod tests;

pub use budget::{Budget, BudgetKind};
pub use candidates::{Offer, shortlist};
pub use constraints::out_of_reach;
pub use earlier::{Answer, Earlier, Repeated};
pub use finalists::{finalists, surroundings};
pub use ranked::{Ranked, SloVerdict};
pub use sensitivities::{Sensitivity, WorkloadChange};

use crate::{
    DecodedRun, Finding, Level, Regimes, Row, RunFacts, Saturation, Skipped, SkippedStatus, Summary,
};
use first_look::first_look;
use furlong_model::{Case, Excluded, Shortlist, Trial, Tried, Wait, Workload};
use furlong_stats::sort_by;
use serde::Serialize;

/// Version of the JSON form of a [`Recommendation`].
pub const RECOMMENDATION_SCHEMA: u32 = 2;

/// What to take for a workload, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// [`RECOMMENDATION_SCHEMA`].
    pub schema: u32,
    /// Which run it is of.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Whether another row may be the best: the machine was unreliable, or the answer was another one before.
    pub provisional: bool,
    /// What was answered to the same question before; `None` if it was not asked, or nothing may serve.
    pub earlier: Option<Earlier>,
    /// Whether some mechanism delivered another message than was sent.
    pub found_corruption: bool,
    /// What was asked.
    pub workload: Workload,
    /// What a process across the boundary was seen to reach on this machine.
    pub tried: Vec<Tried>,
    /// What to take: of the best and those that tie with it, the one that is the least work to use. `None` if nothing
    /// may serve.
    pub choice: Option<Ranked>,
    /// Of the rows that could not carry the rate, the one that carried the most, where nothing is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_most: Option<CarriedMost>,
    /// What holds at both levels of the core-to-core time, where it had two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_levels: Option<Regimes>,
    /// Every row that was measured at the workload and may be chosen, the best first.
    pub ranked: Vec<Ranked>,
    /// Rows that cannot be told from the best by what is to be best.
    pub ties: Vec<String>,
    /// The best of the rows that are less work to use than the choice.
    pub simpler: Option<Alternative>,
    /// The best row that keeps a processor busy while it waits, where that was not allowed.
    pub if_spinning: Option<Alternative>,
    /// What the choice takes of what there is.
    pub budget: Option<Budget>,
    /// Messages a second that the choice can take, one after the other.
    pub capacity_per_second: Option<f64>,
    /// Rows that were so far behind at a first look that they were not measured on.
    pub eliminated: Vec<Eliminated>,
    /// Rows that may not be chosen, or could not be measured, and why.
    pub excluded: Vec<Excluded>,
    /// What would change the answer.
    pub sensitivities: Vec<Sensitivity>,
}

/// A row that could not carry the rate that was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CarriedMost {
    /// The mechanism's name.
    pub mechanism: String,
    /// How the receiver waits.
    pub wait: Wait,
    /// What was asked and what it carried.
    #[serde(flatten)]
    pub saturation: Saturation,
}

/// Another row, beside the choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// The row.
    #[serde(flatten)]
    pub row: Ranked,
    /// Its figure of what is to be best, over that of the choice: above 1 it is worse.
    pub times: f64,
    /// Whether the two cannot be told apart.
    pub tie: bool,
}

/// A row that was not measured on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Eliminated {
    /// The mechanism's name.
    pub mechanism: String,
    /// How the receiver waits.
    pub wait: Wait,
    /// Its figure at the first look over that of the best.
    pub times: f64,
}

/// What to take, from a run of `furlong recommend`; `None` for any other run.
pub fn recommend(run: &DecodedRun) -> Option<Recommendation> {
    let shortlist = run.records.shortlist.as_ref()?;
    let workload = &shortlist.workload;
    let first = first_look(run, shortlist);
    let at_workload = |case: &Case| *case == workload.case(&case.mechanism, case.wait, shortlist.placement);
    let is_long = |trial: &Trial| trial.number >= shortlist.first_look_trials && at_workload(&trial.case);
    let long_run = run.only(is_long);
    let long = &long_run.summary;
    let mut ranked: Vec<Ranked> =
        long.rows.iter().filter_map(|row| Ranked::of(shortlist, &long_run, row)).collect();
    ranked::sort(&mut ranked, workload.objective);
    let (allowed, spinning): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|row| workload.admits(row.wait));
    let choice = ranked::choose(&allowed, workload.objective).cloned();
    let alternative = |row: &Ranked| choice.as_ref().map(|choice| Alternative::to(choice, row));
    let simpler = choice.as_ref().and_then(|choice| {
        let simpler = |row: &&Ranked| row.effort < choice.effort && row.meets() >= choice.meets();
        allowed.iter().find(simpler).and_then(alternative)
    });
    let ties = allowed.first().map_or_else(Vec::new, |best| {
        let others = allowed.iter().skip(1).filter(|row| row.ties_with(best));
        others.map(Ranked::name).collect()
    });
    let first_row = choice.as_ref().and_then(|choice| first.rows.iter().find(|row| choice.is(row)));
    Some(Recommendation {
        schema: RECOMMENDATION_SCHEMA,
        run: long.run.clone(),
        provisional: long.run.noise.level == Level::Unreliable,
        earlier: None,
        found_corruption: first.found_corruption() || long.found_corruption(),
        workload: workload.clone(),
        tried: shortlist.tried.clone(),
        budget: choice.as_ref().and_then(|choice| Budget::of(workload, choice)),
        capacity_per_second: // Of several receivers, messages that each of them has.
            first_row.map(|row| row.exchange.per_second / f64::from(row.case.links().get())),
        simpler,
        if_spinning: spinning.first().and_then(alternative),
        sensitivities: choice
            .as_ref()
            .map_or_else(Vec::new, |choice| sensitivities::all(shortlist, choice, &allowed, &run.summary)),
        eliminated: eliminated(workload, &first, long),
        carried_most: carried_most(workload, &long.skipped).filter(|_| choice.is_none()),
        two_levels: two_levels(long),
        excluded: excluded(shortlist, &first.skipped, &long.skipped),
        choice,
        ranked: allowed,
        ties,
    })
}

impl Alternative {
    fn to(choice: &Ranked, row: &Ranked) -> Alternative {
        Alternative { row: row.clone(), times: row.figure / choice.figure, tie: row.ties_with(choice) }
    }
}

/// Rows of the first look that were left behind.
fn eliminated(workload: &Workload, first: &Summary, long: &Summary) -> Vec<Eliminated> {
    let rows = || first.rows.iter().filter(|row| workload.admits(row.case.wait));
    let figure = |row: &Row| finalists::figure(workload, row);
    let best = rows().map(figure).fold(f64::INFINITY, f64::min);
    let cases = || long.rows.iter().map(|row| &row.case).chain(long.skipped.iter().map(|entry| &entry.case));
    let is_measured = |row: &Row| cases().any(|case| case.row() == row.case.row());
    let mut eliminated: Vec<_> = rows()
        .filter(|row| !is_measured(row))
        .map(|row| Eliminated {
            mechanism: row.case.mechanism.clone(),
            wait: row.case.wait,
            times: figure(row) / best,
        })
        .collect();
    sort_by(&mut eliminated, |a, b| a.times.total_cmp(&b.times));
    eliminated
}

fn two_levels(summary: &Summary) -> Option<Regimes> {
    summary.findings.iter().find_map(|finding| match finding {
        Finding::TwoLevels(regimes) => Some(regimes.clone()),
        _ => None,
    })
}

/// Of the rows that are saturated and may be chosen, the one that carried the most.
fn carried_most(workload: &Workload, skipped: &[Skipped]) -> Option<CarriedMost> {
    let saturated = skipped.iter().filter(|entry| workload.admits(entry.case.wait));
    let saturated = saturated.filter_map(|entry| Some((entry, entry.saturation?)));
    let carried = |(_, saturation): &(&Skipped, Saturation)| saturation.carried_per_second;
    let (entry, saturation) = saturated.max_by(|one, other| carried(one).total_cmp(&carried(other)))?;
    Some(CarriedMost { mechanism: entry.case.mechanism.clone(), wait: entry.case.wait, saturation })
}

/// What was known beforehand, and what measuring found.
fn excluded(shortlist: &Shortlist, first: &[Skipped], long: &[Skipped]) -> Vec<Excluded> {
    let mut excluded = shortlist.excluded.clone();
    for entry in first.iter().chain(long) {
        let (mechanism, wait) = (entry.case.mechanism.clone(), Some(entry.case.wait));
        if !excluded.iter().any(|other| (&other.mechanism, other.wait) == (&mechanism, wait)) {
            let trials = if entry.trials == 1 { "a trial" } else { "some trials" };
            let remedy = if entry.remedy.is_empty() { String::new() } else { format!("; {}", entry.remedy) };
            let reason = match entry.status {
                SkippedStatus::Saturated => format!("saturated: {}", entry.reason),
                SkippedStatus::Disturbed => format!("{}{remedy}", entry.reason),
                status => format!("{} in {trials}: {}{remedy}", status.name(), entry.reason),
            };
            excluded.push(Excluded { mechanism, wait, reason });
        }
    }
    excluded
}

impl Recommendation {
    /// Whether the objective that was set holds; `None` if none was, or nothing was chosen.
    pub fn slo_holds(&self) -> Option<bool> {
        self.choice.as_ref()?.slo.as_ref().map(|slo| slo.holds)
    }
}

//! What would change the answer: another trust or boundary, smaller or larger messages, another place of the processes.

use super::{Eliminated, Ranked};
use crate::{CarriedMost, Row, Summary};
use furlong_model::{Arrival, Candidate, Case, Placement, Shortlist, Wait, row_name};
use furlong_stats::distinct;
use serde::Serialize;

/// A change of the workload, and what the answer would be then.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The change.
    #[serde(rename = "change_data")]
    pub change: WorkloadChange,
    /// Why the answer changes; empty where figures say it.
    pub reason: String,
    /// What would be taken instead; `None` if nothing would do.
    pub instead: Option<String>,
    /// How the figure of what is taken then compares with what the choice takes: at the workload if the choice could
    /// not serve any more, else under the change; below 1 it is faster. `None` where it was not measured at the workload.
    pub times: Option<f64>,
    /// Whether the two tie.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tie: bool,
}

/// A change of the workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadChange {
    /// An option, as it is typed.
    Option {
        /// With its value.
        typed: String,
    },
    /// Messages of another size.
    Size {
        /// Which.
        size_bytes: usize,
    },
    /// The processes in another place.
    Place {
        /// Where.
        placement: Placement,
    },
}

/// Less than this, and nobody would change for it.
const WORTH_IT: f64 = 0.8;

/// Candidates other than the choice.
pub(super) struct Others<'a> {
    /// The choice and those of the longer look, the best first.
    pub ranked: &'a [Ranked],
    /// Those of the early look alone, the best first.
    pub eliminated: &'a [Eliminated],
    /// Those that cannot carry the rate.
    pub saturated: &'a [CarriedMost],
}

/// Every change that is known to change the answer.
pub(super) fn all(
    shortlist: &Shortlist,
    choice: &Ranked,
    others: &Others,
    all: &Summary,
) -> Vec<Sensitivity> {
    let falls = falls(shortlist, choice, others);
    let places = [Placement::SameCore, Placement::Free]
        .into_iter()
        .filter_map(|place| elsewhere(shortlist, choice, all, place));
    falls.into_iter().chain(sizes(shortlist, choice, all)).chain(places).collect()
}

/// When messages arrive at the workload, and so at every change of it.
fn arrival(shortlist: &Shortlist) -> Arrival {
    shortlist.workload.case("", Wait::Block, shortlist.placement).arrival
}

/// Changes that would exclude the choice.
fn falls(shortlist: &Shortlist, choice: &Ranked, others: &Others) -> Vec<Sensitivity> {
    let Some(chosen) = shortlist.candidate(&choice.mechanism, choice.wait) else { return Vec::new() };
    let stands =
        |row: &Candidate, change: &str| !row.disqualified_by.iter().any(|fall| fall.change == change);
    let is_standing = |mechanism: &str, wait: Wait, change: &str| {
        shortlist.candidate(mechanism, wait).is_some_and(|row| stands(row, change))
    };
    let unmeasured = |change: &str| {
        let mut early = others.eliminated.iter();
        if let Some(next) = early.find(|row| is_standing(&row.mechanism, row.wait, change)) {
            return Some(row_name(&next.mechanism, next.wait));
        }
        let carries = |row: &&Candidate| {
            let is_it = |other: &CarriedMost| (&other.mechanism, other.wait) == (&row.mechanism, row.wait);
            row.wait.sleeps_in_the_end() && !others.saturated.iter().any(is_it)
        };
        let next = shortlist.candidates.iter().filter(carries).find(|row| stands(row, change))?;
        Some(row_name(&next.mechanism, next.wait))
    };
    let sensitivity = |fall: &furlong_model::Disqualifier| {
        let next = others.ranked.iter().find(|row| is_standing(&row.mechanism, row.wait, &fall.change));
        Sensitivity {
            change: WorkloadChange::Option { typed: fall.change.clone() },
            reason: fall.reason.clone(),
            instead: next.map(Ranked::name).or_else(|| unmeasured(&fall.change)),
            times: next.map(|row| row.figure / choice.figure),
            tie: next.is_some_and(|row| row.ties_with(choice)),
        }
    };
    chosen.disqualified_by.iter().map(sensitivity).collect()
}

/// Sizes at which another row is faster than the choice, as far as intervals tell.
fn sizes(shortlist: &Shortlist, choice: &Ranked, all: &Summary) -> Vec<Sensitivity> {
    let size_bytes = shortlist.workload.size_bytes;
    let at_other_size = |row: &&Row| {
        row.case.size_bytes != size_bytes
            && row.case.placement == shortlist.placement
            && row.case.arrival == arrival(shortlist)
            && row.case.wait.sleeps_in_the_end()
    };
    let sizes = distinct(all.rows.iter().filter(at_other_size).map(|row| row.case.size_bytes));
    let sensitivity = |size: usize| {
        let rows = || all.rows.iter().filter(at_other_size).filter(|row| row.case.size_bytes == size);
        let own = rows().find(|row| choice.is(row))?;
        let faster = rows().filter(|row| row.differs_from(own) && row.exchange.ns.p50 < own.exchange.ns.p50);
        let best = faster.min_by(|a, b| a.exchange.ns.p50.total_cmp(&b.exchange.ns.p50))?;
        let times = best.exchange.ns.p50 / own.exchange.ns.p50;
        (times < WORTH_IT).then(|| Sensitivity {
            change: WorkloadChange::Size { size_bytes: size },
            reason: String::new(),
            instead: Some(best.case.row()),
            times: Some(times),
            tie: false,
        })
    };
    sizes.into_iter().filter_map(sensitivity).collect()
}

/// The processes in another place, where that is faster than where they were asked for: waking another core is dear on
/// some machines.
fn elsewhere(shortlist: &Shortlist, choice: &Ranked, all: &Summary, place: Placement) -> Option<Sensitivity> {
    let is_at = |case: &Case, placement| {
        case.arrival == arrival(shortlist)
            && case.size_bytes == shortlist.workload.size_bytes
            && case.placement == placement
    };
    let rows = |placement| {
        let sleeping = |row: &&Row| row.case.wait.sleeps_in_the_end();
        all.rows.iter().filter(sleeping).filter(move |row| is_at(&row.case, placement))
    };
    let asked = rows(shortlist.placement).find(|row| choice.is(row))?;
    let best = rows(place).min_by(|a, b| a.exchange.ns.p50.total_cmp(&b.exchange.ns.p50))?;
    let times = best.exchange.ns.p50 / asked.exchange.ns.p50;
    (best.differs_from(asked) && times < WORTH_IT).then(|| Sensitivity {
        change: WorkloadChange::Place { placement: place },
        reason: String::new(),
        instead: Some(best.case.row()),
        times: Some(times),
        tie: false,
    })
}

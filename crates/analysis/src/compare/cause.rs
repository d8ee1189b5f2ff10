//! Measured costs that account for the change of a benchmark. Without figures of both runs there are none.
//!
//! If both runs have costs and counts, `explain` breaks the round trip down in both. A part is a cause if it changed about
//! as much as the benchmark. The bare core-to-core time is known without costs and counts. It is part of every round trip
//! that busy-waits across two cores.

use super::row::{Change, ComparedRow};
use crate::NamedRun;
use crate::{Explanation, Part, Term, checks::on_two_processors, explain};
use furlong_model::{Case, WaitKind};
use furlong_stats::{sort_by_key, tidy};
use serde::Serialize;

/// Share of a benchmark's change that a cost must account for.
const ACCOUNTS: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// Cost that accounts for the change of at least one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// Run that is compared with the baseline.
    pub run: String,
    /// Part of a round trip; `None` for the bare round trip from core to core.
    pub part: Option<Part>,
    /// Benchmarks that it accounts for.
    pub rows: Vec<Share>,
}

/// Change of a benchmark that a cost accounts for. Times are nanoseconds per round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Count per round trip in the baseline.
    pub count_then: f64,
    /// Nanoseconds of one occurrence in the baseline.
    pub cost_then_ns: f64,
    /// Count per round trip in the other run.
    pub count_now: f64,
    /// Nanoseconds of one occurrence in the other run.
    pub cost_now_ns: f64,
    /// Change of count times cost.
    pub part_ns: f64,
    /// Change of the benchmark.
    pub change_ns: f64,
}

/// Returns the costs that account for better or worse benchmarks, in descending order of their number.
pub(super) fn causes(baseline: NamedRun, new: NamedRun, rows: &[ComparedRow]) -> Vec<Cause> {
    let changed: Vec<_> =
        rows.iter().filter(|row| matches!(row.verdict, Change::Better | Change::Worse)).collect();
    let cases: Vec<_> = changed.iter().map(|row| row.case.clone()).collect();
    let explained = |side: NamedRun| {
        (!cases.is_empty() && !side.run.records.costs.is_empty()).then(|| explain(side.run, &cases))
    };
    let explanations = explained(baseline).zip(explained(new));
    let mut causes: Vec<Cause> = Vec::new();
    for row in changed {
        let of_terms = explanations.iter().flat_map(|(then, now)| terms(row, then, now));
        for (part, share) in of_terms.chain(core_to_core(baseline, new, row)) {
            if !ACCOUNTS.contains(&(share.part_ns / share.change_ns)) {
                continue;
            }
            match causes.iter_mut().find(|cause| cause.part == part) {
                Some(cause) => cause.rows.push(share),
                None => causes.push(Cause { run: new.name.to_owned(), part, rows: vec![share] }),
            }
        }
    }
    sort_by_key(&mut causes, |cause| std::cmp::Reverse(cause.rows.len()));
    causes
}

/// Returns each part of the round trip that both explanations contain.
fn terms(row: &ComparedRow, then: &Explanation, now: &Explanation) -> Vec<(Option<Part>, Share)> {
    let of = |explanation: &Explanation| -> Vec<Term> {
        let found = explanation.rows.iter().find(|explained| explained.case == row.case);
        found.map_or_else(Vec::new, |explained| explained.terms.clone())
    };
    let (then, now) = (of(then), of(now));
    let paired = |term: &Term| {
        let is_it = |other: &&Term| (other.name, &other.of) == (term.name, &term.of);
        Some((term.clone(), now.iter().find(is_it)?.clone()))
    };
    then.iter()
        .filter_map(paired)
        .map(|(then, now)| {
            (Some(then.name), share(row, [then.count, now.count], [then.cost_ns, now.cost_ns]))
        })
        .collect()
}

fn share(row: &ComparedRow, [then, now]: [f64; 2], [then_ns, now_ns]: [f64; 2]) -> Share {
    Share {
        case: row.case.clone(),
        count_then: then,
        cost_then_ns: then_ns,
        count_now: now,
        cost_now_ns: now_ns,
        part_ns: tidy(now * now_ns - then * then_ns),
        change_ns: tidy(row.new_ns - row.baseline_ns),
    }
}

/// Returns the bare core-to-core round trip, if the benchmark contains at least one and the readings of the runs do not
/// overlap.
fn core_to_core(baseline: NamedRun, new: NamedRun, row: &ComparedRow) -> Option<(Option<Part>, Share)> {
    let spins_across = row.case.wait.kind() == WaitKind::Spinning
        && on_two_processors(row.case.placement)
        && !row.case.pattern().is_one_way();
    let [then, now] = [baseline, new].map(|side| side.run.summary.run.noise.core_to_core_ns);
    let (then, now) = then.zip(now).filter(|_| spins_across)?;
    let apart = then.max < now.min || now.max < then.min;
    apart.then(|| (None, share(row, [1.0, 1.0], [then.median, now.median])))
}

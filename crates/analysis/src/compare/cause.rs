//! Which measured cost accounts for a row's change. Nothing is said without figures of both runs.
//!
//! Where both runs have costs and counts, a round trip is taken apart in both (see `explain`), and a part is named
//! that changed about as much as the row. In any run the bare core-to-core time is known, which rows that spin across
//! two cores pay at least once.

use super::row::{Change, ComparedRow};
use crate::NamedRun;
use crate::{Explanation, Part, Term, checks::on_two_processors, explain};
use furlong_model::{Case, WaitKind};
use furlong_stats::{sort_by_key, tidy};
use serde::Serialize;

/// The part of a row's change that a cost must account for: half of it, and not half as much again.
const ACCOUNTS: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// A cost that accounts for the change of at least one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The run that is compared with the baseline.
    pub run: String,
    /// The part of a round trip that is paid; `None` for the bare round trip from core to core.
    pub part: Option<Part>,
    /// The rows that it accounts for.
    pub rows: Vec<Share>,
}

/// What a cost accounts for in one row. Times are nanoseconds of a round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// How often it is paid in the baseline.
    pub count_then: f64,
    /// What it costs once there.
    pub cost_then_ns: f64,
    /// How often it is paid in the other run.
    pub count_now: f64,
    /// What it costs once there.
    pub cost_now_ns: f64,
    /// What all of it changed by.
    pub part_ns: f64,
    /// What the row changed by.
    pub change_ns: f64,
}

/// The costs that account for rows that are better or worse, those of the most rows first.
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

/// Each part of the round trip that both explanations know.
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

/// The bare core-to-core round trip, where the row has at least that in it and readings of the two runs are apart.
fn core_to_core(baseline: NamedRun, new: NamedRun, row: &ComparedRow) -> Option<(Option<Part>, Share)> {
    let spins_across = row.case.wait.kind() == WaitKind::Spinning
        && on_two_processors(row.case.placement)
        && !row.case.pattern().is_one_way();
    let [then, now] = [baseline, new].map(|side| side.run.summary.run.noise.core_to_core_ns);
    let (then, now) = then.zip(now).filter(|_| spins_across)?;
    let apart = then.max < now.min || now.max < then.min;
    apart.then(|| (None, share(row, [1.0, 1.0], [then.median, now.median])))
}

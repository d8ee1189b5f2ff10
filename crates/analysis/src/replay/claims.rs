//! Tests of an experiment's claims with the measured figures. A claim is untested if a figure is missing, and open if
//! intervals overlap.

use super::{
    BestSize, ReplayRow,
    compare::fastest,
    fastest::{against_all, beaten_by, published},
};
use furlong_model::{Claim, Evidence, Experiment, Figure, Meaning, Statement};
use furlong_stats::distinct;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Verdict on a claim at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// Claim in words.
    pub text: String,
    /// Size of the test; `None` for a claim about sizes.
    pub size_bytes: Option<usize>,
    /// Status of the claim.
    pub status: ClaimStatus,
    /// Published ratio of the claim. Above 1, the benchmark that is claimed to be fast is faster.
    pub ratio_then: Option<f64>,
    /// Measured ratio of the claim.
    pub ratio_now: Option<f64>,
    /// Reason for the status.
    #[serde(rename = "reason_data")]
    pub reason: ClaimReason,
    /// Proxies that were measured instead of published mechanisms of the claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<String>,
}

/// Basis of a verdict on a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ClaimReason {
    /// Benchmarks of the claim have no figure.
    NoFigure {
        /// Names of the benchmarks.
        of: Vec<String>,
    },
    /// Benchmarks of the claim have too few trials for an interval.
    NoInterval {
        /// Names of the benchmarks.
        of: Vec<String>,
    },
    /// Only the benchmark of the claim was measured.
    NothingElse,
    /// A figure is 0.
    FigureIsZero,
    /// Comparison with the fastest of all other benchmarks, by the ratios of the claim.
    AgainstNext {
        /// Fastest of the other benchmarks now.
        next: String,
        /// Other benchmarks without a figure or an interval, which could be faster. They are listed if the claim holds.
        missing: Vec<String>,
    },
    /// Comparison of one benchmark with another, by the ratios of the claim.
    AgainstOther,
    /// Comparison of two benchmarks for equality, by the ratios of the claim.
    Alike {
        /// Maximum ratio of two benchmarks that are alike.
        within: f64,
    },
    /// A benchmark was not measured with several sizes of one total.
    NotSeveralSizes {
        /// Name of the benchmark.
        row: String,
    },
    /// Comparison of the best size.
    BestSize {
        /// Best size now, in bytes.
        size_bytes: usize,
        /// Sizes that tie with it.
        tied_with: Vec<usize>,
    },
    /// Evidence of a probe.
    Evidence {
        /// The promise that was probed.
        meaning: Meaning,
        /// The evidence.
        evidence: Evidence,
    },
    /// The meaning cannot be tested on this machine.
    NotTestable {
        /// The reason.
        why: String,
    },
}

/// Factor above a claimed ratio beyond which the claim no longer describes this machine.
const FAR_BEYOND: f64 = 2.0;

/// Status of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimStatus {
    /// The claim is significantly true here.
    Holds,
    /// The direction is significantly true here, and the ratio is significantly more than the claim's maximum, or than twice the
    /// claimed one.
    HoldsInDirection,
    /// The claim is significantly false here.
    Falls,
    /// The intervals allow both.
    CannotBeTold,
    /// A benchmark of the claim has no usable figure.
    NotTested,
}

impl ClaimStatus {
    /// Returns the status for a ratio on the claimed side (`true`), on the other side (`false`) or on neither (`None`).
    pub(super) fn of(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => ClaimStatus::Holds,
            Some(false) => ClaimStatus::Falls,
            None => ClaimStatus::CannotBeTold,
        }
    }
}

/// Result of one statement, before it is combined with its claim.
struct StatementResult {
    status: ClaimStatus,
    then: Option<f64>,
    now: Option<f64>,
    reason: ClaimReason,
}

/// Returns the verdict on every claim, at each of its sizes.
pub(super) fn all(experiment: &Experiment, rows: &[ReplayRow], best_sizes: &[BestSize]) -> Vec<ClaimVerdict> {
    experiment.claims.iter().flat_map(|claim| at_each_size(experiment, claim, rows, best_sizes)).collect()
}

fn at_each_size(
    experiment: &Experiment,
    claim: &Claim,
    rows: &[ReplayRow],
    best_sizes: &[BestSize],
) -> Vec<ClaimVerdict> {
    let figure = experiment.measure.order_by;
    let verdict = |size_bytes: Option<usize>, tested: StatementResult| ClaimVerdict {
        text: claim.text.clone(),
        size_bytes,
        status: tested.status,
        ratio_then: tested.then,
        ratio_now: tested.now,
        proxies: proxies(claim, &tested, rows),
        reason: tested.reason,
    };
    if let Statement::BestSize { row, size_bytes } = &claim.states {
        return vec![verdict(None, best_size(best_sizes, row, *size_bytes))];
    }
    let sizes = experiment.measure.sizes_bytes.iter().copied().filter(|size| claim.is_about(*size));
    let at = |size: usize| {
        let of_size: Vec<_> = rows.iter().filter(|row| row.size_bytes == size).collect();
        let named = |name: &String| of_size.iter().copied().find(|row| row.mechanism == *name);
        let tested = match &claim.states {
            Statement::Fastest(row) => is_fastest(named(row)?, published(rows, size, figure), figure),
            Statement::Faster { row, than, times, at_most } => {
                is_faster(named(row)?, named(than)?, (*times, *at_most), figure)
            }
            Statement::Alike { rows: [a, b], within } => are_alike(named(a)?, named(b)?, *within, figure),
            Statement::BestSize { .. } => return None,
        };
        Some(verdict(Some(size), tested))
    };
    sizes.filter_map(at).collect()
}

/// Returns the proxies for the published mechanisms that decided a claim.
fn proxies(claim: &Claim, tested: &StatementResult, rows: &[ReplayRow]) -> Vec<String> {
    let mut names = match &claim.states {
        Statement::Fastest(row) | Statement::BestSize { row, .. } => vec![row],
        Statement::Faster { row, than, .. } => vec![row, than],
        Statement::Alike { rows: [a, b], .. } => vec![a, b],
    };
    if let ClaimReason::AgainstNext { next, .. } = &tested.reason {
        names.push(next);
    }
    let is_tested = tested.status != ClaimStatus::NotTested;
    let named = rows.iter().filter(|row| is_tested && names.contains(&&row.mechanism));
    distinct(named.filter_map(|row| row.counterpart.clone()))
}

fn untested(reason: ClaimReason, then: Option<f64>) -> StatementResult {
    StatementResult { status: ClaimStatus::NotTested, then, now: None, reason }
}

/// Returns the names of the benchmarks that `lacks` accepts.
fn names<'a>(
    rows: impl IntoIterator<Item = &'a ReplayRow>,
    lacks: impl Fn(&ReplayRow) -> bool,
) -> Vec<String> {
    rows.into_iter().filter(|row| lacks(row)).map(|row| row.mechanism.clone()).collect()
}

/// Returns why these benchmarks are not compared: a figure or an interval is missing; `instead` if all have both.
fn missing(rows: &[&ReplayRow], figure: Figure, instead: ClaimReason) -> ClaimReason {
    let rows = || rows.iter().copied();
    let (unmeasured, untold) =
        (names(rows(), |row| row.now(figure).is_none()), names(rows(), |row| !row.has_interval(figure)));
    match () {
        () if !unmeasured.is_empty() => ClaimReason::NoFigure { of: unmeasured },
        () if !untold.is_empty() => ClaimReason::NoInterval { of: untold },
        () => instead,
    }
}

fn is_fastest<'a>(
    row: &ReplayRow,
    all: impl Iterator<Item = &'a ReplayRow> + Clone,
    figure: Figure,
) -> StatementResult {
    let others = all.filter(|other| other.mechanism != row.mechanism);
    let then = fastest(figure, others.clone(), |other| other.then(figure))
        .and_then(|other| row.times_as_fast_as_then(other, figure));
    let best = beaten_by(row, others.clone(), figure)
        .or_else(|| fastest(figure, others.clone(), |other| other.now(figure).map(|now| now.value)));
    let (Some(order), Some(best)) = (against_all(row, others.clone(), figure), best) else {
        let measured: Vec<_> = others.filter(|other| other.now(figure).is_some()).collect();
        let reason = missing(&measured, figure, ClaimReason::NothingElse);
        return untested(missing(&[row], figure, reason), then);
    };
    let ratio = row.times_as_fast_as(best, figure).map(|ratio| ratio.value);
    // A missing benchmark could be faster than all others.
    let (status, missing) = match order {
        Ordering::Greater => (ClaimStatus::Holds, names(others, |other| !other.has_interval(figure))),
        Ordering::Less => (ClaimStatus::Falls, Vec::new()),
        Ordering::Equal => (ClaimStatus::CannotBeTold, Vec::new()),
    };
    let reason = ClaimReason::AgainstNext { next: best.mechanism.clone(), missing };
    StatementResult { status, then, now: ratio, reason }
}

fn is_faster(
    row: &ReplayRow,
    than: &ReplayRow,
    (limit, at_most): (f64, Option<f64>),
    figure: Figure,
) -> StatementResult {
    let then = row.times_as_fast_as_then(than, figure);
    let Some(ratio) = row.times_as_fast_as(than, figure).filter(|ratio| ratio.ends.is_some()) else {
        return untested(missing(&[row, than], figure, ClaimReason::FigureIsZero), then);
    };
    let beyond = at_most.or((limit > 1.0).then_some(FAR_BEYOND * limit));
    let status = match ClaimStatus::of(ratio.against(limit).map(Ordering::is_gt)) {
        // Without a claimed ratio, any ratio above 1 confirms the claim.
        ClaimStatus::Holds if beyond.is_some_and(|most| ratio.against(most) == Some(Ordering::Greater)) => {
            ClaimStatus::HoldsInDirection
        }
        status => status,
    };
    StatementResult { status, then, now: Some(ratio.value), reason: ClaimReason::AgainstOther }
}

fn are_alike(a: &ReplayRow, b: &ReplayRow, within: f64, figure: Figure) -> StatementResult {
    let then = a.times_as_fast_as_then(b, figure);
    let Some(ratio) = a.times_as_fast_as(b, figure).filter(|ratio| ratio.ends.is_some()) else {
        return untested(missing(&[a, b], figure, ClaimReason::FigureIsZero), then);
    };
    let alike = match (ratio.against(1.0 / within), ratio.against(within)) {
        (Some(Ordering::Greater), Some(Ordering::Less)) => Some(true),
        (Some(Ordering::Less), _) | (_, Some(Ordering::Greater)) => Some(false),
        _ => None,
    };
    let reason = ClaimReason::Alike { within };
    StatementResult { status: ClaimStatus::of(alike), then, now: Some(ratio.value), reason }
}

/// Tests a claim about the best size. It has no ratio, because a ratio of sizes is meaningless.
fn best_size(best_sizes: &[BestSize], row: &str, size_bytes: usize) -> StatementResult {
    let best = best_sizes.iter().find(|best| best.mechanism == row);
    let Some(now) = best.and_then(|best| best.now.as_ref()) else {
        return untested(ClaimReason::NotSeveralSizes { row: row.to_owned() }, None);
    };
    if now.figure.ci95.is_none() {
        return untested(ClaimReason::NoInterval { of: vec![row.to_owned()] }, None);
    }
    let status = if now.size_bytes == size_bytes && now.tied_with.is_empty() {
        ClaimStatus::Holds
    } else if now.size_bytes == size_bytes || now.tied_with.contains(&size_bytes) {
        ClaimStatus::CannotBeTold
    } else {
        ClaimStatus::Falls
    };
    let reason = ClaimReason::BestSize { size_bytes: now.size_bytes, tied_with: now.tied_with.clone() };
    StatementResult { status, then: None, now: None, reason }
}

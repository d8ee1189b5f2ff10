//! What was claimed, tested with what was measured. What is missing is not tested, and what overlaps is not told.

use super::{
    BestSize, ReplayRow,
    compare::fastest,
    fastest::{against_all, beaten_by, published},
};
use furlong_model::{Claim, Experiment, Figure, Statement};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A claim at one size, tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// The claim, in words.
    pub text: String,
    /// The size that it was tested at; `None` where it is about sizes.
    pub size_bytes: Option<usize>,
    /// What became of it.
    pub status: ClaimStatus,
    /// The ratio that it is about, by the published figures: above 1 the row that is claimed to be fast is faster.
    pub ratio_then: Option<f64>,
    /// The same ratio now.
    pub ratio_now: Option<f64>,
    /// Why it is so.
    #[serde(rename = "reason_data")]
    pub reason: ClaimReason,
}

/// What a claim was judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ClaimReason {
    /// Rows that it is about have no figure.
    NoFigure {
        /// Which.
        of: Vec<String>,
    },
    /// Rows that it is about have too few trials for an interval.
    NoInterval {
        /// Their names.
        of: Vec<String>,
    },
    /// Nothing but the row that it is about is measured.
    NothingElse,
    /// A figure is 0.
    FigureIsZero,
    /// The row against the fastest of all others, by the ratios of the claim.
    AgainstNext {
        /// The fastest of the others now.
        next: String,
        /// Others without a figure or an interval, which could still be faster; named where the claim holds.
        missing: Vec<String>,
    },
    /// One row against another, by the ratios of the claim.
    AgainstOther,
    /// Two rows, by the ratios of the claim.
    Alike {
        /// How many times as fast one of two that are alike is at most.
        within: f64,
    },
    /// A row is not measured with several sizes of one total.
    NotSeveralSizes {
        /// Which.
        row: String,
    },
    /// The best size now.
    BestSize {
        /// Which.
        size_bytes: usize,
        /// Those that cannot be told apart from it.
        tied_with: Vec<usize>,
    },
}

/// Multiple of a claimed factor above which the claim no longer describes this machine.
const FAR_BEYOND: f64 = 2.0;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimStatus {
    /// It is true here, for sure.
    Holds,
    /// The direction is true here, for sure, and the factor is more than twice the claimed one, for sure.
    HoldsInDirection,
    /// It is not true here, for sure.
    Falls,
    /// The intervals leave it open.
    CannotBeTold,
    /// A row that it is about is not measured.
    NotTested,
}

impl ClaimStatus {
    /// From whether a ratio is on the claimed side.
    fn of(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => ClaimStatus::Holds,
            Some(false) => ClaimStatus::Falls,
            None => ClaimStatus::CannotBeTold,
        }
    }
}

/// What became of one statement, before it is put beside its claim.
struct Tested {
    status: ClaimStatus,
    then: Option<f64>,
    now: Option<f64>,
    reason: ClaimReason,
}

/// Every claim, at each size that it is about.
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
    let verdict = |size_bytes: Option<usize>, tested: Tested| ClaimVerdict {
        text: claim.text.clone(),
        size_bytes,
        status: tested.status,
        ratio_then: tested.then,
        ratio_now: tested.now,
        reason: tested.reason,
    };
    if let Statement::BestSize { row, size_bytes } = &claim.states {
        return vec![verdict(None, best_size(best_sizes, row, *size_bytes))];
    }
    let sizes = claim.size_bytes.map_or_else(|| experiment.measure.sizes_bytes.clone(), |size| vec![size]);
    let at = |size: usize| {
        let of_size: Vec<_> = rows.iter().filter(|row| row.size_bytes == size).collect();
        let named = |name: &String| of_size.iter().copied().find(|row| row.mechanism == *name);
        let tested = match &claim.states {
            Statement::Fastest(row) => is_fastest(named(row)?, published(rows, size, figure), figure),
            Statement::Faster { row, than, times } => is_faster(named(row)?, named(than)?, *times, figure),
            Statement::Alike { rows: [a, b], within } => are_alike(named(a)?, named(b)?, *within, figure),
            Statement::BestSize { .. } => return None,
        };
        Some(verdict(Some(size), tested))
    };
    sizes.into_iter().filter_map(at).collect()
}

fn untested(reason: ClaimReason, then: Option<f64>) -> Tested {
    Tested { status: ClaimStatus::NotTested, then, now: None, reason }
}

/// Returns the names of rows that `lacks` is true of.
fn names<'a>(
    rows: impl IntoIterator<Item = &'a ReplayRow>,
    lacks: impl Fn(&ReplayRow) -> bool,
) -> Vec<String> {
    rows.into_iter().filter(|row| lacks(row)).map(|row| row.mechanism.clone()).collect()
}

/// Returns why these rows are not compared: a figure or an interval is missing; `instead` if all have both.
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
) -> Tested {
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
    // One missing row could still be faster than all others.
    let (status, missing) = match order {
        Ordering::Greater => (ClaimStatus::Holds, names(others, |other| !other.has_interval(figure))),
        Ordering::Less => (ClaimStatus::Falls, Vec::new()),
        Ordering::Equal => (ClaimStatus::CannotBeTold, Vec::new()),
    };
    let reason = ClaimReason::AgainstNext { next: best.mechanism.clone(), missing };
    Tested { status, then, now: ratio, reason }
}

fn is_faster(row: &ReplayRow, than: &ReplayRow, limit: f64, figure: Figure) -> Tested {
    let then = row.times_as_fast_as_then(than, figure);
    let Some(ratio) = row.times_as_fast_as(than, figure).filter(|ratio| ratio.ends.is_some()) else {
        return untested(missing(&[row, than], figure, ClaimReason::FigureIsZero), then);
    };
    let status = match ClaimStatus::of(ratio.against(limit).map(Ordering::is_gt)) {
        // Without a claimed factor, any factor above 1 is what was claimed.
        ClaimStatus::Holds if limit > 1.0 && ratio.against(FAR_BEYOND * limit) == Some(Ordering::Greater) => {
            ClaimStatus::HoldsInDirection
        }
        status => status,
    };
    Tested { status, then, now: Some(ratio.value), reason: ClaimReason::AgainstOther }
}

fn are_alike(a: &ReplayRow, b: &ReplayRow, within: f64, figure: Figure) -> Tested {
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
    Tested { status: ClaimStatus::of(alike), then, now: Some(ratio.value), reason }
}

/// A ratio of sizes means nothing, so there is none.
fn best_size(best_sizes: &[BestSize], row: &str, size_bytes: usize) -> Tested {
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
    Tested { status, then: None, now: None, reason }
}

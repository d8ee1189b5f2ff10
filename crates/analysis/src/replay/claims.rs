//! What was claimed, tested with what was measured. What is missing is not tested, and what overlaps is not told.

use super::{
    BestSize, ReplayRow,
    compare::{fastest, in_words},
    fastest::{against_all, beaten_by, published},
};
use crate::text::three_digits;
use furlong_model::{Claim, Experiment, Figure, Statement, format_bytes};
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
    /// Why it is so, in words.
    pub reason: String,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimStatus {
    /// It is true here, for sure.
    Holds,
    /// It is not true here, for sure.
    Falls,
    /// The intervals leave it open.
    CannotBeTold,
    /// A row that it is about is not measured.
    NotTested,
}

impl ClaimStatus {
    /// In words, after "the claim".
    pub const fn in_words(self) -> &'static str {
        match self {
            ClaimStatus::Holds => "holds",
            ClaimStatus::Falls => "is no longer true",
            ClaimStatus::CannotBeTold => "cannot be decided",
            ClaimStatus::NotTested => "was not tested",
        }
    }

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
    reason: String,
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

fn untested(reason: String, then: Option<f64>) -> Tested {
    Tested { status: ClaimStatus::NotTested, then, now: None, reason }
}

/// The names of those that have no figure now.
fn missing(rows: &[&ReplayRow], figure: Figure) -> Option<String> {
    let missing: Vec<_> =
        rows.iter().filter(|row| row.now(figure).is_none()).map(|row| row.mechanism.clone()).collect();
    (!missing.is_empty()).then(|| format!("there is no figure of {}", in_words(&missing)))
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
        let reason = missing(&[row], figure).unwrap_or_else(|| "nothing else is measured".to_owned());
        return untested(reason, then);
    };
    let ratio = row.times_as_fast_as(best, figure).map(|ratio| ratio.value);
    let absent: Vec<_> = others.filter(|other| other.now(figure).is_none()).collect();
    // One missing row could still be faster than all others.
    let (status, but) = match (order, missing(&absent, figure)) {
        (Ordering::Greater, Some(missing)) => {
            (ClaimStatus::Holds, format!(" among the rows measured; {missing}"))
        }
        (Ordering::Greater, None) => (ClaimStatus::Holds, String::new()),
        (Ordering::Less, _) => (ClaimStatus::Falls, String::new()),
        (Ordering::Equal, _) => (ClaimStatus::CannotBeTold, String::new()),
    };
    let reason = format!(
        "{} times as fast as the next one then, {} times as fast as {} now{but}",
        known(then),
        known(ratio),
        best.mechanism
    );
    Tested { status, then, now: ratio, reason }
}

/// A ratio in words.
fn known(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "?".to_owned(), three_digits)
}

/// A ratio of two rows that the claim names, then and now.
fn then_and_now(then: Option<f64>, now: f64) -> String {
    match then {
        Some(then) => format!("{} times as fast then, {} times now", three_digits(then), three_digits(now)),
        None => format!("{} times as fast now", three_digits(now)),
    }
}

fn is_faster(row: &ReplayRow, than: &ReplayRow, limit: f64, figure: Figure) -> Tested {
    let then = row.times_as_fast_as_then(than, figure);
    let Some(ratio) = row.times_as_fast_as(than, figure) else {
        let reason = missing(&[row, than], figure).unwrap_or_else(|| "a figure is 0".to_owned());
        return untested(reason, then);
    };
    let status = ClaimStatus::of(ratio.against(limit).map(Ordering::is_gt));
    let reason = then_and_now(then, ratio.value);
    Tested { status, then, now: Some(ratio.value), reason }
}

fn are_alike(a: &ReplayRow, b: &ReplayRow, within: f64, figure: Figure) -> Tested {
    let then = a.times_as_fast_as_then(b, figure);
    let Some(ratio) = a.times_as_fast_as(b, figure) else {
        let reason = missing(&[a, b], figure).unwrap_or_else(|| "a figure is 0".to_owned());
        return untested(reason, then);
    };
    let alike = match (ratio.against(1.0 / within), ratio.against(within)) {
        (Some(Ordering::Greater), Some(Ordering::Less)) => Some(true),
        (Some(Ordering::Less), _) | (_, Some(Ordering::Greater)) => Some(false),
        _ => None,
    };
    let percent = (within - 1.0) * 100.0;
    let reason = format!("{}; alike is up to {percent:.0} % apart", then_and_now(then, ratio.value));
    Tested { status: ClaimStatus::of(alike), then, now: Some(ratio.value), reason }
}

/// A ratio of sizes means nothing, so there is none.
fn best_size(best_sizes: &[BestSize], row: &str, size_bytes: usize) -> Tested {
    let best = best_sizes.iter().find(|best| best.mechanism == row);
    let Some(now) = best.and_then(|best| best.now.as_ref()) else {
        return untested(format!("{row} is not measured with several sizes of one total"), None);
    };
    let ties = || now.tied_with.iter().map(|size| format_bytes(*size)).collect::<Vec<_>>();
    let named = format_bytes(now.size_bytes);
    let (status, reason) = if now.size_bytes == size_bytes && now.tied_with.is_empty() {
        (ClaimStatus::Holds, format!("{named} is best now too"))
    } else if now.size_bytes == size_bytes || now.tied_with.contains(&size_bytes) {
        let ties = in_words(&ties());
        (ClaimStatus::CannotBeTold, format!("{named} comes first now, and cannot be told apart from {ties}"))
    } else {
        (ClaimStatus::Falls, format!("{named} is best now"))
    };
    Tested { status, then: None, now: None, reason }
}

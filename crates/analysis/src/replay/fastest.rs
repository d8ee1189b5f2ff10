//! Fastest benchmark of each size, then and now.

use super::{ReplayRow, compare::fastest};
use furlong_model::{Figure, Measure};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Returns the fastest published benchmark of a size, the first of equal ones.
pub(super) fn then(rows: &[ReplayRow], size_bytes: usize, figure: Figure) -> Option<&ReplayRow> {
    fastest(figure, published(rows, size_bytes, figure), |row| row.then(figure))
}

/// Returns the benchmarks of a size that have a published figure.
pub(super) fn published(
    rows: &[ReplayRow],
    size_bytes: usize,
    figure: Figure,
) -> impl Iterator<Item = &ReplayRow> + Clone {
    rows.iter().filter(move |row| row.size_bytes == size_bytes && row.then(figure).is_some())
}

/// Sets the ratio of each benchmark to the fastest published one of its size, then and now.
pub(super) fn set_ratios(rows: &mut [ReplayRow], measure: &Measure) {
    let figure = measure.order_by;
    for size in &measure.sizes_bytes {
        let Some(reference) = then(rows, *size, figure).cloned() else { continue };
        for row in rows.iter_mut().filter(|row| row.size_bytes == *size) {
            row.ratio_then = reference.times_as_fast_as_then(row, figure);
            row.ratio_now = reference.times_as_fast_as(row, figure).map(|ratio| ratio.value);
        }
    }
}

/// Benchmark that was the fastest of a size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FastestThen {
    /// Message size in bytes.
    pub size_bytes: usize,
    /// Name of the benchmark in the publication.
    pub mechanism: String,
    /// Its rank now.
    pub became: RankChange,
}

/// Current rank of the benchmark that was the fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RankChange {
    /// It is still significantly the fastest.
    Still {
        /// Fastest of the others.
        next: String,
        /// Factor by which it is faster than the next one.
        times: f64,
    },
    /// Another benchmark is significantly faster.
    Beaten {
        /// Name of the faster benchmark.
        by: String,
        /// Factor by which that is faster.
        times: f64,
    },
    /// It ties with others.
    Untold {
        /// Names of the tied benchmarks.
        tied_with: Vec<String>,
    },
    /// It has too few trials for an interval, or all others have.
    NoInterval,
    /// It was not measured now.
    NotMeasured,
    /// No other benchmark was measured now.
    Alone,
}

/// Returns the current rank of the fastest benchmark for each size with at least two published figures.
pub(super) fn all(rows: &[ReplayRow], measure: &Measure) -> Vec<FastestThen> {
    let of = |size_bytes: &usize| {
        let contenders: Vec<_> = published(rows, *size_bytes, measure.order_by).collect();
        let was = then(rows, *size_bytes, measure.order_by).filter(|_| contenders.len() > 1)?;
        let became = became(was, &contenders, measure.order_by)?;
        Some(FastestThen { size_bytes: *size_bytes, mechanism: was.mechanism.clone(), became })
    };
    measure.sizes_bytes.iter().filter_map(of).collect()
}

fn became(was: &ReplayRow, contenders: &[&ReplayRow], figure: Figure) -> Option<RankChange> {
    let others = contenders.iter().copied().filter(|row| row.mechanism != was.mechanism);
    if was.now(figure).is_none() {
        return Some(RankChange::NotMeasured);
    }
    let now = |row: &ReplayRow| row.now(figure).map(|now| now.value);
    let Some(best) = fastest(figure, others.clone(), now) else { return Some(RankChange::Alone) };
    Some(match against_all(was, others.clone(), figure) {
        None => RankChange::NoInterval,
        Some(Ordering::Greater) => {
            let times = was.times_as_fast_as(best, figure)?.value;
            RankChange::Still { next: best.mechanism.clone(), times }
        }
        Some(Ordering::Less) => {
            let by = beaten_by(was, others, figure)?;
            RankChange::Beaten { by: by.mechanism.clone(), times: by.times_as_fast_as(was, figure)?.value }
        }
        Some(Ordering::Equal) => {
            let tie = |row: &&ReplayRow| {
                let ratio = row.times_as_fast_as(was, figure).filter(|ratio| ratio.ends.is_some());
                ratio.is_some_and(|ratio| ratio.against(1.0).is_none())
            };
            RankChange::Untold { tied_with: others.filter(tie).map(|row| row.mechanism.clone()).collect() }
        }
    })
}

/// Benchmarks without published figures that are significantly faster than every published one of their size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FasterAdded {
    /// Message size in bytes.
    pub size_bytes: usize,
    /// Benchmarks by their names in the experiment.
    pub mechanisms: Vec<String>,
}

/// Returns the faster unpublished benchmarks of each size that has any.
pub(super) fn faster_added(rows: &[ReplayRow], measure: &Measure) -> Vec<FasterAdded> {
    let figure = measure.order_by;
    let of = |size: &usize| {
        let added = rows.iter().filter(|row| row.size_bytes == *size && row.published.is_empty());
        let beats_all = |row: &&ReplayRow| {
            against_all(row, published(rows, *size, figure), figure) == Some(Ordering::Greater)
        };
        let mechanisms: Vec<_> = added.filter(beats_all).map(|row| row.mechanism.clone()).collect();
        (!mechanisms.is_empty()).then_some(FasterAdded { size_bytes: *size, mechanisms })
    };
    measure.sizes_bytes.iter().filter_map(of).collect()
}

/// Compares `row` with those of `others` that were measured. Returns `Greater` if it is significantly faster than each of
/// them, `Less` if it is significantly slower than one, and `Equal` otherwise. Returns `None` if no comparison has
/// intervals.
pub(super) fn against_all<'a>(
    row: &ReplayRow,
    others: impl Iterator<Item = &'a ReplayRow>,
    figure: Figure,
) -> Option<Ordering> {
    let told: Vec<_> = others
        .filter_map(|other| row.times_as_fast_as(other, figure))
        .filter(|ratio| ratio.ends.is_some())
        .map(|ratio| ratio.against(1.0))
        .collect();
    match () {
        () if told.is_empty() => None,
        () if told.contains(&Some(Ordering::Less)) => Some(Ordering::Less),
        () if told.iter().all(|told| *told == Some(Ordering::Greater)) => Some(Ordering::Greater),
        () => Some(Ordering::Equal),
    }
}

/// Returns the fastest of `others` that are significantly faster than `row`.
pub(super) fn beaten_by<'a>(
    row: &ReplayRow,
    others: impl Iterator<Item = &'a ReplayRow>,
    figure: Figure,
) -> Option<&'a ReplayRow> {
    let beats = |other: &&ReplayRow| {
        let ratio = row.times_as_fast_as(other, figure);
        ratio.is_some_and(|ratio| ratio.against(1.0) == Some(Ordering::Less))
    };
    fastest(figure, others.filter(beats), |row| row.now(figure).map(|now| now.value))
}

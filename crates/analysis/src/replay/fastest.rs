//! Which row was the fastest of a size, and which one is now.

use super::{
    ReplayRow,
    compare::{fastest, in_words},
};
use crate::text::three_digits;
use furlong_model::{Figure, Measure};
use std::cmp::Ordering;

/// The fastest published row of a size; the first of equals.
pub(super) fn then(rows: &[ReplayRow], size_bytes: usize, figure: Figure) -> Option<&ReplayRow> {
    fastest(figure, published(rows, size_bytes, figure), |row| row.then(figure))
}

/// The rows of a size that have a published figure.
pub(super) fn published(
    rows: &[ReplayRow],
    size_bytes: usize,
    figure: Figure,
) -> impl Iterator<Item = &ReplayRow> + Clone {
    rows.iter().filter(move |row| row.size_bytes == size_bytes && row.then(figure).is_some())
}

/// Gives each row how many times as long it takes as the fastest published row of its size, then and now.
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

/// What became of the row that was the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Became {
    /// It still is, and for sure.
    Still,
    /// It cannot be told apart from another one.
    Untold,
    /// Another one is, for sure.
    Beaten,
    /// It was not measured, or nothing else was.
    Untested,
}

/// What became of the fastest row of a size, and a sentence that says so; `None` where fewer than two rows have
/// published figures.
pub(super) fn became(rows: &[ReplayRow], size_bytes: usize, figure: Figure) -> Option<(Became, String)> {
    let contenders: Vec<_> = published(rows, size_bytes, figure).collect();
    let was = then(rows, size_bytes, figure).filter(|_| contenders.len() > 1)?;
    let others = contenders.iter().copied().filter(|row| row.mechanism != was.mechanism);
    let name = &was.mechanism;
    if was.now(figure).is_none() {
        return Some((Became::Untested, format!("{name} was the fastest, and is not measured now")));
    }
    let now = |row: &ReplayRow| row.now(figure).map(|now| now.value);
    let Some(best) = fastest(figure, others.clone(), now) else {
        return Some((Became::Untested, format!("{name} was the fastest, and nothing else is measured now")));
    };
    Some(match against_all(was, others.clone(), figure) {
        Some(Ordering::Greater) => {
            let ratio = was.times_as_fast_as(best, figure)?.value;
            let next = &best.mechanism;
            (
                Became::Still,
                format!("{name} is still the fastest, {} times as fast as {next}", three_digits(ratio)),
            )
        }
        Some(Ordering::Less) => {
            let next = beaten_by(was, others, figure)?;
            let ratio = next.times_as_fast_as(was, figure)?.value;
            let next = &next.mechanism;
            let sentence =
                format!("{name} is no longer the fastest: {next} is, {} times as fast", three_digits(ratio));
            (Became::Beaten, sentence)
        }
        _ => {
            let tie = |row: &&ReplayRow| {
                row.times_as_fast_as(was, figure).is_some_and(|ratio| ratio.against(1.0).is_none())
            };
            let ties: Vec<_> = others.filter(tie).map(|row| row.mechanism.clone()).collect();
            let sentence =
                format!("{name} was the fastest, and cannot be told apart now from {}", in_words(&ties));
            (Became::Untold, sentence)
        }
    })
}

/// Whether `row` is for sure faster than each of `others` that was measured (`Greater`), for sure slower than one of
/// them (`Less`), or neither; `None` where it or all others have no figure.
pub(super) fn against_all<'a>(
    row: &ReplayRow,
    others: impl Iterator<Item = &'a ReplayRow>,
    figure: Figure,
) -> Option<Ordering> {
    let told: Vec<_> = others
        .filter_map(|other| row.times_as_fast_as(other, figure))
        .map(|ratio| ratio.against(1.0))
        .collect();
    match () {
        () if told.is_empty() => None,
        () if told.contains(&Some(Ordering::Less)) => Some(Ordering::Less),
        () if told.iter().all(|told| *told == Some(Ordering::Greater)) => Some(Ordering::Greater),
        () => Some(Ordering::Equal),
    }
}

/// The fastest of those among `others` that are for sure faster than `row`.
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

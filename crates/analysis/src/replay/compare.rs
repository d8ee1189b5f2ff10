//! Which of two figures is faster, and by how much. Figures whose intervals overlap are never called apart.

use super::{Measured, ReplayRow};
use furlong_model::Figure;
use furlong_stats::tidy;
use std::cmp::Ordering;

/// How many times as fast one row is as another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    /// By their medians.
    pub value: f64,
    /// With both intervals taken to the end that is worse for it, and to the better one; `None` without intervals.
    pub ends: Option<[f64; 2]>,
}

/// How many times as fast `row` is as `other`, by `figure`; `None` where a figure is nothing.
pub(super) fn times_as_fast(figure: Figure, row: Measured, other: Measured) -> Option<Ratio> {
    // Of two times the smaller one is faster.
    let (above, below) = if figure.is_rate() { (row, other) } else { (other, row) };
    let value = quotient(above.value, below.value)?;
    let ends = above
        .ci95
        .zip(below.ci95)
        .and_then(|([low, high], [least, most])| Some([quotient(low, most)?, quotient(high, least)?]));
    Some(Ratio { value, ends })
}

/// The same of two published figures, which have no intervals.
pub(super) fn times_as_fast_then(figure: Figure, row: f64, other: f64) -> Option<f64> {
    if figure.is_rate() { quotient(row, other) } else { quotient(other, row) }
}

fn quotient(above: f64, below: f64) -> Option<f64> {
    let quotient = above / below;
    (above > 0.0 && below > 0.0 && quotient.is_finite()).then(|| tidy(quotient))
}

impl Ratio {
    /// Whether it is above `limit` for sure, below it for sure, or neither (`None`).
    pub(super) fn against(&self, limit: f64) -> Option<Ordering> {
        let [low, high] = self.ends?;
        match () {
            () if low > limit => Some(Ordering::Greater),
            () if high < limit => Some(Ordering::Less),
            () => None,
        }
    }
}

impl ReplayRow {
    /// Its figure now, with which it is compared.
    pub(super) fn now(&self, figure: Figure) -> Option<Measured> {
        self.measured.get(&figure).copied()
    }

    /// Whether its figure has an interval, without which it is neither faster than, nor tied with another.
    pub(super) fn has_interval(&self, figure: Figure) -> bool {
        self.now(figure).is_some_and(|now| now.ci95.is_some())
    }

    /// Its figure then.
    pub(super) fn then(&self, figure: Figure) -> Option<f64> {
        self.published.get(&figure).copied()
    }

    /// How many times as fast it is now as `other`; `None` where one of the two has no figure.
    pub(super) fn times_as_fast_as(&self, other: &ReplayRow, figure: Figure) -> Option<Ratio> {
        times_as_fast(figure, self.now(figure)?, other.now(figure)?)
    }

    /// The same then.
    pub(super) fn times_as_fast_as_then(&self, other: &ReplayRow, figure: Figure) -> Option<f64> {
        times_as_fast_then(figure, self.then(figure)?, other.then(figure)?)
    }
}

/// The fastest of `rows` by what `value` says of each; the first of equals. `None` where none has a value.
pub(super) fn fastest<'a>(
    figure: Figure,
    rows: impl IntoIterator<Item = &'a ReplayRow>,
    value: impl Fn(&ReplayRow) -> Option<f64>,
) -> Option<&'a ReplayRow> {
    let speed = |row: &ReplayRow| value(row).map(|value| if figure.is_rate() { -value } else { value });
    let rows = rows.into_iter().filter_map(|row| Some((speed(row)?, row)));
    rows.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row)
}

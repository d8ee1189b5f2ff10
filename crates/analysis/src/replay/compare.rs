//! Comparison of two figures. Figures with overlapping intervals never count as different.

use super::{MeasuredFigure, ReplayRow};
use furlong_model::Figure;
use furlong_stats::tidy;
use std::cmp::Ordering;

/// Ratio of the speeds of two benchmarks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    /// Ratio of the medians.
    pub value: f64,
    /// Smallest and largest ratio that both intervals allow; `None` without intervals.
    pub ends: Option<[f64; 2]>,
}

/// Returns how many times as fast `row` is as `other`, by `figure`; `None` if a figure is zero.
pub(super) fn times_as_fast(figure: Figure, row: MeasuredFigure, other: MeasuredFigure) -> Option<Ratio> {
    // The smaller one of two times is faster.
    let (above, below) = if figure.is_rate() { (row, other) } else { (other, row) };
    let value = quotient(above.value, below.value)?;
    let ends = above
        .ci95
        .zip(below.ci95)
        .and_then(|([low, high], [least, most])| Some([quotient(low, most)?, quotient(high, least)?]));
    Some(Ratio { value, ends })
}

/// Returns the ratio of two published figures, which have no intervals.
pub(super) fn times_as_fast_then(figure: Figure, row: f64, other: f64) -> Option<f64> {
    if figure.is_rate() { quotient(row, other) } else { quotient(other, row) }
}

fn quotient(above: f64, below: f64) -> Option<f64> {
    let quotient = above / below;
    (above > 0.0 && below > 0.0 && quotient.is_finite()).then(|| tidy(quotient))
}

impl Ratio {
    /// Returns whether the ratio is significantly above or below `limit`, or neither (`None`).
    pub(crate) fn against(&self, limit: f64) -> Option<Ordering> {
        let [low, high] = self.ends?;
        match () {
            () if low > limit => Some(Ordering::Greater),
            () if high < limit => Some(Ordering::Less),
            () => None,
        }
    }
}

impl ReplayRow {
    /// Returns the measured figure.
    pub(super) fn now(&self, figure: Figure) -> Option<MeasuredFigure> {
        self.measured.get(&figure).copied()
    }

    /// Whether the measured figure has an interval. Without one, it is neither faster than nor tied with another.
    pub(super) fn has_interval(&self, figure: Figure) -> bool {
        self.now(figure).is_some_and(|now| now.ci95.is_some())
    }

    /// Returns the published figure.
    pub(crate) fn then(&self, figure: Figure) -> Option<f64> {
        self.published.get(&figure).copied()
    }

    /// Returns how many times as fast it is as `other` now; `None` if one of the two has no figure.
    pub(crate) fn times_as_fast_as(&self, other: &ReplayRow, figure: Figure) -> Option<Ratio> {
        times_as_fast(figure, self.now(figure)?, other.now(figure)?)
    }

    /// Returns the published ratio to `other`.
    pub(crate) fn times_as_fast_as_then(&self, other: &ReplayRow, figure: Figure) -> Option<f64> {
        times_as_fast_then(figure, self.then(figure)?, other.then(figure)?)
    }
}

/// Returns the fastest of `rows` by `value`, the first of equal ones. Returns `None` if none has a value.
pub(super) fn fastest<'a>(
    figure: Figure,
    rows: impl IntoIterator<Item = &'a ReplayRow>,
    value: impl Fn(&ReplayRow) -> Option<f64>,
) -> Option<&'a ReplayRow> {
    let speed = |row: &ReplayRow| value(row).map(|value| if figure.is_rate() { -value } else { value });
    let rows = rows.into_iter().filter_map(|row| Some((speed(row)?, row)));
    rows.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row)
}

//! Figures of a benchmark, with one value per trial, scaled to the quantities of the publication.

use super::row::{MeasuredFigure, ReplayRow};
use furlong_model::{Figure, RoleTally};
use furlong_stats::{distinct, median, median_interval, tidy};
use std::collections::BTreeMap;

/// Returns the figure of a rate over trials. It is the reciprocal of a time, so that rate times time is 1 for any number of
/// trials.
fn rate_over_trials(values: &[f64]) -> Option<MeasuredFigure> {
    let times: Vec<f64> = values.iter().map(|rate| 1.0 / rate).collect();
    let MeasuredFigure { value, ci95 } = over_trials(&times)?;
    Some(MeasuredFigure {
        value: tidy(1.0 / value),
        ci95: ci95.map(|[low, high]| [1.0 / high, 1.0 / low].map(tidy)),
    })
}

/// Returns the median over trials with its interval; `None` without trials, or if a value is not finite.
pub(super) fn over_trials(values: &[f64]) -> Option<MeasuredFigure> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let ci95 = median_interval(values).map(|ends| ends.map(tidy));
    Some(MeasuredFigure { value: tidy(median(values)?), ci95 })
}

/// Returns each of `figures` over all trials.
pub(super) fn table<T>(
    figures: &[Figure],
    trials: &[T],
    value: impl Fn(Figure, &T) -> Option<f64>,
) -> BTreeMap<Figure, MeasuredFigure> {
    let measured = |figure: &Figure| {
        let values: Option<Vec<_>> = trials.iter().map(|trial| value(*figure, trial)).collect();
        let over_trials = if figure.is_rate() { rate_over_trials } else { over_trials };
        Some((*figure, over_trials(&values?)?))
    };
    figures.iter().filter_map(measured).collect()
}

/// Returns a figure over both roles per round trip or repetition. Each role is divided by its own count, which may be
/// larger.
pub(super) fn per_round_trip(roles: &[RoleTally], figure: impl Fn(&RoleTally) -> u64) -> f64 {
    roles.iter().map(|role| figure(role) as f64 / role.round_trips as f64).sum()
}

/// Returns the figures that any benchmark has, then or now, in the order of tables.
pub(super) fn shown(rows: &[ReplayRow]) -> Vec<Figure> {
    distinct(rows.iter().flat_map(|row| row.published.keys().chain(row.measured.keys())).copied())
}

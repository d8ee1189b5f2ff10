//! Figures from the trials of a row, each trial giving one value, scaled to what the publication measured.

use super::row::{Measured, ReplayRow};
use furlong_model::{Figure, RoleTally};
use furlong_stats::{distinct, median, median_interval, tidy};
use std::collections::BTreeMap;

/// The same of a rate, as the reciprocal of a time: so rate times time is 1 for any number of trials.
fn rate_over_trials(values: &[f64]) -> Option<Measured> {
    let times: Vec<f64> = values.iter().map(|rate| 1.0 / rate).collect();
    let Measured { value, ci95 } = over_trials(&times)?;
    Some(Measured {
        value: tidy(1.0 / value),
        ci95: ci95.map(|[low, high]| [1.0 / high, 1.0 / low].map(tidy)),
    })
}

/// The median over trials with its interval; `None` without trials, or where a value is none.
pub(super) fn over_trials(values: &[f64]) -> Option<Measured> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let ci95 = median_interval(values).map(|ends| ends.map(tidy));
    Some(Measured { value: tidy(median(values)?), ci95 })
}

/// Each of `figures` over all trials.
pub(super) fn table<T>(
    figures: &[Figure],
    trials: &[T],
    value: impl Fn(Figure, &T) -> Option<f64>,
) -> BTreeMap<Figure, Measured> {
    let measured = |figure: &Figure| {
        let values: Option<Vec<_>> = trials.iter().map(|trial| value(*figure, trial)).collect();
        let over_trials = match figure {
            Figure::MessagesPerSecond | Figure::GigabytesPerSecond => rate_over_trials,
            _ => over_trials,
        };
        Some((*figure, over_trials(&values?)?))
    };
    figures.iter().filter_map(measured).collect()
}

/// A figure of both roles for one round trip, or repetition: each role by its own, since it may have counted more.
pub(super) fn per_round_trip(roles: &[RoleTally], figure: impl Fn(&RoleTally) -> u64) -> f64 {
    roles.iter().map(|role| figure(role) as f64 / role.round_trips as f64).sum()
}

/// The figures that some row has, then or now, in the order of tables.
pub(super) fn shown(rows: &[ReplayRow]) -> Vec<Figure> {
    distinct(rows.iter().flat_map(|row| row.published.keys().chain(row.measured.keys())).copied())
}

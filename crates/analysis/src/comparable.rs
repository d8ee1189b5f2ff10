//! What the rows of a group are ranked by: their medians, without what slowed all of them at the same moment.

use crate::trials::MeasuredTrial;
use furlong_stats::{Placed, adjusted, comparison_intervals, median, tidy};
use serde::Serialize;

/// The least time that has a logarithm or divides another: histograms hold whole nanoseconds, and half of one stands for none.
pub(crate) const LEAST_NS: f64 = 0.5;

/// The logarithm of a time in nanoseconds: what slows a machine down multiplies times.
pub(crate) fn logarithm(ns: f64) -> f64 {
    ns.max(LEAST_NS).ln()
}

/// The median of a row for comparisons with the others of its group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparable {
    /// The median of its trials' medians; where `adjusted`, as they would have been at one pace of the machine.
    pub median_ns: f64,
    /// Among rows that are the same, the intervals of all rows of the group overlap in 95 % of all runs. No narrower than
    /// what can be resolved.
    pub interval_ns: [f64; 2],
    /// Whether each trial was compared with those of other rows that ran next to it, and only those that could be.
    pub adjusted: bool,
}

impl Comparable {
    /// The same with an interval that is wider by what two medians must differ by to differ at all, half of it at each end.
    pub(crate) fn resolved(self, resolution_ns: f64) -> Self {
        let [low, high] = self.interval_ns;
        let half_ns = resolution_ns / 2.0;
        let interval_ns = [(low - half_ns).max(low.min(LEAST_NS)), high + half_ns].map(tidy);
        Comparable { interval_ns, ..self }
    }

    /// How many times as long as another row this one takes, with the smallest and the largest factor that the intervals of
    /// both allow.
    pub fn ratio_to(&self, other: &Comparable) -> (f64, [f64; 2]) {
        let ([low, high], [other_low, other_high]) = (self.interval_ns, other.interval_ns);
        (self.median_ns / other.median_ns, [low / other_high, high / other_low])
    }
}

/// That of each row of a group, from its trials; `None` for a row with too few of them.
pub(crate) fn comparables(rows: &[Vec<&MeasuredTrial>]) -> Vec<Option<Comparable>> {
    let placed = |row: usize, trial: &MeasuredTrial| {
        Some(Placed { row, position: trial.position, value: logarithm(trial.median_ns()?) })
    };
    let of_row = |(row, trials): (usize, &Vec<&MeasuredTrial>)| {
        trials.iter().filter_map(|trial| placed(row, trial)).collect::<Vec<_>>()
    };
    let by_row: Vec<Vec<Placed>> = rows.iter().enumerate().map(of_row).collect();
    let at_one_pace = adjusted(&by_row.concat(), rows.len());
    let is_adjusted = at_one_pace.is_some();
    let values = at_one_pace.unwrap_or_else(|| {
        by_row.iter().map(|row| row.iter().map(|placed| placed.value).collect()).collect()
    });
    let of = |(values, interval): (&Vec<f64>, Option<[f64; 2]>)| {
        Some(Comparable {
            median_ns: tidy(median(values)?.exp()),
            interval_ns: interval?.map(|end| tidy(end.exp())),
            adjusted: is_adjusted,
        })
    };
    values.iter().zip(comparison_intervals(&values)).map(of).collect()
}

//! Comparisons of rows of a group: by the rounds in which all of them ran, and without the pace of the machine in each round.

use crate::Row;
use crate::trials::MeasuredTrial;
use furlong_model::{Family, Pattern, Placement, WaitKind};
use furlong_stats::{Placed, RoundsRow, at_one_pace, comparison_intervals, median, tidy};
use serde::Serialize;

/// The least time that has a logarithm or divides another: histograms hold whole nanoseconds, and half of one stands for none.
pub(crate) const LEAST_NS: f64 = 0.5;

/// The logarithm of a time in nanoseconds: what slows a machine down multiplies times.
pub(crate) fn logarithm(ns: f64) -> f64 {
    ns.max(LEAST_NS).ln()
}

/// Interval of the median of a row, for comparisons with the other rows of its group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparable {
    /// Median of the trials in complete rounds; if `adjusted`, at one pace of the machine. Rows are ordered by `p50` and not by
    /// this.
    pub median_ns: f64,
    /// Interval of that median. Among equal rows, the intervals of all rows of the group overlap in 95 % of runs.
    pub interval_ns: [f64; 2],
    /// Whether the pace of the machine was removed from each trial.
    pub adjusted: bool,
}

impl Comparable {
    /// Returns the same with an interval that is wider by this share, half of it at each end, but does not reach below the
    /// fastest sample.
    pub(crate) fn resolved(self, resolution: f64, fastest_ns: f64) -> Self {
        let [low, high] = self.interval_ns;
        let interval_ns = [low * (1.0 - resolution / 2.0), high * (1.0 + resolution / 2.0)];
        Comparable { interval_ns: interval_ns.map(|end| tidy(end.max(fastest_ns))), ..self }
    }

    /// Returns the smallest and the largest ratio to another row that the intervals of both allow.
    pub(crate) fn ratio_to(&self, other: &Comparable) -> [f64; 2] {
        let ([low, high], [other_low, other_high]) = (self.interval_ns, other.interval_ns);
        [low / other_high.max(LEAST_NS), high / other_low.max(LEAST_NS)]
    }
}

/// Returns the kind of work that dominates a row: waking a process, moving cache lines, or system calls. A shared machine slows
/// each kind by another factor.
fn kind(row: &Row) -> usize {
    let case = &row.case;
    let wakes = case.wait.kind() == WaitKind::Sleeping
        && case.placement != Placement::OneProcess
        && !(case.pattern == Pattern::OneWay && case.arrival.is_closed_loop());
    match row.family {
        _ if wakes => 0,
        Some(Family::Memory | Family::Library) => 1,
        _ => 2,
    }
}

/// Compares the rows of a group by their trials; `None` for a row with too few of them.
pub(crate) fn comparables<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    trials: &[Vec<&MeasuredTrial>],
) -> Vec<Option<Comparable>> {
    let of_row = |row: &Row| RoundsRow { kind: kind(row), may_be_missing: row.failed_trials > 0 };
    let rows: Vec<RoundsRow> = rows.into_iter().map(of_row).collect();
    let placed = |(row, trials): (usize, &Vec<&MeasuredTrial>)| {
        let value = |trial: &MeasuredTrial| Some((trial.position, logarithm(trial.median_ns()?)));
        let values = trials.iter().filter_map(|trial| value(trial));
        values.map(|(position, value)| Placed { row, position, value }).collect::<Vec<_>>()
    };
    let found = at_one_pace(&trials.iter().enumerate().flat_map(placed).collect::<Vec<_>>(), &rows);
    let values: Vec<Vec<f64>> = found.iter().map(|row| row.values.clone()).collect();
    let intervals = comparison_intervals(&values);
    let of = |((values, adjusted), interval): ((&Vec<f64>, bool), Option<[f64; 2]>)| {
        Some(Comparable {
            median_ns: tidy(median(values)?.exp()),
            interval_ns: interval?.map(|end| tidy(end.exp())),
            adjusted,
        })
    };
    values.iter().zip(found.iter().map(|row| row.adjusted)).zip(intervals).map(of).collect()
}

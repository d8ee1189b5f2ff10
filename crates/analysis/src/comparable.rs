//! Intervals of the medians of rows for comparisons, and ratios of two medians.

use furlong_stats::tidy;
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

/// Ratio of the medians of two rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Quotient of the medians.
    pub times: f64,
    /// Interval of the ratio as printed, rounded outwards, for all rows of a group at once in 95 % of runs; `None` if either row
    /// has fewer than three trials.
    pub interval: Option<[f64; 2]>,
}

impl Ratio {
    /// Whether the interval contains 1.
    pub fn is_tie(&self) -> bool {
        self.interval.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)
    }
}

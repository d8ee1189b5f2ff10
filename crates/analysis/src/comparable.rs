//! Comparison intervals of the medians of benchmarks, and ratios of two medians.

use crate::text::significant;
use furlong_model::printed_ns;
use furlong_stats::tidy;
use serde::Serialize;

/// Smallest time for logarithms and divisions. Histograms contain whole nanoseconds, and half of one represents zero.
pub(crate) const LEAST_NS: f64 = 0.5;

/// Returns the logarithm of a time in nanoseconds, because a slowdown of the machine multiplies times.
pub(crate) fn logarithm(ns: f64) -> f64 {
    ns.max(LEAST_NS).ln()
}

/// Interval of a benchmark's median for comparisons with the others of its group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComparableInterval {
    /// Median of the trials in complete rounds. If `adjusted`, it is at one pace of the machine. Benchmarks are ordered by
    /// `p50` instead.
    pub median_ns: f64,
    /// Interval of that median. Among equal benchmarks, all intervals of the group overlap in 95 % of runs.
    pub interval_ns: [f64; 2],
    /// Whether the pace of the machine was removed from each trial.
    pub adjusted: bool,
}

impl ComparableInterval {
    /// Widens the interval by this share, half of it at each end, but not below the fastest sample.
    pub(crate) fn resolved(self, resolution: f64, fastest_ns: f64) -> Self {
        let [low, high] = self.interval_ns;
        let interval_ns = [low * (1.0 - resolution / 2.0), high * (1.0 + resolution / 2.0)];
        ComparableInterval { interval_ns: interval_ns.map(|end| tidy(end.max(fastest_ns))), ..self }
    }
}

/// Ratio of the medians of two benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Quotient of the medians.
    pub times: f64,
    /// Interval of the ratio as printed, rounded outwards. It holds in 95 % of runs for all benchmarks of a group together.
    /// `None` if either benchmark has fewer than three trials.
    pub interval: Option<[f64; 2]>,
}

/// Smallest ratio with a finite inverse.
const LEAST_RATIO: f64 = 1e-9;

impl Ratio {
    /// Compares two figures in nanoseconds by their intervals, if both have one. The interval of the ratio contains the
    /// quotient of the figures, exact and as printed.
    pub(crate) fn from_figures(figures: [f64; 2], intervals: Option<[[f64; 2]; 2]>) -> Ratio {
        let [one, other] = figures;
        if one < other {
            // The inverse ensures that both orders agree on a tie.
            let Ratio { interval, .. } =
                Ratio::from_figures([other, one], intervals.map(|[one, other]| [other, one]));
            // Rounding may set the lower end to 0.
            let inverted = |[low, high]: [f64; 2]| [1.0 / high, 1.0 / low.max(LEAST_RATIO)].map(tidy);
            return Ratio { times: tidy(one / other), interval: interval.map(inverted) };
        }
        let times = tidy(one / other.max(LEAST_NS));
        let printed = printed_ns(one) / printed_ns(other).max(LEAST_NS);
        let interval = intervals.map(|[[low, high], [other_low, other_high]]| {
            let [low, high] = [low / other_high.max(LEAST_NS), high / other_low.max(LEAST_NS)];
            [
                significant(low.min(times).min(printed), f64::floor),
                significant(high.max(times).max(printed), f64::ceil),
            ]
        });
        Ratio { times, interval }
    }

    /// Whether the interval contains 1.
    pub fn is_tie(&self) -> bool {
        self.interval.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_tie_if_an_interval_reaches_far_down() {
        let ratio =
            |a: (f64, [f64; 2]), b: (f64, [f64; 2])| Ratio::from_figures([a.0, b.0], Some([a.1, b.1]));
        let (steady, wide) = ((23_800.0, [23_100.0, 24_200.0]), (24_000.0, [0.0, 26_300.0]));
        assert!(ratio(wide, steady).is_tie() && ratio(steady, wide).is_tie());
    }
}

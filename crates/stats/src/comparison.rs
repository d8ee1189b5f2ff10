//! Confidence intervals for the comparison of several benchmarks. If two intervals do not overlap, the benchmarks are
//! significantly different.
//!
//! Intervals of 95 % are not suitable. Those of two equal benchmarks overlap in 99 %, so the comparison misses differences
//! that it could find. Among the many pairs of twenty benchmarks, a false difference occurs in one run of ten. The
//! confidence level therefore depends on the number of benchmarks (Goldstein and Healy, "The graphical presentation of a
//! collection of means", Journal of the Royal Statistical Society A 158, 1995). This module uses the range of all
//! benchmarks in place of a pair.

use crate::median::median_interval_with;
use crate::normal::{chance_below, density};

/// Returns the share of groups of equal benchmarks without a significant difference, if trials were independent. Trials are
/// slightly dependent, so the values leave room for 5 of 100 (`comparison_simulated.rs`). Large groups have a higher value.
/// In a small group, few other benchmarks determine the pace, and the interval of a ratio also contains the quotient of the
/// printed medians.
fn no_false_difference(rows: usize) -> f64 {
    match rows {
        0..=2 => 0.94,
        3..=5 => 0.95,
        _ => 0.965,
    }
}

/// Returns for each benchmark the interval of the median of its values, for comparisons with all others. Among equal
/// benchmarks, all intervals overlap in 94 to 96.5 % of groups if trials are independent. `None` for a benchmark with fewer
/// than three values.
///
/// The intervals of two benchmarks cover their medians in 82 %, of five in 95 %, of twenty in 99 %. If a benchmark has too
/// few values for this coverage, the interval is their whole range, and false differences are more frequent.
pub fn comparison_intervals(rows: &[Vec<f64>]) -> Vec<Option<[f64; 2]>> {
    intervals_with(rows, no_false_difference(rows.len()))
}

/// Returns the number of values per benchmark with which these intervals reach their coverage.
pub fn trials_of_comparison(rows: usize) -> u32 {
    let missed = 1.0 - comparison_confidence(rows, no_false_difference(rows));
    // The range misses the median if all values are on one side of it.
    (1.0 - missed.log2()).ceil() as u32
}

/// Returns such intervals for another share of groups without a false difference.
pub(crate) fn intervals_with(rows: &[Vec<f64>], no_false_difference: f64) -> Vec<Option<[f64; 2]>> {
    let confidence = comparison_confidence(rows.len(), no_false_difference);
    rows.iter().map(|values| median_interval_with(values, confidence)).collect()
}

/// Returns the coverage of such an interval.
fn comparison_confidence(rows: usize, no_false_difference: f64) -> f64 {
    // Two intervals of equal width touch if the medians differ by both halves.
    2.0 * chance_below(range(rows.max(2), no_false_difference) / 2.0) - 1.0
}

/// Returns the range, in standard deviations, that contains this number of normal values in this share of all cases.
fn range(rows: usize, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    while high - low > 1e-6 {
        let middle = f64::midpoint(low, high);
        if chance_of_range_below(middle, rows) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the probability that `rows` normal values are within `range` standard deviations of each other. It integrates
/// over the largest value, because all others are at most `range` below it.
fn chance_of_range_below(range: f64, rows: usize) -> f64 {
    const STEP: f64 = 0.02;
    /// No value is farther from the mean, in standard deviations.
    const FARTHEST: f64 = 8.0;
    let steps = (2.0 * FARTHEST / STEP) as i32;
    let at = |step: i32| {
        let largest = f64::from(step) * STEP - FARTHEST;
        density(largest) * (chance_below(largest) - chance_below(largest - range)).powi(rows as i32 - 1)
    };
    rows as f64 * STEP * (0..=steps).map(at).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_need_more_trials() {
        assert_eq!([2, 5, 17, 28].map(trials_of_comparison), [4, 6, 8, 9]);
    }

    #[test]
    fn range_is_that_of_published_tables() {
        // 5 % points of the studentized range with infinitely many degrees of freedom.
        for (rows, table) in [(2, 2.772), (3, 3.314), (5, 3.858), (10, 4.474), (20, 5.012)] {
            assert!((range(rows, 0.95) - table).abs() < 0.002, "{rows} rows: {}", range(rows, 0.95));
        }
    }

    #[test]
    fn confidence_grows_with_the_number_of_rows() {
        for (rows, confidence) in [(2, 0.816), (5, 0.946), (20, 0.990)] {
            let found = comparison_confidence(rows, no_false_difference(rows));
            assert!((found - confidence).abs() < 0.0015, "{rows} rows: {found}");
        }
        assert_eq!(comparison_confidence(1, 0.95), comparison_confidence(2, 0.95));
    }

    #[test]
    fn few_values_have_their_range_or_no_interval() {
        let mut rows = vec![vec![2.0, 1.0, 3.0, 4.0]; 20];
        rows[0] = vec![1.0, 2.0];
        assert_eq!(comparison_intervals(&rows)[..2], [None, Some([1.0, 4.0])]);
    }
}

//! Intervals that tell several rows apart: where two of them do not overlap, the rows differ.
//!
//! Intervals of 95 % are not made for that. Of two rows that are the same they overlap in 99 %, so that a difference is
//! found later than it could be; and among the many pairs of twenty rows some pair is parted by chance in one run out of
//! ten. How often the intervals must cover their medians follows from how many rows there are (Goldstein and Healy, "The
//! graphical presentation of a collection of means", Journal of the Royal Statistical Society A 158, 1995; here with the
//! range of all rows in place of a pair).

use crate::median::median_interval_with;
use crate::normal::{chance_below, density};

/// How often none of several rows that are the same is to be told apart from any other.
const NO_FALSE_DIFFERENCE: f64 = 0.95;

/// For each row the interval of the median of its values, for comparisons with all other rows: among rows that are the
/// same, all intervals overlap in 95 % of all cases. `None` for a row of fewer than three values.
///
/// For two rows they cover their medians in 83 %, for five in 95 %, for twenty in 99 %. Where a row has too few values to
/// cover its median as often, the interval is their whole range, and differences are found by chance more often than that.
pub fn comparison_intervals(rows: &[Vec<f64>]) -> Vec<Option<[f64; 2]>> {
    let confidence = comparison_confidence(rows.len());
    rows.iter().map(|values| median_interval_with(values, confidence)).collect()
}

/// How often such an interval covers the median.
fn comparison_confidence(rows: usize) -> f64 {
    // Two intervals of the same width just touch where the medians differ by both halves.
    2.0 * chance_below(range(rows.max(2)) / 2.0) - 1.0
}

/// What the largest of so many normal values exceeds the smallest by in 5 % of all cases, in standard deviations.
fn range(rows: usize) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    while high - low > 1e-6 {
        let middle = f64::midpoint(low, high);
        if chance_of_range_below(middle, rows) < NO_FALSE_DIFFERENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The chance that so many normal values lie within `range` standard deviations of each other: the largest is anywhere,
/// and all others are no more than that below it.
fn chance_of_range_below(range: f64, rows: usize) -> f64 {
    const STEP: f64 = 0.02;
    /// Beyond this no value is met.
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
    fn the_range_is_that_of_the_tables() {
        // The studentized range with infinitely many degrees of freedom, 5 % points.
        for (rows, table) in [(2, 2.772), (3, 3.314), (5, 3.858), (10, 4.474), (20, 5.012)] {
            assert!((range(rows) - table).abs() < 0.002, "{rows} rows: {}", range(rows));
        }
    }

    #[test]
    fn two_rows_need_83_percent_and_twenty_99() {
        assert!((comparison_confidence(2) - 0.834).abs() < 0.001);
        assert!((comparison_confidence(20) - 0.988).abs() < 0.001);
        assert_eq!(comparison_confidence(1), comparison_confidence(2));
    }

    #[test]
    fn few_values_have_their_range_or_no_interval() {
        let mut rows = vec![vec![2.0, 1.0, 3.0, 4.0]; 20];
        rows[0] = vec![1.0, 2.0];
        assert_eq!(comparison_intervals(&rows)[..2], [None, Some([1.0, 4.0])]);
    }
}

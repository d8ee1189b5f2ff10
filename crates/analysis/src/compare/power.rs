//! What a comparison could have shown: how large a change it would have found, and how many trials would let equal runs
//! read the same. Both take the interval for that of a normal distribution, which is near enough to plan by.

use super::ComparedRow;
use furlong_stats::tidy;

/// Half of a 95 % interval in standard errors.
const INTERVAL: f64 = 1.96;
/// Standard errors that 80 of 100 lie below, and that 80 of 100 lie within on both sides.
const POWER: f64 = 0.84;
const BOTH_SIDES: f64 = 1.28;

/// The least change, as a share, that would have read worse in 80 of 100 such comparisons: its whole interval must be
/// beyond the margin. `None` without an interval.
pub(super) fn detectable_change(row: &ComparedRow, margin: f64) -> Option<f64> {
    let standard_error = half_width(row)? / INTERVAL;
    Some(tidy((margin.ln_1p() + (INTERVAL + POWER) * standard_error).exp_m1()))
}

/// Trials in each run with which 80 of 100 pairs of equal runs would read the same. `None` without an interval.
pub(super) fn trials_for_same(row: &ComparedRow, margin: f64) -> Option<f64> {
    let standard_error = half_width(row)? / INTERVAL;
    let wanted = margin.ln_1p() / (INTERVAL + BOTH_SIDES);
    // The harmonic mean counts as the two numbers do.
    let [old, new] = [row.baseline_trials, row.new_trials].map(|trials| trials as f64);
    Some((2.0 * old * new / (old + new) * (standard_error / wanted).powi(2)).ceil())
}

/// Half of the interval, as a logarithm.
fn half_width(row: &ComparedRow) -> Option<f64> {
    let [low, high] = row.ci95.filter(|[low, _]| *low > 0.0)?;
    Some((high / low).ln() / 2.0)
}

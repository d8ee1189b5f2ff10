//! What a comparison could have shown: how large a change it would have found, and how many trials would let equal runs
//! read the same. Both take the 95 % interval of a ratio for that of a normal distribution, which is near enough to plan by.

use furlong_stats::tidy;

/// Half of a 95 % interval in standard errors.
const INTERVAL: f64 = 1.96;
/// Standard errors that 80 of 100 lie below, and that 80 of 100 lie within on both sides.
const POWER: f64 = 0.84;
const BOTH_SIDES: f64 = 1.28;

/// The least change, as a share, that would read worse in 80 of 100 such comparisons: its whole interval must be beyond
/// the margin.
pub(super) fn detectable_change(interval: [f64; 2], margin: f64) -> f64 {
    tidy((margin.ln_1p() + (INTERVAL + POWER) * standard_error(interval)).exp_m1())
}

/// Trials in each run with which 80 of 100 pairs of equal runs would read the same, from an interval of so many `trials`
/// in either.
pub(super) fn trials_for_same(interval: [f64; 2], trials: [usize; 2], margin: f64) -> f64 {
    let wanted = margin.ln_1p() / (INTERVAL + BOTH_SIDES);
    // The harmonic mean counts as the two numbers do.
    let [old, new] = trials.map(|trials| trials as f64);
    (2.0 * old * new / (old + new) * (standard_error(interval) / wanted).powi(2)).ceil()
}

/// Of the ratio's logarithm.
fn standard_error([low, high]: [f64; 2]) -> f64 {
    (high / low).ln() / 2.0 / INTERVAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_interval_finds_large_changes_alone_and_four_times_the_trials_halve_it() {
        let [narrow, wide] = [[0.98, 1.02], [0.8, 1.25]];
        assert!((0.07..0.09).contains(&detectable_change(narrow, 0.05)));
        assert!((0.4..0.5).contains(&detectable_change(wide, 0.05)));
        let trials = trials_for_same(wide, [10, 10], 0.05);
        let half = wide.map(f64::sqrt);
        assert!((trials / trials_for_same(half, [10, 10], 0.05) - 4.0).abs() < 0.2, "{trials}");
        assert!(trials_for_same(narrow, [10, 10], 0.05) <= 10.0);
    }
}

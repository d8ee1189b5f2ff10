//! Power of a comparison: the detectable change, and the number of trials for the verdict "same" on equal runs. Both
//! approximate the 95 % interval of a ratio by that of a normal distribution, which is sufficient for planning.

use furlong_stats::tidy;

/// Half of a 95 % interval, in standard errors.
const INTERVAL: f64 = 1.96;
/// Standard errors that 80 % of the values are below, and within on both sides.
const POWER: f64 = 0.84;
const BOTH_SIDES: f64 = 1.28;

/// Returns the smallest change, as a share, that reads worse in 80 of 100 such comparisons. The whole interval must be
/// beyond the margin.
pub(super) fn detectable_change(interval: [f64; 2], margin: f64) -> f64 {
    tidy((margin.ln_1p() + (INTERVAL + POWER) * standard_error(interval)).exp_m1())
}

/// Returns the number of trials in each run with which 80 of 100 pairs of equal runs read the same. `interval` is the
/// current one, and `trials` are its numbers in the two runs.
pub(super) fn trials_for_same(interval: [f64; 2], trials: [usize; 2], margin: f64) -> f64 {
    let wanted = margin.ln_1p() / (INTERVAL + BOTH_SIDES);
    // The harmonic mean is equivalent to the two numbers.
    let [old, new] = trials.map(|trials| trials as f64);
    (2.0 * old * new / (old + new) * (standard_error(interval) / wanted).powi(2)).ceil()
}

/// Returns the standard error of the logarithm of the ratio.
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

//! Mixture of the trials of a benchmark, in which each trial has the same weight.
//!
//! The sum of the counts would give fast trials a larger weight, because they contain more samples.

use crate::Distribution;

/// Equal-weight mixture of the distributions of several trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Times in nanoseconds, ascending, each with the cumulative mass, which ends at 1.
    cumulative: Vec<(f64, f64)>,
    mean_ns: f64,
    stddev_ns: f64,
    max_ns: f64,
}

impl Mixture {
    /// Mixes `trials`; `None` without any.
    pub fn of(trials: &[Distribution]) -> Option<Self> {
        let weight = 1.0 / trials.len() as f64;
        let average = |figure: &dyn Fn(&Distribution) -> f64| trials.iter().map(figure).sum::<f64>() * weight;
        let mut shares: Vec<_> = trials.iter().flat_map(Distribution::shares).collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut mass = 0.0;
        let mut cumulative: Vec<(f64, f64)> = Vec::with_capacity(shares.len());
        for (value, share) in shares {
            mass += share * weight;
            match cumulative.last_mut() {
                Some(last) if last.0 == value => last.1 = mass,
                _ => cumulative.push((value, mass)),
            }
        }
        cumulative.last()?;
        let mean_ns = average(&Distribution::mean_ns);
        let within = average(&Distribution::variance_ns2);
        let between = average(&|trial| (trial.mean_ns() - mean_ns).powi(2));
        let max_ns = trials.iter().map(Distribution::max_ns).fold(0.0, f64::max);
        Some(Mixture { cumulative, mean_ns, stddev_ns: (within + between).sqrt(), max_ns })
    }

    /// Returns the smallest time in nanoseconds that at least the share `q` (0 to 1) of the mass does not exceed.
    pub fn quantile_ns(&self, q: f64) -> f64 {
        // Sums of shares differ from the exact number in the last digits.
        const ROUNDING: f64 = 1e-9;
        let at = self.cumulative.partition_point(|(_, mass)| *mass < q - ROUNDING);
        self.cumulative.get(at).map_or(self.max_ns, |(value, _)| *value)
    }

    /// Returns each time in nanoseconds, ascending, with the share of the mass at or above it, which begins at 1.
    pub fn at_least(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let below = std::iter::once(0.0).chain(self.cumulative.iter().map(|(_, mass)| *mass));
        self.cumulative.iter().zip(below).map(|((value, _), below)| (*value, 1.0 - below))
    }

    /// Returns the mean in nanoseconds: the mean of the trials' means.
    pub fn mean_ns(&self) -> f64 {
        self.mean_ns
    }

    /// Returns the standard deviation in nanoseconds, within and between trials.
    pub fn stddev_ns(&self) -> f64 {
        self.stddev_ns
    }

    /// Returns the longest sample in nanoseconds.
    pub fn max_ns(&self) -> f64 {
        self.max_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::encode, median};
    use proptest::prelude::*;

    fn trial(values: impl IntoIterator<Item = u64>) -> Distribution {
        Distribution::decode(&encode(values)).unwrap()
    }

    #[test]
    fn no_trial_makes_no_mixture() {
        assert_eq!(Mixture::of(&[]), None);
    }

    #[test]
    fn a_uniform_trial_has_the_known_figures() {
        let mixture = Mixture::of(&[trial(1..=1000)]).unwrap();
        for (q, value) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0)] {
            assert_eq!(mixture.quantile_ns(q), value);
        }
        assert!((mixture.mean_ns() - 500.5).abs() < 1e-6);
        assert!((mixture.stddev_ns() - 288.675).abs() < 1e-3);
    }

    #[test]
    fn no_sample_is_left_out_however_slow() {
        let mixture = Mixture::of(&[trial(std::iter::repeat_n(100, 9_999).chain([50_000_000]))]).unwrap();
        assert_eq!(mixture.quantile_ns(0.999), 100.0);
        assert!((mixture.max_ns() / 5e7 - 1.0).abs() < 1e-3, "{}", mixture.max_ns());
        assert!((mixture.mean_ns() / 5_100.0 - 1.0).abs() < 1e-3, "{}", mixture.mean_ns());
    }

    #[test]
    fn a_fast_trial_does_not_outvote_a_slow_one() {
        let fast = trial(std::iter::repeat_n(100, 10_000));
        let slow = trial(std::iter::repeat_n(1000, 10));
        let mixture = Mixture::of(&[fast, slow]).unwrap();
        assert_eq!(mixture.quantile_ns(0.5), 100.0);
        assert_eq!(mixture.quantile_ns(0.51), 1000.0);
        assert_eq!((mixture.mean_ns(), mixture.stddev_ns()), (550.0, 450.0));
    }

    proptest! {
        #[test]
        fn quantiles_are_monotone(
            trials in proptest::collection::vec(proptest::collection::vec(1_u64..10_000_000, 1..40), 1..8),
        ) {
            let trials: Vec<_> = trials.into_iter().map(trial).collect();
            let medians: Vec<_> = trials.iter().map(Distribution::median_ns).collect();
            let mixture = Mixture::of(&trials).unwrap();
            let quantiles: Vec<_> = (0..=1000).map(|q| mixture.quantile_ns(f64::from(q) / 1000.0)).collect();
            prop_assert!(quantiles.is_sorted());
            prop_assert!(quantiles[1000] <= mixture.max_ns());
            prop_assert!(median(&medians).unwrap() <= mixture.quantile_ns(0.9));
        }
    }
}

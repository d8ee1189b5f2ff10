//! Outliers among values: the distance of a value from the others, and its probability by chance.
//!
//! Location and scale are the median and the median absolute deviation, which outliers do not affect (Huber, "Robust
//! Statistics", 1981). Probabilities are those of Student's t-distribution. Its degrees of freedom are those of the scale
//! estimate (efficiency 37 %), but no more than fit the tails of the values. A value therefore needs a larger deviation to
//! be an outlier if there are few values, or if many values are far from the median.

use crate::{median::median, student::chance_beyond};

/// Minimum number of values for the detection of an outlier.
const FEWEST: usize = 5;
/// Median absolute deviation of the normal distribution, in standard deviations.
const OF_NORMAL: f64 = 0.674_49;
/// Efficiency of the median absolute deviation for normal values.
const EFFICIENCY: f64 = 0.37;
/// Two relative standard errors of the 90th percentile of the deviations, times the square root of the number of values.
const SURELY: f64 = 2.6;
/// Degrees of freedom, each with the 90th percentile of the deviations as a multiple of their median.
const TAILS: [(f64, f64); 9] = [
    (1.0, 6.314),
    (2.0, 3.576),
    (3.0, 3.077),
    (4.0, 2.878),
    (5.0, 2.773),
    (7.0, 2.664),
    (10.0, 2.590),
    (20.0, 2.511),
    (30.0, 2.486),
];

/// Location and scale of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviations {
    /// Median of the values.
    pub middle: f64,
    /// Scale, as the standard deviation if the values are normal.
    pub scale: f64,
    freedom: f64,
}

impl Deviations {
    /// Estimates them from `values`; `None` for fewer than five. The scale is at least `least_scale`, the resolution of the
    /// values.
    pub fn of(values: &[f64], least_scale: f64) -> Option<Self> {
        let middle = median(values).filter(|_| values.len() >= FEWEST)?;
        let mut apart: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        apart.sort_by(f64::total_cmp);
        let typical = median(&apart)?;
        let most = apart[(apart.len() - 1) * 9 / 10];
        let scale = (typical / OF_NORMAL).max(least_scale);
        // Only tails that are significantly longer than those of a normal distribution count.
        let surely = 1.0 - SURELY / (values.len() as f64).sqrt();
        let ratio = surely * most / (scale * OF_NORMAL);
        let of_tails = match TAILS.iter().rfind(|(_, tails)| *tails >= ratio) {
            _ if ratio < TAILS[TAILS.len() - 1].1 => f64::INFINITY,
            Some((freedom, _)) => *freedom,
            None => 1.0,
        };
        let freedom = (EFFICIENCY * (values.len() - 1) as f64).min(of_tails).max(1.0);
        Some(Deviations { middle, scale, freedom })
    }

    /// Returns the probability of a value at least this far from the median by chance.
    pub fn chance(&self, value: f64) -> f64 {
        chance_beyond((value - self.middle) / self.scale, self.freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Source};

    /// Returns the share of 2000 seeded samples with a false outlier at 1 %, corrected for the number of values.
    fn false_alarms(source: Source, count: usize) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let alarms = (0..2000).filter(|_| {
            let values = source.draw(count, &mut random);
            let found = Deviations::of(&values, 0.0).unwrap();
            values.iter().any(|value| found.chance(*value) * (count as f64) < 0.01)
        });
        alarms.count() as f64 / 2000.0
    }

    #[test]
    fn normal_values_are_seldom_odd() {
        for count in [5, 8, 20, 50, 200] {
            let found = false_alarms(fixture::NORMAL, count);
            assert!(found <= 0.03, "{count}: {found}");
        }
    }

    #[test]
    fn few_values_show_nothing() {
        assert_eq!(Deviations::of(&[1.0, 2.0, 3.0, 4.0], 0.0), None);
        let values = [1.0, 1.01, 0.99, 1.02, 3.0];
        assert!(Deviations::of(&values, 0.0).unwrap().chance(3.0) > 1e-4);
    }

    #[test]
    fn odd_values_move_neither_middle_nor_scale() {
        let mut values: Vec<f64> = (0..99).map(|at| 10.0 + f64::from(at % 11) * 0.1).collect();
        let before = Deviations::of(&values, 0.0).unwrap();
        values[..5].fill(1000.0);
        let after = Deviations::of(&values, 0.0).unwrap();
        assert!((after.middle - before.middle).abs() <= 0.1 && after.scale < before.scale * 1.5, "{after:?}");
        assert!(after.chance(1000.0) < 1e-9 && after.chance(10.9) > 0.01, "{after:?}");
    }

    #[test]
    fn equal_values_have_the_scale_that_they_are_read_to() {
        let found = Deviations::of(&[2.0; 50], 0.01).unwrap();
        assert_eq!((found.middle, found.scale), (2.0, 0.01));
        assert!(found.chance(2.01) > 0.2 && found.chance(2.5) < 1e-6);
    }
}

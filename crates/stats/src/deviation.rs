//! How far one of many values lies from the others, and how often chance alone would put it there.
//!
//! Middle and scale are the median and the median absolute deviation, which odd values among the others do not move (Huber,
//! "Robust Statistics", 1981). Chances are those of Student's distribution, with as many degrees of freedom as that scale
//! has as an estimate (its efficiency is 37 %), and no more than the values' own tails have: few values, and values of which
//! many lie far out, need more to show that one is odd.

use crate::{median::median, student::chance_beyond};

/// Fewest values among which one can be odd.
const FEWEST: usize = 5;
/// The median absolute deviation of a normal distribution, in standard deviations.
const OF_NORMAL: f64 = 0.674_49;
/// The efficiency of the median absolute deviation, of normal values.
const EFFICIENCY: f64 = 0.37;
/// Two standard errors of how far nine tenths are within, as a share, times the root of the number of values.
const SURELY: f64 = 2.6;
/// For degrees of freedom: nine tenths of all deviations are within so many times the median one.
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

/// Where most of many values lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviations {
    /// Their median.
    pub middle: f64,
    /// As a standard deviation, if they were normal.
    pub scale: f64,
    freedom: f64,
}

impl Deviations {
    /// Of these values; `None` for fewer than five. Their scale is no less than `least_scale`: what they are read to.
    pub fn of(values: &[f64], least_scale: f64) -> Option<Self> {
        let middle = median(values).filter(|_| values.len() >= FEWEST)?;
        let mut apart: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        apart.sort_by(f64::total_cmp);
        let typical = median(&apart)?;
        let most = apart[(apart.len() - 1) * 9 / 10];
        let scale = (typical / OF_NORMAL).max(least_scale);
        // Only tails that are surely longer than those of a normal distribution count.
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

    /// How often chance alone would put a value as far from the middle as this, or farther.
    pub fn chance(&self, value: f64) -> f64 {
        chance_beyond((value - self.middle) / self.scale, self.freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Source};

    /// How often, of 2000 seeded samples, one of their values has a chance below 1 % of that for one of so many.
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

//! Two modes in the times of the round trips, for a benchmark that alternates between two behaviours.
//!
//! The times are on a logarithmic scale. The smoothing is about as wide as the unevenness by chance. On such a scale the
//! tail of a latency distribution decreases steadily and is not a mode.

use crate::{Distribution, Mixture};

/// Minimum ratio of two modes that is worth reporting.
pub const APART: f64 = 1.05;
/// Minimum number of samples. In fewer samples, chance creates modes.
const FEWEST_SAMPLES: u64 = 300;
/// Minimum share of all samples on each side of the valley.
const LEAST_MASS: f64 = 0.1;
/// Maximum density in the valley, relative to the lower mode. In 300 seeded draws each of 5000 normal, lognormal,
/// exponential and uniform values, none had a valley below 0.9. Two equal modes with a ratio of 1.2, each 3 % wide, have
/// one below 0.1.
const DEPTH: f64 = 0.5;
/// Minimum share of a trial on its smaller side, averaged over trials. If the share is smaller, the trials differ from each
/// other, but the samples within a trial do not.
const LEAST_WITHIN: f64 = 0.05;
/// Minimum width of the smoothing, as a logarithm: 1 %, because closer modes are irrelevant.
const NARROWEST: f64 = 0.01;
/// Number of bins per width of the smoothing.
const BINS_PER_WIDTH: f64 = 4.0;
/// Reach of the smoothing on each side, in widths.
const REACH: f64 = 3.0;
/// Minimum time in nanoseconds, because zero has no logarithm.
const LEAST_NS: f64 = 0.5;

/// Two modes of the samples of all trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Times of the modes, in nanoseconds.
    pub at_ns: [f64; 2],
    /// Share of all samples in the smaller mode, up to 0.5.
    pub smaller_share: f64,
}

/// Returns the two modes of the samples of `trials`; `None` if no second mode stands out. `step_ns` is the resolution of
/// the clock, because samples on multiples of it look like a comb.
pub fn two_modes(trials: &[Distribution], step_ns: f64) -> Option<Modes> {
    let samples: u64 = trials.iter().map(Distribution::samples).sum();
    if samples < FEWEST_SAMPLES {
        return None;
    }
    let width = width(trials, samples as f64, step_ns)?;
    let valley = SmoothedHistogram::of(trials, width).valley()?;
    let within =
        trials.iter().map(|trial| smaller_side(trial, valley.at_ns)).sum::<f64>() / trials.len() as f64;
    let Modes { at_ns: [low, high], .. } = valley.modes;
    (within >= LEAST_WITHIN && high >= low * APART).then_some(valley.modes)
}

fn ln(time_ns: f64) -> f64 {
    time_ns.max(LEAST_NS).ln()
}

/// Returns the width of the smoothing, as a logarithm: Silverman's rule of thumb, but at least one step of the clock.
fn width(trials: &[Distribution], samples: f64, step_ns: f64) -> Option<f64> {
    let mixture = Mixture::of(trials)?;
    let quarter = |q| ln(mixture.quantile_ns(q));
    let between_quarters = (quarter(0.75) - quarter(0.25)) / 1.349;
    let deviation = deviation(trials);
    let spread = if between_quarters > 0.0 { between_quarters.min(deviation) } else { deviation };
    let by_chance = 0.9 * spread * samples.powf(-0.2);
    Some(by_chance.max(NARROWEST).max(step_ns / mixture.quantile_ns(LEAST_MASS).max(LEAST_NS)).min(1.0))
}

/// Returns the standard deviation of the logarithms. Each trial has the same weight.
fn deviation(trials: &[Distribution]) -> f64 {
    let average = |figure: &dyn Fn(f64) -> f64| {
        let shares = trials.iter().flat_map(Distribution::shares);
        shares.map(|(value, share)| figure(ln(value)) * share).sum::<f64>() / trials.len() as f64
    };
    let mean = average(&|x| x);
    average(&|x| (x - mean).powi(2)).sqrt()
}

/// Returns the smaller share of a trial's samples, below or above `valley_ns`.
fn smaller_side(trial: &Distribution, valley_ns: f64) -> f64 {
    let below: f64 = trial.shares().filter(|(value, _)| *value <= valley_ns).map(|(_, share)| share).sum();
    below.min(1.0 - below)
}

/// A histogram of logarithms with bins of the same width, as counted and smoothed.
struct SmoothedHistogram {
    start: f64,
    bin: f64,
    mass: Vec<f64>,
    density: Vec<f64>,
}

/// Lowest density between two modes.
struct Valley {
    at_ns: f64,
    modes: Modes,
}

impl SmoothedHistogram {
    fn of(trials: &[Distribution], width: f64) -> Self {
        let bin = width / BINS_PER_WIDTH;
        let values = || trials.iter().flat_map(Distribution::shares);
        let ends = values()
            .fold((f64::MAX, f64::MIN), |(low, high), (value, _)| (low.min(ln(value)), high.max(ln(value))));
        let start = ends.0 - REACH * width;
        let bins = ((ends.1 + REACH * width - start) / bin) as usize + 2;
        let mut mass = vec![0.0; bins];
        for (value, share) in values() {
            mass[((ln(value) - start) / bin) as usize] += share / trials.len() as f64;
        }
        let density = smooth(&mass);
        SmoothedHistogram { start, bin, mass, density }
    }

    fn time_ns(&self, bin: usize) -> f64 {
        (self.start + self.bin * (bin as f64 + 0.5)).exp()
    }

    /// Returns the valley with the lowest density relative to the lower of the maxima on its sides, if it is low enough.
    fn valley(&self) -> Option<Valley> {
        let left = highest_so_far(&self.density, 0..self.density.len());
        let mut right = highest_so_far(&self.density, (0..self.density.len()).rev());
        right.reverse();
        let mut below = 0.0;
        let mut lowest: Option<(f64, usize, f64)> = None;
        for (at, mass) in self.mass.iter().enumerate() {
            below += mass;
            let lower_mode = self.density[left[at]].min(self.density[right[at]]);
            let depth = self.density[at] / lower_mode;
            let between = (LEAST_MASS..=1.0 - LEAST_MASS).contains(&below);
            if between && depth < lowest.map_or(DEPTH, |(depth, ..)| depth) {
                lowest = Some((depth, at, below));
            }
        }
        let (_, at, below) = lowest?;
        let at_ns = [self.time_ns(left[at]), self.time_ns(right[at])];
        let modes = Modes { at_ns, smaller_share: below.min(1.0 - below) };
        Some(Valley { at_ns: self.time_ns(at), modes })
    }
}

/// For each of `places`, in their order, the highest place up to it.
fn highest_so_far(density: &[f64], places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut highest: Option<usize> = None;
    let mut up_to = |at: usize| {
        let best = highest.filter(|best| density[*best] >= density[at]).unwrap_or(at);
        highest = Some(best);
        best
    };
    places.map(&mut up_to).collect()
}

/// Spreads each bin over its neighbours as a bell curve.
fn smooth(mass: &[f64]) -> Vec<f64> {
    let reach = (REACH * BINS_PER_WIDTH) as usize;
    let bell = |distance: usize| (-0.5 * (distance as f64 / BINS_PER_WIDTH).powi(2)).exp();
    let weights: Vec<f64> = (0..=2 * reach).map(|at| bell(at.abs_diff(reach))).collect();
    let mut density = vec![0.0; mass.len()];
    for (at, mass) in mass.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        // The ends were chosen so that no bin with mass is nearer to them than the reach.
        let first = at.saturating_sub(reach);
        for (place, weight) in density[first..].iter_mut().zip(&weights) {
            *place += mass * weight;
        }
    }
    density
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Source, encode};

    /// Samples of one trial, with 1 at 50 us.
    fn trial(source: Source, count: usize, random: &mut fastrand::Rng) -> Distribution {
        let times =
            source.draw(count, random).into_iter().map(|value| (value.max(0.0) * 50_000.0) as u64 + 1);
        Distribution::decode(&encode(times)).unwrap()
    }

    /// Returns the percentage of 300 draws of 5000 samples in which two modes are found.
    fn found_percent(source: Source) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let found = |_: &u32| two_modes(&[trial(source, 5000, &mut random)], 20.0).is_some();
        (0..300).filter(found).count() as f64 / 3.0
    }

    #[test]
    fn one_mode_is_not_taken_for_two() {
        for source in [
            Source::Normal(1.0, 0.03),
            Source::Normal(1.0, 0.3),
            Source::Exponential(0.0, 1.0),
            Source::Exponential(1.0, 0.2),
            Source::Lognormal(0.3),
            Source::Lognormal(1.0),
        ] {
            let percent = found_percent(source);
            assert!(percent <= 2.0, "two modes in {percent} % of {source:?}");
        }
    }

    #[test]
    fn two_modes_are_found_where_they_are() {
        for share in [0.5, 0.85] {
            let source = Source::Bimodal(share, 1.4, 0.03);
            let percent = found_percent(source);
            assert!(percent >= 95.0, "two modes in {percent} % of {source:?}");
            let mut random = fastrand::Rng::with_seed(9);
            let modes = two_modes(&[trial(source, 5000, &mut random)], 20.0).unwrap();
            let [low, high] = modes.at_ns;
            assert!((modes.smaller_share - share.min(1.0 - share)).abs() < 0.03, "{modes:?}");
            assert!(
                (low / 50_000.0 - 1.0).abs() < 0.03 && (high / 70_000.0 - 1.0).abs() < 0.03,
                "{low} {high}"
            );
        }
    }

    #[test]
    fn a_small_second_mode_is_a_tail() {
        assert!(found_percent(Source::Bimodal(0.93, 3.0, 0.03)) <= 2.0);
    }

    #[test]
    fn trials_that_differ_from_each_other_have_no_modes_within() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut at = |mean| trial(Source::Normal(mean, 0.02), 1000, &mut random);
        let trials: Vec<_> = [1.0, 1.4, 1.0, 1.4].map(&mut at).into();
        assert_eq!(two_modes(&trials, 20.0), None);
    }

    #[test]
    fn steps_of_the_clock_are_no_modes() {
        let mut random = fastrand::Rng::with_seed(4);
        let times = Source::Normal(1000.0, 30.0).draw(5000, &mut random);
        let in_steps = times.into_iter().map(|time| (time / 60.0).round() as u64 * 60);
        let trial = Distribution::decode(&encode(in_steps)).unwrap();
        assert_eq!(two_modes(std::slice::from_ref(&trial), 60.0), None);
    }

    #[test]
    fn few_or_equal_samples_say_nothing() {
        let mut random = fastrand::Rng::with_seed(6);
        assert_eq!(two_modes(&[trial(Source::Bimodal(0.5, 1.4, 0.03), 200, &mut random)], 20.0), None);
        let equal = Distribution::decode(&encode(std::iter::repeat_n(0, 1000))).unwrap();
        assert_eq!(two_modes(&[equal], 0.0), None);
        assert_eq!(two_modes(&[], 0.0), None);
    }
}

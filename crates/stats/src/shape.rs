//! Detection of trials that are not alike: they may drift or form two groups, or each may contain two kinds of round trips.
//! A median and its interval do not show that.

use crate::{
    Distribution, median,
    modes::{APART, two_modes},
    tidy,
};
use serde::Serialize;

/// Minimum number of trials. With five, even a monotonic order occurs by chance more often than 1 in 100.
const FEWEST_TRIALS: usize = 7;
/// Number of random orders that are compared with the order of the trials.
const SHUFFLES: usize = 999;
/// Maximum number of random orders that are as extreme: 10 of 1000 orders, with that of the trials, limit false alarms to
/// 1 %.
const AS_EXTREME: usize = 9;
/// Minimum number of trials in a group. Fewer trials are stragglers.
const FEWEST_IN_GROUP: usize = 3;
/// Minimum share of the trials in a group.
const SHARE_IN_GROUP: f64 = 0.2;
/// Minimum gap between the groups, in standard deviations within them, from [`ENOUGH_TRIALS`] on. Of 20,000 draws of 15
/// normal, lognormal or uniform values, less than 1 in 200 has such a gap. Of exponential values added to 10 times their
/// mean, 1 in 100 has one.
const GAP: f64 = 4.0;
/// With fewer trials, chance creates wider gaps.
const ENOUGH_TRIALS: f64 = 15.0;
/// Maximum gap that is due to rounding, in steps of the clock.
const STEPS: f64 = 2.0;
/// Minimum ratio of two modes for a median between them that belongs to neither.
const FAR_APART: f64 = 1.5;
/// Minimum share of all samples in the smaller mode for a median near the valley. A few more round trips of that mode would
/// move the median to the other mode.
const NEAR_THE_VALLEY: f64 = 0.3;
/// Resolution of histograms, which contain whole nanoseconds.
const ROUNDING_NS: f64 = 1.0;

/// Properties of a benchmark that its median and interval do not show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DistributionShape {
    /// Whether adjacent trials are more similar than by chance, by a permutation test with 1 % false alarms. The interval
    /// assumes independent trials and is then too narrow.
    pub trials_drift: bool,
    /// Rank correlation of each trial's median with the next one, from -1 to 1; `None` for fewer than seven trials or if
    /// all are equal. Ranks limit the influence of a single trial.
    pub trials_autocorrelation: Option<f64>,
    /// Medians of the two groups of trials, in nanoseconds; `None` without groups.
    pub trials_bimodal: Option<[f64; 2]>,
    /// Times of the two modes of the round trips within trials, in nanoseconds; `None` without modes, or if samples are
    /// means of several round trips.
    pub samples_bimodal: Option<[f64; 2]>,
    /// Share of all samples in the smaller of the two modes, up to 0.5; `None` without modes.
    pub samples_smaller_share: Option<f64>,
}

impl DistributionShape {
    /// Analyses `trials` in the order in which they ran. A sample contains `round_trips_per_sample` round trips, and the
    /// clock has steps of `clock_step_ns`. The permutation test uses `seed`.
    pub fn of(trials: &[Distribution], round_trips_per_sample: u32, clock_step_ns: f64, seed: u64) -> Self {
        let medians: Vec<f64> = trials.iter().map(Distribution::median_ns).collect();
        let step_ns = clock_step_ns / f64::from(round_trips_per_sample.max(1));
        let step_ns = step_ns.max(ROUNDING_NS);
        let modes = (round_trips_per_sample <= 1).then(|| two_modes(trials, step_ns)).flatten();
        let neighbours = Neighbours::of(&medians);
        DistributionShape {
            trials_drift: neighbours.as_ref().is_some_and(|neighbours| neighbours.drift(seed)),
            trials_autocorrelation: neighbours.map(|neighbours| tidy(neighbours.correlation)),
            trials_bimodal: two_groups(&medians, step_ns).map(|groups| groups.map(tidy)),
            samples_bimodal: modes.map(|modes| modes.at_ns.map(tidy)),
            samples_smaller_share: modes.map(|modes| tidy(modes.smaller_share)),
        }
    }

    /// Whether the median or its interval is doubtful: trials drift or form groups, or the median is between modes.
    pub fn is_doubtful(&self) -> bool {
        self.trials_drift || self.trials_bimodal.is_some() || self.parting_modes().is_some()
    }

    /// Returns the modes within trials if the median may belong to either, because they are far apart and similarly
    /// frequent.
    pub fn parting_modes(&self) -> Option<[f64; 2]> {
        let is_between = self.samples_smaller_share.is_some_and(|share| share >= NEAR_THE_VALLEY);
        self.samples_bimodal.filter(|[low, high]| is_between && *high >= low * FAR_APART)
    }
}

/// Ranks of the trials in the order in which they ran.
struct Neighbours {
    /// Ranks with mean 0.
    ranks: Vec<f64>,
    correlation: f64,
}

impl Neighbours {
    /// Returns `None` if there are too few values or all are equal.
    fn of(values: &[f64]) -> Option<Self> {
        let ranks = centred_ranks(values);
        let differ = ranks.iter().any(|rank| *rank != 0.0);
        let correlation = lag_one(&ranks);
        (values.len() >= FEWEST_TRIALS && differ).then_some(Neighbours { ranks, correlation })
    }

    /// Whether random orders of the values rarely have neighbours that are as similar.
    fn drift(&self, seed: u64) -> bool {
        // The order of summation changes the last digit.
        const ROUNDING: f64 = 1e-9;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut shuffled = self.ranks.clone();
        let as_alike = (0..SHUFFLES).filter(|_| {
            random.shuffle(&mut shuffled);
            lag_one(&shuffled) >= self.correlation - ROUNDING
        });
        as_alike.count() <= AS_EXTREME
    }
}

/// Returns for each value the number of smaller values less the number of larger values.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| values.iter().map(|other| f64::from(value.total_cmp(other) as i8)).sum();
    values.iter().map(rank).collect()
}

/// Returns the lag-1 autocorrelation of values with mean 0.
fn lag_one(values: &[f64]) -> f64 {
    let products: f64 = values.windows(2).map(|pair| pair[0] * pair[1]).sum();
    products / values.iter().map(|value| value * value).sum::<f64>()
}

/// Returns the medians of the two groups of `values`, if the gap between them is wider than by chance.
fn two_groups(values: &[f64], step_ns: f64) -> Option<[f64; 2]> {
    if values.len() < FEWEST_TRIALS {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let logarithms: Vec<f64> = values.iter().map(|value| value.max(ROUNDING_NS / 2.0).ln()).collect();
    let at = widest_gap(&logarithms)?;
    let (lower, upper) = values.split_at(at);
    let groups = [median(lower)?, median(upper)?];
    // A gap on only one of the scales is skew, because the scale does not fit the values.
    let needed = GAP * (ENOUGH_TRIALS / values.len() as f64).max(1.0);
    let stands_out = [&values, &logarithms].iter().all(|scale| gap_at(scale, at) >= needed);
    let more_than_steps = upper[0] - lower[at - 1] > STEPS * step_ns;
    (stands_out && more_than_steps && groups[1] >= groups[0] * APART).then_some(groups)
}

/// Returns the number of sorted values below the widest gap that leaves enough values on both sides.
fn widest_gap(sorted: &[f64]) -> Option<usize> {
    let share = (SHARE_IN_GROUP * sorted.len() as f64).ceil() as usize;
    let fewest = FEWEST_IN_GROUP.max(share);
    let gap = |at: &usize| sorted[*at] - sorted[at - 1];
    (fewest..=sorted.len() - fewest).max_by(|a, b| gap(a).total_cmp(&gap(b)))
}

/// Returns the gap after the first `at` values, in standard deviations within the two groups.
fn gap_at(sorted: &[f64], at: usize) -> f64 {
    let (lower, upper) = sorted.split_at(at);
    let squares = |group: &[f64]| {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        group.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let deviation = ((squares(lower) + squares(upper)) / (sorted.len() - 2) as f64).sqrt();
    (upper[0] - lower[at - 1]) / deviation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Source, encode};
    use fastrand::Rng;

    const ONE_MODE: [Source; 6] = [
        Source::Normal(1.0, 0.03),
        Source::Normal(1.0, 0.2),
        Source::Exponential(0.0, 1.0),
        Source::Exponential(1.0, 0.1),
        Source::Lognormal(0.3),
        Source::Lognormal(1.0),
    ];

    /// Returns the percentage of 300 draws of 15 trials, with 1 at 50 us, for which `said` holds.
    fn said_percent(source: Source, said: impl Fn(&[f64]) -> bool) -> f64 {
        let mut random = Rng::with_seed(8);
        let draw = |_: &u32| {
            let values: Vec<f64> =
                source.draw(15, &mut random).iter().map(|value| value * 50_000.0).collect();
            said(&values)
        };
        (0..300).filter(draw).count() as f64 / 3.0
    }

    fn drifts(values: &[f64]) -> bool {
        Neighbours::of(values).is_some_and(|neighbours| neighbours.drift(7))
    }

    fn in_groups(values: &[f64]) -> bool {
        two_groups(values, 20.0).is_some()
    }

    #[test]
    fn one_mode_in_random_order_raises_no_alarm() {
        for source in ONE_MODE {
            let (drift, groups) = (said_percent(source, drifts), said_percent(source, in_groups));
            assert!(drift <= 2.0 && groups <= 2.0, "{source:?}: drift in {drift} %, groups in {groups} %");
        }
    }

    #[test]
    fn two_groups_are_found() {
        let percent = said_percent(Source::Bimodal(0.5, 1.4, 0.03), in_groups);
        assert!(percent >= 95.0, "{percent} %");
        let values = [31.0, 44.2, 31.1, 30.9, 44.0, 44.5, 30.8, 31.2, 44.1].map(|us| us * 1000.0);
        assert_eq!(two_groups(&values, 20.0), Some([31_000.0, 44_150.0]));
    }

    #[test]
    fn stragglers_are_no_group() {
        let mut values = [50_000.0; 15];
        values.iter_mut().zip(0..).for_each(|(value, at)| *value += f64::from(at) * 100.0);
        values[3] = 90_000.0;
        values[9] = 91_000.0;
        assert_eq!(two_groups(&values, 20.0), None);
    }

    #[test]
    fn steps_of_the_clock_are_no_groups() {
        let values = [12.0, 13.0, 12.0, 12.0, 13.0, 13.0, 12.0, 13.0, 12.0];
        assert_eq!(two_groups(&values, 1.0), None);
        assert!(two_groups(&values.map(|value| value * 4.0), 1.0).is_some());
    }

    #[test]
    fn trials_that_creep_drift() {
        let creep = |random: &mut Rng| {
            let noise = Source::Normal(0.0, 1.0).draw(15, random);
            noise.iter().zip(0..).map(|(noise, at)| 1000.0 + f64::from(at) + noise).collect::<Vec<_>>()
        };
        let mut random = Rng::with_seed(1);
        let found = (0..300).filter(|_| drifts(&creep(&mut random))).count();
        assert!(found >= 285, "{found} of 300");
        let steps: Vec<f64> = (0..9).map(f64::from).collect();
        assert!((Neighbours::of(&steps).unwrap().correlation - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn trials_that_alternate_do_not_drift() {
        let values = [1.0, 2.0].repeat(8);
        assert!(!drifts(&values));
        assert!(Neighbours::of(&values).unwrap().correlation < -0.9);
    }

    #[test]
    fn few_or_equal_trials_say_nothing() {
        let equal = [5.0; 20];
        let few: Vec<f64> = (0..6).map(f64::from).collect();
        for values in [&equal[..], &few, &[]] {
            assert!(Neighbours::of(values).is_none() && two_groups(values, 1.0).is_none());
        }
    }

    #[test]
    fn means_of_several_round_trips_hide_what_they_are_of() {
        let mut random = Rng::with_seed(3);
        let times = Source::Bimodal(0.5, 1.4, 0.03).draw(5000, &mut random);
        let times = times.into_iter().map(|time| (time * 50_000.0) as u64);
        let trial = Distribution::decode(&encode(times)).unwrap();
        let shape = |per_sample| DistributionShape::of(std::slice::from_ref(&trial), per_sample, 2.0, 7);
        assert!(shape(1).samples_bimodal.is_some() && shape(1).samples_smaller_share.is_some());
        assert!(shape(2).samples_bimodal.is_none() && shape(2).samples_smaller_share.is_none());
    }

    #[test]
    fn only_modes_that_part_the_median_make_it_doubtful() {
        let modes = |high: f64, share: f64| DistributionShape {
            samples_bimodal: Some([1000.0, high]),
            samples_smaller_share: Some(share),
            ..DistributionShape::default()
        };
        assert_eq!(modes(1500.0, 0.3).parting_modes(), Some([1000.0, 1500.0]));
        assert!(modes(1500.0, 0.3).is_doubtful());
        for shape in [modes(1400.0, 0.5), modes(9000.0, 0.2), DistributionShape::default()] {
            assert!(!shape.is_doubtful(), "{shape:?}");
        }
        assert!(DistributionShape { trials_drift: true, ..DistributionShape::default() }.is_doubtful());
        assert!(
            DistributionShape { trials_bimodal: Some([1.0, 1.1]), ..DistributionShape::default() }
                .is_doubtful()
        );
    }
}

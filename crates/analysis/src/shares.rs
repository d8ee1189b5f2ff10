//! Shares of several pairs or receivers in the whole, compared with a single one.

use furlong_model::{Measurement, Part};
use furlong_stats::{jain, median, tidy};
use serde::Serialize;

/// Shares of several pairs or receivers: medians over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shares {
    /// Jain's index: 1 if all have the same, 1/n if one has everything.
    pub fairness: f64,
    /// Smallest share of all round trips or messages, from 0 to 1.
    pub least: f64,
    /// Largest share.
    pub most: f64,
    /// Round trips or messages per second of the slowest.
    pub slowest_per_second: f64,
    /// Comparison with one pair alone; `None` if that was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_one: Option<AgainstOne>,
}

/// Throughput of several pairs as a multiple of that of one pair alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgainstOne {
    /// Sum of all pairs.
    pub sum: f64,
    /// Slowest pair.
    pub slowest: f64,
}

impl Shares {
    /// Computes the shares from the trials of a case; `None` with one pair.
    pub(crate) fn of(trials: &[&Measurement]) -> Option<Shares> {
        let over_trials = |figure: &dyn Fn(&[f64]) -> Option<f64>| {
            let each: Vec<f64> = trials.iter().filter_map(|trial| figure(&rates(&trial.parts))).collect();
            median(&each).map(tidy)
        };
        let share = |rates: &[f64], rate: Option<f64>| rate.map(|rate| rate / rates.iter().sum::<f64>());
        Some(Shares {
            fairness: over_trials(&jain)?,
            least: over_trials(&|rates: &[f64]| share(rates, least(rates)))?,
            most: over_trials(&|rates: &[f64]| share(rates, rates.iter().copied().reduce(f64::max)))?,
            slowest_per_second: tidy(
                1e9 / over_trials(&|rates: &[f64]| least(rates).map(|rate| 1e9 / rate))?,
            ),
            against_one: None,
        })
    }

    /// Compares all pairs, with a total of `per_second`, with one pair alone.
    pub(crate) fn compare_with_one(&mut self, per_second: f64, alone_per_second: f64) {
        self.against_one = Some(AgainstOne {
            sum: tidy(per_second / alone_per_second),
            slowest: tidy(self.slowest_per_second / alone_per_second),
        });
    }
}

/// Returns the exchanges per second of each part.
fn rates(parts: &[Part]) -> Vec<f64> {
    parts.iter().map(|part| part.round_trips as f64 * 1e9 / part.elapsed_ns.max(1) as f64).collect()
}

fn least(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedRun, Run, fixture};
    use furlong_model::{Outcome, Placement, Record, Trial, Wait};
    use std::num::NonZeroU32;

    fn trials(parties: u32, median_ns: f64) -> Vec<Record> {
        let parties = NonZeroU32::new(parties).unwrap();
        let case = fixture::case("pipe", Wait::Block, Placement::Spread).with_parties(parties);
        let trial = |number| {
            let outcome = Outcome::Measured(fixture::measurement(&case, median_ns, 0));
            let family = fixture::family(&case.mechanism);
            Record::Trial(Trial { case: case.clone(), family, number, at_ns: None, outcome })
        };
        (0..3).map(trial).collect()
    }

    #[test]
    fn several_are_compared_with_one_alone() {
        let records =
            [vec![Record::Run(fixture::header())], trials(4, 10_000.0), trials(1, 5_000.0)].concat();
        let summary = DecodedRun::of(&Run::from_records(records).unwrap()).summary;
        let [one, four] = &summary.rows[..] else { panic!("{:?}", summary.skipped) };
        assert_eq!(one.shares, None);
        let shares = four.shares.unwrap();
        assert!((shares.fairness - 1.0).abs() < 1e-6 && (shares.least - 0.25).abs() < 1e-3, "{shares:?}");
        let against = shares.against_one.unwrap();
        assert!((against.sum - 2.0).abs() < 0.01 && (against.slowest - 0.5).abs() < 0.01, "{against:?}");
        assert!(summary.groups[1].title.ends_with(", 4 pairs at once"), "{:?}", summary.groups[1]);
    }

    #[test]
    fn the_slowest_and_the_largest_are_found() {
        let case = fixture::case("pipe", Wait::Block, Placement::Spread);
        let case = case.with_parties(NonZeroU32::new(4).unwrap());
        let mut trial = fixture::measurement(&case, 1000.0, 0);
        let each: Vec<u64> = trial.parts.iter().map(|part| part.round_trips).collect();
        trial.parts[2].round_trips = each[2] / 2;
        trial.parts[3].round_trips = each[3] * 3 / 2;
        let shares = Shares::of(&[&trial]).unwrap();
        assert!((shares.least - 0.125).abs() < 1e-3 && (shares.most - 0.375).abs() < 1e-3, "{shares:?}");
        assert!((shares.fairness - 16.0 / (4.0 * 4.5)).abs() < 1e-3, "{shares:?}");
    }
}

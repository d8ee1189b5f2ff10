//! One case's figures, computed from all of its measured trials.

use crate::{
    Distribution, HistogramError, Law, Mixture, Shape,
    checks::{check_trial, is_above_the_clock},
    count::{CountRow, total},
    law::Breach,
    statistics::{median, median_interval, uncertainty},
};
use furlong_model::{Case, CountMethod, Family, Measurement, Pace, RoleTally, RunHeader};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A case that was measured, verified and found consistent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// Always `measured`: a row without a speed is not here but among the skipped.
    pub status: RowStatus,
    /// The kind of mechanism, where the reader of the run knows it.
    pub family: Option<Family>,
    /// Name of the group that it is ranked in.
    pub group: String,
    /// Place in the group by median, counted from 1; rows that tie with the first of their place share it.
    pub rank: usize,
    /// Rows of the group that it cannot be told apart from, since the intervals overlap.
    pub tied_with: Vec<String>,
    /// Trials that were measured.
    pub trials: usize,
    /// Trials that started and did not end well, none of them by a corrupted message.
    pub failed_trials: usize,
    /// Round trips to one reading of the clock: above 1 the percentiles are of means of that many.
    pub round_trips_per_sample: u32,
    /// Times of one round trip, in nanoseconds.
    pub round_trip_ns: Times,
    /// Whether its trials, and the round trips in them, are of one kind.
    #[serde(default)]
    pub shape: Shape,
    /// Share of messages that were sent later than they were due, 0 to 1; `None` where none was due at a set time.
    #[serde(default)]
    pub late_sends_share: Option<f64>,
    /// Round trips in a second: the median over trials.
    pub round_trips_per_second: f64,
    /// Processor time over both roles, in nanoseconds.
    pub cpu_ns_per_round_trip: Cpu,
    /// Context switches over both roles.
    pub switches_per_round_trip: Switches,
    /// Page faults over both roles.
    pub page_faults_per_round_trip: PageFaults,
    /// System calls over both roles in the counted pass, by name; `None` where they were not counted.
    #[serde(default)]
    pub system_calls_per_round_trip: Option<BTreeMap<String, f64>>,
    /// How they were counted; `None` without a counted pass.
    #[serde(default)]
    pub count_method: Option<CountMethod>,
    /// Whether messages were checked byte by byte in every trial and both roles counted the same.
    pub verified: bool,
    /// Values in force where the kernel has a say, by name; the smallest where trials differ.
    pub effective: BTreeMap<String, u64>,
    /// Processors of the roles, the initiator first, by the kernel's numbers.
    pub processors: Vec<usize>,
}

/// What came of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStatus {
    /// Every message arrived as it was sent.
    #[default]
    Measured,
}

/// Times of one round trip, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The median of the trials' medians.
    pub p50: f64,
    /// 90 % of the mixture of all trials take no longer.
    pub p90: f64,
    /// 99 % take no longer.
    pub p99: f64,
    /// 99.9 % take no longer.
    pub p999: f64,
    /// The longest sample of all trials.
    pub max: f64,
    /// Mean of the trials' means.
    pub mean: f64,
    /// Standard deviation within and between trials.
    pub stddev: f64,
    /// 95 % interval of `p50`, see [`median_interval`]; `None` for fewer than three trials.
    pub median_ci95: Option<[f64; 2]>,
}

impl Times {
    /// The farther end of the interval as a share of `p50`: 0.05 is ±5 %.
    pub fn uncertainty(&self) -> Option<f64> {
        self.median_ci95.map(|ends| uncertainty(self.p50, ends))
    }
}

/// Processor time over both roles, in nanoseconds a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

/// Context switches over both roles, a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Switches {
    /// To wait.
    pub voluntary: f64,
    /// Because the processor was taken away.
    pub involuntary: f64,
}

impl PageFaults {
    /// From what gives any figure of a tally for one round trip.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        PageFaults { minor: each(|role| role.minor_faults), major: each(|role| role.major_faults) }
    }
}

impl Switches {
    /// From what gives any figure of a tally for one round trip.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        Switches {
            voluntary: each(|role| role.voluntary_switches),
            involuntary: each(|role| role.involuntary_switches),
        }
    }

    /// Of either kind.
    pub fn all(self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// Page faults over both roles, a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PageFaults {
    /// Served without reading a disk.
    pub minor: f64,
    /// Served by reading one.
    pub major: f64,
}

impl Row {
    /// The figures of `trials` (number and measurement, at least one), or why they may not be shown.
    pub(crate) fn measure(
        header: &RunHeader,
        case: &Case,
        family: Option<Family>,
        trials: &[(u32, &Measurement)],
    ) -> Result<Self, Breach> {
        let times = decode_and_check(case, trials)?;
        let trials: Vec<_> = trials.iter().map(|(_, trial)| *trial).collect();
        let rates: Vec<_> = trials.iter().map(|trial| trial.round_trips as f64 / seconds(trial)).collect();
        let round_trips_per_sample =
            trials.iter().map(|trial| trial.round_trips_per_sample).max().unwrap_or_default();
        let no_trial = || Breach::new(Law::CompleteRecord, "there is no measured trial");
        let round_trip_ns = Times::of(&times).ok_or_else(no_trial)?;
        is_above_the_clock(round_trip_ns.p50, round_trips_per_sample, &header.harness)?;
        let each = |figure: fn(&RoleTally) -> u64| per_round_trip(&trials, figure);
        Ok(Row {
            case: case.clone(),
            status: RowStatus::Measured,
            family,
            group: String::new(),
            rank: 0,
            tied_with: Vec::new(),
            trials: trials.len(),
            failed_trials: 0,
            round_trips_per_sample,
            round_trip_ns,
            shape: Shape::of(&times, round_trips_per_sample, header),
            late_sends_share: late_sends_share(case, &trials),
            round_trips_per_second: tidy(median(&rates).unwrap_or_default()),
            cpu_ns_per_round_trip: Cpu {
                user: each(|role| role.user_ns),
                system: each(|role| role.system_ns),
            },
            switches_per_round_trip: Switches::of(each),
            page_faults_per_round_trip: PageFaults::of(each),
            system_calls_per_round_trip: None,
            count_method: None,
            // The checks refuse anything else.
            verified: true,
            effective: smallest_effective(&trials),
            processors: trials[0].roles.iter().map(|role| role.processor).collect(),
        })
    }

    /// With what its counted pass found.
    pub(crate) fn counted(self, count: CountRow) -> Self {
        Row {
            system_calls_per_round_trip: count.figures.system_calls_per_round_trip,
            count_method: Some(count.counting.method),
            ..self
        }
    }

    /// All system calls of both roles in a round trip; `None` where they were not counted.
    pub fn system_calls(&self) -> Option<f64> {
        self.system_calls_per_round_trip.as_ref().map(total)
    }

    /// Processor time over both roles, user and kernel, in nanoseconds a round trip.
    pub fn cpu_ns(&self) -> f64 {
        self.cpu_ns_per_round_trip.user + self.cpu_ns_per_round_trip.system
    }

    /// Processors that the two roles keep busy on average.
    pub fn processors_busy(&self) -> f64 {
        self.cpu_ns() * self.round_trips_per_second / 1e9
    }

    /// Whether the intervals of both are known and apart: only then is one faster than the other.
    pub fn differs_from(&self, other: &Row) -> bool {
        match (self.round_trip_ns.median_ci95, other.round_trip_ns.median_ci95) {
            (Some(a), Some(b)) => a[0] > b[1] || b[0] > a[1],
            _ => false,
        }
    }
}

impl Times {
    /// The figures of the trials together; `None` without trials.
    ///
    /// p50 comes from the trials' medians, the rest from their mixture. Still p50 <= p90: half of the trials
    /// have a median at or above p50, and half of each one's mass lies at or above its median, so at least
    /// 25 % of the mixture's mass lies at or above p50.
    fn of(trials: &[Distribution]) -> Option<Self> {
        let medians: Vec<_> = trials.iter().map(Distribution::median_ns).collect();
        let mixture = Mixture::of(trials)?;
        Some(Times {
            p50: tidy(median(&medians)?),
            p90: tidy(mixture.quantile_ns(0.9)),
            p99: tidy(mixture.quantile_ns(0.99)),
            p999: tidy(mixture.quantile_ns(0.999)),
            max: tidy(mixture.max_ns()),
            mean: tidy(mixture.mean_ns()),
            stddev: tidy(mixture.stddev_ns()),
            median_ci95: median_interval(&medians).map(|ends| ends.map(tidy)),
        })
    }
}

/// The times of each trial; the first one that cannot stand fails the row.
fn decode_and_check(case: &Case, trials: &[(u32, &Measurement)]) -> Result<Vec<Distribution>, Breach> {
    let decode = |&(number, trial): &(u32, &Measurement)| {
        let unreadable = |error: HistogramError| Breach::new(Law::CompleteRecord, error.to_string());
        let checked = Distribution::decode(&trial.histogram)
            .map_err(unreadable)
            .and_then(|times| check_trial(case, trial, &times).map(|()| times));
        checked.map_err(|breach| breach.in_trial(number))
    };
    trials.iter().map(decode).collect()
}

fn seconds(trial: &Measurement) -> f64 {
    trial.elapsed_ns as f64 / 1e9
}

/// A count over both roles, a round trip.
///
/// Totals over all trials, not a median of trials: kernels that split processor time by clock ticks are right
/// on average only. Each role is divided by its own round trips, since it may have counted over more of them.
fn per_round_trip(trials: &[&Measurement], figure: fn(&RoleTally) -> u64) -> f64 {
    let of_role = |index: usize| {
        let tallies = || trials.iter().filter_map(|trial| trial.roles.get(index));
        let round_trips: f64 = tallies().map(|role| role.round_trips as f64).sum();
        if round_trips > 0.0 {
            tallies().map(|role| figure(role) as f64).sum::<f64>() / round_trips
        } else {
            0.0
        }
    };
    tidy(of_role(0) + of_role(1))
}

/// Only a pace of fixed times makes a message late.
fn late_sends_share(case: &Case, trials: &[&Measurement]) -> Option<f64> {
    let sends: f64 = trials.iter().map(|trial| trial.round_trips as f64).sum();
    let late: f64 = trials.iter().map(|trial| trial.late_sends as f64).sum();
    (matches!(case.pace, Pace::Every(_)) && sends > 0.0).then(|| tidy(late / sends))
}

fn smallest_effective(trials: &[&Measurement]) -> BTreeMap<String, u64> {
    let mut smallest = BTreeMap::new();
    for (name, &value) in trials.iter().flat_map(|trial| &trial.effective) {
        smallest
            .entry(name.clone())
            .and_modify(|least: &mut u64| *least = value.min(*least))
            .or_insert(value);
    }
    smallest
}

/// Seven significant digits: more than any figure here is worth, and the same on every machine.
pub(crate) fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, header, measurement};
    use furlong_model::{Placement, Wait};

    fn measure(change: impl Fn(usize, &mut Measurement)) -> Result<Row, Breach> {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let mut trials: Vec<_> = [5000.0, 5200.0, 4900.0].map(|ns| measurement(&case, ns, 0)).into();
        trials.iter_mut().enumerate().for_each(|(index, trial)| change(index, trial));
        let numbered: Vec<_> = (0..).zip(&trials).collect();
        Row::measure(&header(), &case, None, &numbered)
    }

    #[test]
    fn figures_come_from_all_trials() {
        let row = measure(|_, _| {}).unwrap();
        let times = row.round_trip_ns;
        assert!((times.p50 - 5000.0).abs() < 5.0, "{times:?}");
        let [low, high] = times.median_ci95.unwrap();
        assert!((low - 4900.0).abs() < 5.0 && (high - 5200.0).abs() < 5.0);
        assert!((times.uncertainty().unwrap() - 0.04).abs() < 0.002);
        assert!([times.p50, times.p90, times.p99, times.p999, times.max].is_sorted());
        assert!(row.verified && row.trials == 3);
    }

    #[test]
    fn counts_are_totals_over_totals_of_each_role() {
        let row = measure(|index, trial| {
            trial.roles[0].voluntary_switches = if index == 0 { 3 * trial.roles[0].round_trips } else { 0 };
            trial.roles[1].round_trips *= 2;
            trial.roles[1].voluntary_switches = trial.roles[1].round_trips;
        });
        let switches = row.unwrap().switches_per_round_trip.voluntary;
        assert!((switches - 2.0).abs() < 0.05, "{switches}");
    }

    #[test]
    fn one_bad_trial_fails_the_row_and_is_numbered() {
        let verified = measure(|index, trial| trial.verified_messages *= u64::from(index as u32 != 1));
        assert_eq!(verified.unwrap_err(), Breach::new(Law::Verified, "trial 2: no message was verified"));
        let unreadable = measure(|_, trial| trial.histogram = "?".into());
        let breach = unreadable.unwrap_err();
        assert!(breach.reason.starts_with("trial 1: its histogram cannot be read"), "{breach:?}");
        assert_eq!(breach.law, Law::CompleteRecord);
    }

    #[test]
    fn the_smallest_effective_value_counts() {
        let row = measure(|index, trial| {
            trial.effective = BTreeMap::from([("pipe-size-bytes".to_owned(), 4096 << index)]);
        });
        assert_eq!(row.unwrap().effective["pipe-size-bytes"], 4096);
    }
}

//! Figures of one exchange: a round trip, a request with its answer, or one message one way.
//!
//! The code uses the same names for all units. In JSON the unit is part of each name, as in `round_trip_ns` and
//! `message_ns`, so that readers do not confuse them.

use furlong_model::{Case, DecidingFigure, Measurement, Role, RoleTally, Unit, WaitKind};
use furlong_stats::{Distribution, Mixture, median, median_interval, outwards, tidy, uncertainty};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Figures of one exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeFigures {
    /// Unit of the exchange.
    pub unit: Unit,
    /// Exchanges per reading of the clock. If it is above 1, the percentiles are those of means over that many exchanges.
    pub per_sample: u32,
    /// Times of the exchange.
    pub ns: Times,
    /// Mean time, if it decides: of a stream the time per message, which is the reciprocal of its rate.
    pub mean: Option<MedianTime>,
    /// Exchanges per second: the reciprocal of the median over trials of the time per exchange.
    pub per_second: f64,
    /// 95 % interval of `per_second` over trials; `None` for round trips, or for fewer than three trials.
    pub per_second_ci95: Option<[f64; 2]>,
    /// Bytes per second at that rate, of messages one way or of answers; `None` for round trips.
    pub bytes_per_second: Option<f64>,
    /// CPU time over both roles, in nanoseconds.
    pub cpu_ns: Cpu,
    /// Context switches over both roles.
    pub switches: Switches,
    /// Page faults over both roles.
    pub page_faults: PageFaults,
    /// System calls over both roles in the counted pass, by name; `None` if they were not counted.
    pub system_calls: Option<BTreeMap<String, f64>>,
}

impl Serialize for ExchangeFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let key = self.unit.key();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("unit", &self.unit)?;
        map.serialize_entry(&format!("{key}s_per_sample"), &self.per_sample)?;
        map.serialize_entry(&format!("{key}_ns"), &self.ns)?;
        map.serialize_entry(&format!("{key}s_per_second"), &self.per_second)?;
        if let Some(interval) = self.per_second_ci95 {
            map.serialize_entry(&format!("{key}s_per_second_ci95"), &interval)?;
        }
        if let Some(bytes) = self.bytes_per_second {
            map.serialize_entry("bytes_per_second", &bytes)?;
        }
        map.serialize_entry(&format!("cpu_ns_per_{key}"), &self.cpu_ns)?;
        map.serialize_entry(&format!("switches_per_{key}"), &self.switches)?;
        map.serialize_entry(&format!("page_faults_per_{key}"), &self.page_faults)?;
        map.serialize_entry(&format!("system_calls_per_{key}"), &self.system_calls)?;
        map.end()
    }
}

impl ExchangeFigures {
    /// Computes the figures of a case from its trials and their times; `None` without trials.
    pub(crate) fn of(case: &Case, trials: &[&Measurement], times: &[Distribution]) -> Option<Self> {
        let unit = Unit::of(case.pattern());
        let per_second = per_second(trials.iter().copied())?;
        let interval_ns = median_interval(&trials.iter().map(|trial| trial.each_ns()).collect::<Vec<_>>());
        let carries_a_load = case.size_bytes > 0 && case.pattern().facts().has_throughput;
        Some(ExchangeFigures {
            unit,
            per_sample: trials.iter().map(|trial| trial.round_trips_per_sample).max()?,
            ns: Times::of(times)?,
            mean: None,
            per_second,
            per_second_ci95: interval_ns
                .filter(|_| carries_a_load)
                .map(|[low, high]| outwards([1e9 / high, 1e9 / low])),
            bytes_per_second: carries_a_load.then(|| tidy(per_second * case.mean_bytes())),
            cpu_ns: Cpu::of(case, trials),
            switches: Switches::from_trials(case, trials),
            page_faults: PageFaults::from_trials(case, trials),
            system_calls: None,
        })
    }

    /// Returns the time by which benchmarks are ordered and compared: the mean if it decides, and otherwise `p50`.
    pub fn deciding(&self) -> MedianTime {
        self.mean.unwrap_or(MedianTime { ns: self.ns.p50, ci95: self.ns.median_ci95 })
    }
}

/// Median over trials, in nanoseconds, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianTime {
    /// The median.
    pub ns: f64,
    /// 95 % interval; `None` for fewer than three trials.
    pub ci95: Option<[f64; 2]>,
}

impl MedianTime {
    /// Returns the distance of the farther end of the interval from the median, as a share of it: 0.05 is ±5 %.
    pub fn uncertainty(&self) -> Option<f64> {
        self.ci95.map(|ends| uncertainty(self.ns, ends))
    }
}

/// Returns the time of a trial by which benchmarks are compared, in nanoseconds: of a stream the time per message of each link.
pub(crate) fn deciding_ns(case: &Case, trial: &Measurement, times: &Distribution) -> f64 {
    match case.deciding_figure() {
        DecidingFigure::Throughput => trial.each_ns() * f64::from(case.links().get()),
        DecidingFigure::Mean => times.mean_ns(),
        DecidingFigure::Median => times.median_ns(),
    }
}

/// Times of one exchange, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// Median of the trials' medians.
    pub p50: f64,
    /// 90th percentile of the mixture of all trials.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// 99.99th percentile; `None` for fewer than 100,000 samples.
    #[serde(default)]
    pub p9999: Option<f64>,
    /// Samples of all trials.
    #[serde(default)]
    pub samples: u64,
    /// Shortest sample of all trials.
    pub min: f64,
    /// Longest sample of all trials.
    pub max: f64,
    /// Median of the trials' means.
    pub mean: f64,
    /// Standard deviation within and between trials.
    pub stddev: f64,
    /// 95 % interval of `p50`, see [`median_interval`]; `None` for fewer than three trials.
    pub median_ci95: Option<[f64; 2]>,
}

/// Minimum number of samples at or beyond a time for a statement about it.
pub const FEWEST_BEYOND: u64 = 10;

/// Minimum number of samples for p99, p99.9 and p99.99: one beyond p99, and [`FEWEST_BEYOND`] beyond the others.
const FEWEST_SAMPLES: [u64; 3] = [100, 1_000 * FEWEST_BEYOND, 10_000 * FEWEST_BEYOND];

/// Returns the minimum number of samples for a percentile. One sample must be beyond p90, as for p99.
pub fn fewest_samples(quantile: f64) -> u64 {
    match quantile {
        q if q <= 0.5 => 0,
        q if q <= 0.9 => 10,
        q if q <= 0.99 => FEWEST_SAMPLES[0],
        _ => FEWEST_SAMPLES[1],
    }
}

impl Times {
    /// Returns p99, p99.9 and p99.99, each if there are enough samples.
    pub fn tail(&self) -> [Option<f64>; 3] {
        let is_known = |at: usize| self.samples >= FEWEST_SAMPLES[at];
        [Some(self.p99).filter(|_| is_known(0)), Some(self.p999).filter(|_| is_known(1)), self.p9999]
    }

    /// Returns the smallest of the percentiles p50, p90, p99 and p99.9 that is at least this quantile, if there are enough
    /// samples for it.
    pub fn percentile(&self, quantile: f64) -> Option<f64> {
        let is_known = self.samples >= fewest_samples(quantile);
        let ns = match quantile {
            q if q <= 0.5 => self.p50,
            q if q <= 0.9 => self.p90,
            q if q <= 0.99 => self.p99,
            _ => self.p999,
        };
        Some(ns).filter(|_| is_known)
    }
}

/// CPU time over both roles, in nanoseconds per exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cpu {
    /// Time in user mode.
    pub user: f64,
    /// Time in the kernel.
    pub system: f64,
    /// 95 % confidence interval of the median of their sum; `None` for fewer than three trials, or if the kernel counts CPU
    /// time in clock ticks.
    pub ci95: Option<[f64; 2]>,
}

/// Context switches over both roles, per exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Switches {
    /// Switches of a role that waits for the other.
    pub voluntary: f64,
    /// Switches of a role that was preempted.
    pub involuntary: f64,
}

impl Cpu {
    /// Computes the CPU time over several trials of a case, without the time spent waiting until messages are due.
    pub(crate) fn of(case: &Case, trials: &[&Measurement]) -> Self {
        let each: Vec<[f64; 2]> = trials
            .iter()
            .map(|trial| {
                let part = |figure: fn(&RoleTally) -> u64| {
                    per_exchange(case, trial, |role| figure(role) as f64 * measured_share(case, trial, role))
                };
                [part(RoleTally::user_work_ns), part(RoleTally::system_work_ns)]
            })
            .collect();
        let ticks = in_ticks(trials).then(|| ticks_per_exchange(trials, &each)).flatten();
        let [user, system] = over_trials(&each, ticks);
        Cpu { user, system, ci95: None }
    }

    /// Returns the sum of both modes for each trial; empty if the kernel counts clock ticks.
    pub(crate) fn per_trial(case: &Case, trials: &[&Measurement]) -> Vec<f64> {
        if in_ticks(trials) {
            return Vec::new();
        }
        trials.iter().map(|trial| Cpu::of(case, &[trial]).all()).collect()
    }

    /// Limits the sum to the time of all CPUs. The readings of CPU time span more than the elapsed time if there are few
    /// exchanges, or if programs report no times.
    pub(crate) fn up_to(self, most_ns: f64) -> Self {
        if most_ns <= 0.0 || self.all() <= most_ns {
            return self;
        }
        let [user, system] = [self.user, self.system].map(|ns| tidy(ns * most_ns / self.all()));
        Cpu { user, system, ci95: self.ci95.map(|ends| ends.map(|end| tidy(end.min(most_ns)))) }
    }

    /// Returns the sum of both modes.
    pub fn all(self) -> f64 {
        self.user + self.system
    }
}

impl PageFaults {
    /// Computes the page faults per exchange. `each` returns a figure of the tally per exchange.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        PageFaults { minor: each(|role| role.minor_faults), major: each(|role| role.major_faults) }
    }

    /// Computes the page faults per exchange over several trials of a case.
    fn from_trials(case: &Case, trials: &[&Measurement]) -> Self {
        let each = in_each(case, trials, [|role| role.minor_faults, |role| role.major_faults]);
        let [minor, major] = over_trials(&each, None);
        PageFaults { minor, major }
    }
}

impl Switches {
    /// Computes the context switches per exchange over several trials of a case.
    pub(crate) fn from_trials(case: &Case, trials: &[&Measurement]) -> Self {
        let each = in_each(case, trials, [RoleTally::switches_to_wait, |role| role.involuntary_switches]);
        let [voluntary, involuntary] = over_trials(&each, None);
        Switches { voluntary, involuntary }
    }

    /// Computes the context switches per exchange. `each` returns a figure of the tally per exchange.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        Switches {
            voluntary: each(RoleTally::switches_to_wait),
            involuntary: each(|role| role.involuntary_switches),
        }
    }

    /// Returns the number of all switches.
    pub fn all(self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// Page faults over both roles, per exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PageFaults {
    /// Faults that did not read from a disk.
    pub minor: f64,
    /// Faults that read from a disk.
    pub major: f64,
}

impl Times {
    /// Computes the times over several trials; `None` without trials.
    ///
    /// p50 and the mean are medians over trials. The tail is that of the mixture, because a median over trials hides rare
    /// events. p50 <= p90 still holds. Half of the trials have a median of at least p50, and half of the mass of each of
    /// them is at or above its median. Therefore at least 25 % of the mixture is at or above p50.
    pub(crate) fn of(trials: &[Distribution]) -> Option<Self> {
        let medians: Vec<_> = trials.iter().map(Distribution::median_ns).collect();
        let means: Vec<_> = trials.iter().map(Distribution::mean_ns).collect();
        let mixture = Mixture::of(trials)?;
        let samples = trials.iter().map(Distribution::samples).sum();
        Some(Times {
            p9999: (samples >= FEWEST_SAMPLES[2]).then(|| tidy(mixture.quantile_ns(0.9999))),
            samples,
            p50: tidy(median(&medians)?),
            p90: tidy(mixture.quantile_ns(0.9)),
            p99: tidy(mixture.quantile_ns(0.99)),
            p999: tidy(mixture.quantile_ns(0.999)),
            min: tidy(mixture.quantile_ns(0.0)),
            max: tidy(mixture.max_ns()),
            mean: tidy(median(&means)?),
            stddev: tidy(mixture.stddev_ns()),
            median_ci95: median_interval(&medians).map(|ends| ends.map(tidy)),
        })
    }
}

/// Returns the exchanges per second over trials: the reciprocal of the median time per exchange; `None` without trials.
///
/// It is not the median of the rates. For an even number of trials, the mean of the two middle rates exceeds the reciprocal
/// of the mean time. Rate times latency would then exceed the number of messages in flight.
pub(crate) fn per_second<'a>(trials: impl Iterator<Item = &'a Measurement>) -> Option<f64> {
    let each: Vec<f64> = trials.map(Measurement::each_ns).collect();
    median(&each).map(|ns| tidy(1e9 / ns))
}

/// Returns two parts of a sum over both roles, per exchange, for each trial.
fn in_each(case: &Case, trials: &[&Measurement], parts: [fn(&RoleTally) -> u64; 2]) -> Vec<[f64; 2]> {
    let of_trial =
        |trial: &&Measurement| parts.map(|figure| per_exchange(case, trial, |role| figure(role) as f64));
    trials.iter().map(of_trial).collect()
}

/// Returns the share of a role's CPU time that belongs to the measured part, from 0 to 1.
///
/// A role that busy-waits also does so before and after the measured part, while it waits for the other role. On a busy
/// machine this lasts longer than a short trial. A blocking role uses no CPU time then.
fn measured_share(case: &Case, trial: &Measurement, role: &RoleTally) -> f64 {
    let is_own_loop = trial.adapter.is_none() && trial.programs.is_none();
    if !is_own_loop || case.wait.kind() != WaitKind::Spinning {
        return 1.0;
    }
    let window_ns = role.window_ns.map_or(role.user_ns as f64 + role.system_ns as f64, |ns| ns as f64);
    let links = f64::from(case.links().get());
    let counted = role.round_trips as f64 * links / trial.round_trips as f64;
    // If there are few exchanges, one more of them is a long time.
    let more = if trial.parts.is_empty() { counted.max(1.0) } else { 1.0 };
    (trial.elapsed_ns as f64 * more / window_ns.max(1.0)).min(1.0)
}

/// Combines two parts over trials. Their sum is the median of the trials' sums, or `sum`. The split is that of all trials
/// together, because kernels that split CPU time by clock ticks are correct only on average.
fn over_trials(each: &[[f64; 2]], sum: Option<f64>) -> [f64; 2] {
    let sums: Vec<f64> = each.iter().map(|[one, other]| one + other).collect();
    let sum = sum.or_else(|| median(&sums)).unwrap_or_default();
    let share = each.iter().map(|[one, _]| one).sum::<f64>() / sums.iter().sum::<f64>();
    let share = if share.is_finite() { share } else { 0.0 };
    [sum * share, sum * (1.0 - share)].map(tidy)
}

/// Whether CPU time is counted in clock ticks, as on Windows (1/64 s) and Wine (1/100 s). A trial may then have none.
pub(crate) fn in_ticks(trials: &[&Measurement]) -> bool {
    const BOTH_NS: u64 = 625_000;
    let mut roles = trials.iter().flat_map(|trial| &trial.roles);
    roles.all(|role| [role.user_ns, role.system_ns].iter().all(|ns| ns.is_multiple_of(BOTH_NS)))
}

/// Returns the CPU time per exchange from ticks: the share of the time over all trials, times the median time.
fn ticks_per_exchange(trials: &[&Measurement], each: &[[f64; 2]]) -> Option<f64> {
    let used: f64 = trials.iter().zip(each).map(|(trial, [a, b])| (a + b) * trial.round_trips as f64).sum();
    let elapsed: f64 = trials.iter().map(|trial| trial.elapsed_ns as f64).sum();
    Some(used / elapsed * median(&trials.iter().map(|trial| trial.each_ns()).collect::<Vec<_>>())?)
}

/// Returns a count over both roles per exchange of one trial. Each role is divided by its own exchanges, because it may
/// have counted more of them.
pub(crate) fn per_exchange(case: &Case, trial: &Measurement, figure: impl Fn(&RoleTally) -> f64) -> f64 {
    // The receivers share the work of the sender.
    let receivers = f64::from(case.exchange.receivers_per_message().get());
    let of_role = |role: Role| {
        let tallies = || trial.roles.iter().filter(|tally| tally.party.role == role);
        let round_trips: u64 = tallies().map(|role| role.round_trips).sum();
        tallies().map(&figure).sum::<f64>() / round_trips.max(1) as f64
    };
    of_role(Role::Initiator) / receivers + of_role(Role::Responder)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{case, summary};
    use crate::{Row, fixture};
    use furlong_model::{Case, Pattern, Placement, Wait};

    #[test]
    fn the_unit_is_in_every_name() {
        let row = summary().rows.remove(0);
        let message = Row {
            exchange: super::ExchangeFigures { unit: super::Unit::Message, ..row.exchange.clone() },
            ..row.clone()
        };
        let text = serde_json::to_string(&message).unwrap();
        assert!(
            text.contains("\"unit\":\"message\"")
                && text.contains("\"message_ns\"")
                && !text.contains("round_trip"),
            "{text}"
        );
        let text = serde_json::to_string(&row).unwrap();
        assert!(text.contains("\"round_trip_ns\"") && !text.contains("message_ns"), "{text}");
    }

    #[test]
    fn what_carries_a_load_has_a_throughput() {
        let round_trips = case("pipe", Wait::Block, Placement::OtherCore);
        let one_way = round_trips.clone().with_pattern(Pattern::OneWay);
        let measured = |case: &Case| {
            let trial = fixture::measurement(case, 5000.0, 0);
            super::ExchangeFigures::of(case, &[&trial], &[fixture::decoded(&trial)]).unwrap()
        };
        assert_eq!(measured(&round_trips).bytes_per_second, None);
        let streamed = measured(&one_way);
        assert!(
            (streamed.bytes_per_second.unwrap() / streamed.per_second - 128.0).abs() < 1e-3,
            "{streamed:?}"
        );
    }
}

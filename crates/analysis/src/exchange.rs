//! What one exchange takes: a round trip, a request with its answer, or one message one way.
//!
//! Inside, all have one name. In JSON the unit is part of each name, as in `round_trip_ns` and `message_ns`, so that
//! nobody takes the one for the other.

use furlong_model::{Case, Measurement, Role, RoleTally, Unit, WaitKind};
use furlong_stats::{Distribution, Mixture, median, median_interval, tidy, uncertainty};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The figures of one exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeFigures {
    /// What it is.
    pub unit: Unit,
    /// Exchanges to one reading of the clock: above 1 the percentiles are of means of that many.
    pub per_sample: u32,
    /// Its times.
    pub ns: Times,
    /// Exchanges per second: the reciprocal of the median over trials of the time per exchange.
    pub per_second: f64,
    /// Bytes that arrive in a second at that rate, of messages one way or of answers; `None` for round trips.
    pub bytes_per_second: Option<f64>,
    /// Processor time over both roles, in nanoseconds.
    pub cpu_ns: Cpu,
    /// Context switches over both roles.
    pub switches: Switches,
    /// Page faults over both roles.
    pub page_faults: PageFaults,
    /// System calls over both roles in the counted pass, by name; `None` where they were not counted.
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
    /// The figures of one case's trials and of the times in them; `None` without trials.
    pub(crate) fn of(case: &Case, trials: &[&Measurement], times: &[Distribution]) -> Option<Self> {
        let unit = Unit::of(case.pattern());
        let per_second = per_second(trials.iter().copied())?;
        let carries_a_load = case.size_bytes > 0 && case.pattern().facts().has_throughput;
        Some(ExchangeFigures {
            unit,
            per_sample: trials.iter().map(|trial| trial.round_trips_per_sample).max()?,
            ns: Times::of(times)?,
            per_second,
            bytes_per_second: carries_a_load.then(|| tidy(per_second * case.size_bytes as f64)),
            cpu_ns: Cpu::of(case, trials),
            switches: Switches::of_trials(case, trials),
            page_faults: PageFaults::of_trials(case, trials),
            system_calls: None,
        })
    }
}

/// Times of one exchange, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    /// The median of the trials' medians.
    pub p50: f64,
    /// 90 % of the mixture of all trials take no longer.
    pub p90: f64,
    /// 99 % take no longer.
    pub p99: f64,
    /// 99.9 % take no longer.
    pub p999: f64,
    /// 99.99 % take no longer; `None` for fewer than 100,000 samples.
    #[serde(default)]
    pub p9999: Option<f64>,
    /// Samples of all trials.
    #[serde(default)]
    pub samples: u64,
    /// The shortest sample of all trials.
    pub min: f64,
    /// The longest sample of all trials.
    pub max: f64,
    /// Median of the trials' means.
    pub mean: f64,
    /// Standard deviation within and between trials.
    pub stddev: f64,
    /// 95 % interval of `p50`, see [`median_interval`]; `None` for fewer than three trials.
    pub median_ci95: Option<[f64; 2]>,
}

/// Samples at or beyond a time without which nothing is said about it.
pub const FEWEST_BEYOND: u64 = 10;

/// Fewest samples for p99, p99.9 and p99.99: one beyond p99, and of the others as many as a tail needs.
const FEWEST_SAMPLES: [u64; 3] = [100, 1_000 * FEWEST_BEYOND, 10_000 * FEWEST_BEYOND];

/// Returns the minimum number of samples for a percentile: of p90, one is beyond it, as of p99.
pub fn fewest_samples(quantile: f64) -> u64 {
    match quantile {
        q if q <= 0.5 => 0,
        q if q <= 0.9 => 10,
        q if q <= 0.99 => FEWEST_SAMPLES[0],
        _ => FEWEST_SAMPLES[1],
    }
}

impl Times {
    /// p99, p99.9 and p99.99, each if there are enough samples for it.
    pub fn tail(&self) -> [Option<f64>; 3] {
        let is_known = |at: usize| self.samples >= FEWEST_SAMPLES[at];
        [Some(self.p99).filter(|_| is_known(0)), Some(self.p999).filter(|_| is_known(1)), self.p9999]
    }

    /// Returns the smallest of the percentiles p50, p90, p99 and p99.9 that is at least this quantile, if there are enough samples for it.
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

    /// The farther end of the interval as a share of `p50`: 0.05 is ±5 %.
    pub fn uncertainty(&self) -> Option<f64> {
        self.median_ci95.map(|ends| uncertainty(self.p50, ends))
    }
}

/// Processor time over both roles, in nanoseconds an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cpu {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
    /// 95 % interval of the median of their sum, as `p50` has one; `None` for fewer than three trials, and where the kernel
    /// counts CPU time in clock ticks.
    pub ci95: Option<[f64; 2]>,
}

/// Context switches over both roles, an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Switches {
    /// To wait for the other role.
    pub voluntary: f64,
    /// Because the processor was taken away.
    pub involuntary: f64,
}

impl Cpu {
    /// Of trials of a case together, without the time spent waiting for messages to be due.
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

    /// The sum of both modes in each trial; empty where the kernel counts clock ticks.
    pub(crate) fn of_each(case: &Case, trials: &[&Measurement]) -> Vec<f64> {
        if in_ticks(trials) {
            return Vec::new();
        }
        trials.iter().map(|trial| Cpu::of(case, &[trial]).all()).collect()
    }

    /// Limits the sum to the time of all CPUs: if there are few exchanges, or programs report no times, CPU time is read
    /// over more than the elapsed time.
    pub(crate) fn up_to(self, most_ns: f64) -> Self {
        if most_ns <= 0.0 || self.all() <= most_ns {
            return self;
        }
        let [user, system] = [self.user, self.system].map(|ns| tidy(ns * most_ns / self.all()));
        Cpu { user, system, ci95: self.ci95.map(|ends| ends.map(|end| tidy(end.min(most_ns)))) }
    }

    /// Of either mode.
    pub fn all(self) -> f64 {
        self.user + self.system
    }
}

impl PageFaults {
    /// From what gives any figure of a tally for one round trip.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        PageFaults { minor: each(|role| role.minor_faults), major: each(|role| role.major_faults) }
    }

    /// Of trials of a case together.
    fn of_trials(case: &Case, trials: &[&Measurement]) -> Self {
        let each = in_each(case, trials, [|role| role.minor_faults, |role| role.major_faults]);
        let [minor, major] = over_trials(&each, None);
        PageFaults { minor, major }
    }
}

impl Switches {
    /// Of trials of a case together.
    pub(crate) fn of_trials(case: &Case, trials: &[&Measurement]) -> Self {
        let each = in_each(case, trials, [RoleTally::switches_to_wait, |role| role.involuntary_switches]);
        let [voluntary, involuntary] = over_trials(&each, None);
        Switches { voluntary, involuntary }
    }

    /// From what gives any figure of a tally for one round trip.
    pub(crate) fn of(each: impl Fn(fn(&RoleTally) -> u64) -> f64) -> Self {
        Switches {
            voluntary: each(RoleTally::switches_to_wait),
            involuntary: each(|role| role.involuntary_switches),
        }
    }

    /// Of either kind.
    pub fn all(self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// Page faults over both roles, an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PageFaults {
    /// Served without reading a disk.
    pub minor: f64,
    /// Served by reading one.
    pub major: f64,
}

impl Times {
    /// The figures of the trials together; `None` without trials.
    ///
    /// p50 and the mean are medians over trials; the tail comes from the mixture, since a median over trials hides what is
    /// rare. Still p50 <= p90: half of the trials have a median at or above p50, and half of each one's mass lies at or above
    /// its median, so at least 25 % of the mixture's mass lies at or above p50.
    fn of(trials: &[Distribution]) -> Option<Self> {
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

/// The time per exchange of a trial, in nanoseconds.
pub(crate) fn each_ns(trial: &Measurement) -> f64 {
    trial.elapsed_ns as f64 / trial.round_trips as f64
}

/// Exchanges per second over trials: the reciprocal of the median time per exchange; `None` without trials.
///
/// Not the median of rates: of an even number of trials, the mean of the two middle rates is more than the reciprocal of the
/// mean of the two times, so that rate times latency would exceed the messages in flight.
pub(crate) fn per_second<'a>(trials: impl Iterator<Item = &'a Measurement>) -> Option<f64> {
    let each: Vec<f64> = trials.map(each_ns).collect();
    median(&each).map(|ns| tidy(1e9 / ns))
}

/// Two parts of a sum over both roles, per exchange, in each trial.
fn in_each(case: &Case, trials: &[&Measurement], parts: [fn(&RoleTally) -> u64; 2]) -> Vec<[f64; 2]> {
    let of_trial =
        |trial: &&Measurement| parts.map(|figure| per_exchange(case, trial, |role| figure(role) as f64));
    trials.iter().map(of_trial).collect()
}

/// The share of a role's processor time that belongs to the measured part, 0 to 1.
///
/// A spinning role also spins while it waits for the other role before and after that part, which is not in the elapsed time: on a
/// busy machine that takes longer than a short trial. A sleeping role uses no CPU time then.
fn measured_share(case: &Case, trial: &Measurement, role: &RoleTally) -> f64 {
    let is_own_loop = trial.adapter.is_none() && trial.programs.is_none();
    if !is_own_loop || case.wait.kind() != WaitKind::Spinning {
        return 1.0;
    }
    let window_ns = role.window_ns.map_or(role.user_ns as f64 + role.system_ns as f64, |ns| ns as f64);
    let links = f64::from(case.links().get());
    let counted = role.round_trips as f64 * links / trial.round_trips as f64;
    // One exchange more is a long time if there are few.
    let more = if trial.parts.is_empty() { counted.max(1.0) } else { 1.0 };
    (trial.elapsed_ns as f64 * more / window_ns.max(1.0)).min(1.0)
}

/// The two parts over trials: their sum is the median of the trials' sums, or `sum` if given, and is split as in all trials
/// together, since kernels that split processor time by clock ticks are right on average only.
fn over_trials(each: &[[f64; 2]], sum: Option<f64>) -> [f64; 2] {
    let sums: Vec<f64> = each.iter().map(|[one, other]| one + other).collect();
    let sum = sum.or_else(|| median(&sums)).unwrap_or_default();
    let share = each.iter().map(|[one, _]| one).sum::<f64>() / sums.iter().sum::<f64>();
    let share = if share.is_finite() { share } else { 0.0 };
    [sum * share, sum * (1.0 - share)].map(tidy)
}

/// Whether processor time is counted in clock ticks, as on Windows (1/64 s) and Wine (1/100 s): then a trial may show none.
pub(crate) fn in_ticks(trials: &[&Measurement]) -> bool {
    const BOTH_NS: u64 = 625_000;
    let mut roles = trials.iter().flat_map(|trial| &trial.roles);
    roles.all(|role| [role.user_ns, role.system_ns].iter().all(|ns| ns.is_multiple_of(BOTH_NS)))
}

/// Processor time per exchange if each trial's is in ticks: the share of time over all trials, by the median time.
fn ticks_per_exchange(trials: &[&Measurement], each: &[[f64; 2]]) -> Option<f64> {
    let used: f64 = trials.iter().zip(each).map(|(trial, [a, b])| (a + b) * trial.round_trips as f64).sum();
    let elapsed: f64 = trials.iter().map(|trial| trial.elapsed_ns as f64).sum();
    Some(used / elapsed * median(&trials.iter().map(|trial| each_ns(trial)).collect::<Vec<_>>())?)
}

/// A count over both roles per exchange of one trial. Each role is divided by its own exchanges, since it may have counted over
/// more of them.
pub(crate) fn per_exchange(case: &Case, trial: &Measurement, figure: impl Fn(&RoleTally) -> f64) -> f64 {
    // What a sender does for all receivers is shared by them.
    let receivers = if case.pattern().is_to_all() { f64::from(case.parties().get()) } else { 1.0 };
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
        let one_way = round_trips.clone().of_pattern(Pattern::OneWay);
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

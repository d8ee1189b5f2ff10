//! Verdict on the noise of a machine, which decides whether its figures are meaningful.
//!
//! Readings are taken before, between and after trials. The direct probes (spin, core to core) run while no role does, so
//! all of their readings count. Load and pressure include the run itself, so only their first reading counts. Steal and
//! throttling are counters, so their difference over the whole run counts. `furlong doctor` judges a few readings with the
//! same function as a run.
//!
//! Preemption is judged by time and not by the number of switches. On an idle machine, kernel threads interrupt a process
//! that busy-waits a hundred times per second, for microseconds each.

use crate::{
    Run,
    trials::{CaseTrials, Trials},
};
use furlong_model::{Case, Measurement, NoiseReading, Placement, WaitKind, named_enum};
use furlong_stats::{distinct, median, sort_by, sort_by_key, tidy};
use serde::{Deserialize, Serialize};

/// Share of time that processes which never wait lost to others: 1 % moves a median by less than an interval's ±5 %. Of trials on
/// an idle virtual machine, 0.1 to 0.6 % was lost.
const SPIN_LOST: Bounds = Bounds { noisy: 0.01, unreliable: 0.05 };
/// Share of time that the hypervisor used for others. It occurs in slices that a trial cannot predict.
const STEAL: Bounds = Bounds { noisy: 0.005, unreliable: 0.05 };
/// Largest core-to-core time over the smallest: the host moves virtual cores between cores of one socket
/// (1.5 and less is common) and between hardware threads of one core (3 and more).
const CORE_TO_CORE: Bounds = Bounds { noisy: MOVED, unreliable: 3.0 };
/// Minimum ratio of two core-to-core times that shows that the host moved a core.
pub(crate) const MOVED: f64 = 1.5;
/// Percentage of the 10 s before the run in which a process waited for a CPU.
const PRESSURE: f64 = 20.0;
/// Maximum pressure at which the CPUs were free just before the run, regardless of the last minute.
const NO_PRESSURE: f64 = 5.0;
/// Runnable processes per CPU in the minute before the run.
const LOAD: f64 = 0.5;
/// Time that the probe of one reading watches both CPUs, in nanoseconds.
const PROBED_NS: f64 = 20e6;
/// Minimum number of probes for ignoring the worst one: a disturbance of 1 ms in a probe of 10 ms is 10 %.
const PROBES: usize = 3;
/// CPUs that a benchmark keeps busy if it can.
const BUSY_CPUS: usize = 2;
/// Maximum distance of an interval's ends on a quiet machine, as a share of the median.
const WIDE: f64 = 0.05;
/// Share of benchmarks that may have wider intervals by chance.
const WIDE_ROWS: f64 = 0.25;

/// Limits of a figure.
struct Bounds {
    noisy: f64,
    unreliable: f64,
}

impl Bounds {
    fn level(&self, value: f64) -> Level {
        match value {
            value if value > self.unreliable => Level::Unreliable,
            value if value > self.noisy => Level::Noisy,
            _ => Level::Quiet,
        }
    }
}

named_enum! {
    /// Noise level of a machine.
    Level {
        /// No observed disturbance affects the figures.
        Quiet = "quiet",
        /// Errors of the figures may exceed their intervals.
        Noisy = "noisy",
        /// The figures should not be used.
        Unreliable = "unreliable",
    }
}

/// Noise level of a machine during a run, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Worst level of all reasons.
    pub level: Level,
    /// Observed disturbances, the worst first; empty on a quiet machine.
    #[serde(rename = "reasons_data", default)]
    pub reasons: Vec<Disturbance>,
    /// Bare round trip of one cache line between two cores; `None` without a reading.
    pub core_to_core_ns: Option<CoreToCore>,
    /// Number of readings.
    pub readings: usize,
}

/// Bare core-to-core round trip over all readings, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreToCore {
    /// Shortest reading.
    pub min: f64,
    /// Median reading.
    pub median: f64,
    /// Longest reading.
    pub max: f64,
}

/// Disturbance of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Disturbance {
    /// Other processes used time of processes that never wait.
    SpinLost {
        /// Share of the time, from 0 to 1.
        share: f64,
    },
    /// The hypervisor used time for others.
    Stolen {
        /// Share of the total time, from 0 to 1.
        share: f64,
    },
    /// The control group may use fewer CPUs than benchmarks keep busy.
    Quota {
        /// Number of CPUs that the quota allows.
        cpus: f64,
        /// Number of CPUs that a benchmark keeps busy.
        needed: usize,
    },
    /// The control group ran out of quota.
    Throttled {
        /// Number of throttled periods.
        periods: u64,
    },
    /// The time between two cores changed, because the host moved one of them.
    CoreMoved {
        /// Shortest bare round trip between them, in nanoseconds.
        min_ns: f64,
        /// Longest bare round trip, in nanoseconds.
        max_ns: f64,
    },
    /// Processes waited for a CPU before the run.
    Pressure {
        /// Percentage of the 10 s before the run.
        percent: f64,
    },
    /// Processes were runnable before the run.
    Load {
        /// Average number of runnable processes in the minute before the run.
        load: f64,
        /// Number of CPUs.
        processors: usize,
    },
    /// Intervals are wide.
    WideIntervals {
        /// Number of benchmarks with wide intervals.
        wide: usize,
        /// Number of all benchmarks in the count.
        rows: usize,
        /// Share of the median that the wide intervals exceed.
        limit: f64,
        /// Benchmarks that busy-wait on one core, which are not in the count.
        #[serde(default, skip_serializing_if = "is_zero")]
        not_counted: usize,
    },
}

/// Observed disturbance with its level.
type SeenDisturbance = Option<(Level, Disturbance)>;

impl Verdict {
    /// Returns the verdict on the run of these trials. `uncertainties` are those of the medians of its benchmarks.
    pub(crate) fn of<'a>(
        run: &Run,
        trials: &Trials,
        uncertainties: impl Iterator<Item = (&'a Case, Option<f64>)>,
    ) -> Self {
        let seen = judged(&run.noise, run.header.machine.processors.len(), Some(trials));
        let seen = worst_first(seen.into_iter().chain(wide_intervals(uncertainties)));
        Verdict {
            level: seen.first().map_or(Level::Quiet, |(level, _)| *level),
            reasons: seen.into_iter().map(|(_, reason)| reason).collect(),
            core_to_core_ns: CoreToCore::of(&core_to_core_times(&run.noise)),
            readings: run.noise.len(),
        }
    }
}

/// Returns the disturbances of a machine with this number of CPUs before a run, by these readings, the worst first.
pub fn disturbances(readings: &[NoiseReading], processors: usize) -> Vec<(Level, Disturbance)> {
    worst_first(judged(readings, processors, None))
}

fn worst_first(seen: impl IntoIterator<Item = (Level, Disturbance)>) -> Vec<(Level, Disturbance)> {
    let mut seen: Vec<_> = seen.into_iter().filter(|(level, _)| *level > Level::Quiet).collect();
    sort_by_key(&mut seen, |(level, _)| std::cmp::Reverse(*level));
    seen
}

/// Returns the observations in readings and trials, including quiet ones.
fn judged(
    readings: &[NoiseReading],
    processors: usize,
    trials: Option<&Trials>,
) -> Vec<(Level, Disturbance)> {
    let throttled = throttling(readings);
    let quota = quota(readings, processors).filter(|_| trials.is_none());
    let seen = [
        // Time beyond a quota is missing in the CPU time of every process, too.
        spin_lost(readings, trials).filter(|_| throttled.is_none()),
        steal(readings),
        quota.or(throttled),
        moved(&core_to_core_times(readings)),
        busy_before(readings, processors),
    ];
    seen.into_iter().flatten().collect()
}

impl CoreToCore {
    /// Computes the figures from times in ascending order.
    fn of(times: &[f64]) -> Option<Self> {
        Some(CoreToCore { min: *times.first()?, median: median(times)?, max: *times.last()? })
    }
}

/// Returns all core-to-core readings, in ascending order.
pub(crate) fn core_to_core_times(readings: &[NoiseReading]) -> Vec<f64> {
    let times = readings.iter().filter_map(|reading| reading.core_to_core_ns);
    let mut times: Vec<f64> = times.filter(|time| time.is_finite() && *time > 0.0).collect();
    sort_by(&mut times, f64::total_cmp);
    times
}

/// A lasting move affects a quarter of the readings, so that trials before and after it are not comparable. A few isolated
/// readings are noise: they are reported, and medians tolerate them.
fn moved(times: &[f64]) -> SeenDisturbance {
    let ratio = |outer: usize| Some(times.get(times.len().checked_sub(1 + outer)?)? / times.get(outer)?);
    let persistent = CORE_TO_CORE.level(ratio(times.len() / 4)?);
    let level = persistent.max(CORE_TO_CORE.level(ratio(0)?).min(Level::Noisy));
    let [min_ns, max_ns] = [*times.first()?, *times.last()?].map(tidy);
    Some((level, Disturbance::CoreMoved { min_ns, max_ns }))
}

/// Combines the lost time of the probes and of the trials that never leave a CPU idle. The weight is the time: a probe
/// takes 10 ms, and a trial its whole duration.
fn spin_lost(readings: &[NoiseReading], trials: Option<&Trials>) -> SeenDisturbance {
    let share = share(probes(readings).into_iter().chain(trials.into_iter().flat_map(busy_trials)))?;
    Some((SPIN_LOST.level(share), Disturbance::SpinLost { share: tidy(share) }))
}

/// Time lost to others, and all of the time, both in nanoseconds.
type LostTime = [f64; 2];

fn share(all: impl Iterator<Item = LostTime>) -> Option<f64> {
    let [lost, all] = all.fold([0.0, 0.0], |[lost, all], [one, of]| [lost + one, all + of]);
    (all > 0.0).then(|| lost / all)
}

fn probes(readings: &[NoiseReading]) -> Vec<LostTime> {
    let mut lost: Vec<f64> = readings.iter().filter_map(|reading| reading.spin_lost).collect();
    sort_by(&mut lost, f64::total_cmp);
    lost.truncate(lost.len() - usize::from(lost.len() >= PROBES));
    lost.into_iter().map(|share| [share * PROBED_NS, PROBED_NS]).collect()
}

fn busy_trials<'a>(trials: &'a Trials) -> impl Iterator<Item = LostTime> + 'a {
    let of_case = |(case, trials): (&'a Case, &'a CaseTrials)| {
        trials.measured().filter_map(|trial| lost_ns(case, trial.record))
    };
    trials.by_case().flat_map(of_case)
}

/// Returns the CPU time that the roles of a trial lost; `None` if their CPUs may have been idle. They are not idle if each
/// role busy-waits, or if both alternate on one CPU. An interruption is in no role's CPU time, regardless of its origin.
pub(crate) fn lost_ns(case: &Case, trial: &Measurement) -> Option<LostTime> {
    let pinned = !matches!(case.placement, Placement::Free | Placement::OtherHost);
    let own_loop = trial.adapter.is_none() && trial.programs.is_none() && trial.parts.is_empty();
    let cpus = distinct(trial.roles.iter().map(|role| role.processor)).len();
    let takes_turns = cpus == 1 && case.arrival.is_closed_loop() && case.pattern().is_of_pairs();
    let spins = case.wait.kind() == WaitKind::Spinning;
    // A quota or a neighbour takes CPU time as requested.
    let undisturbed = !case.conditions.limit_cpu_time();
    (pinned && own_loop && undisturbed && (spins || takes_turns)).then(|| {
        let used: f64 = trial.roles.iter().map(|role| role.user_ns as f64 + role.system_ns as f64).sum();
        let windows: Option<f64> = trial.roles.iter().map(|role| role.window_ns.map(|ns| ns as f64)).sum();
        let alone = spins && cpus == trial.roles.len();
        let all = windows.filter(|_| alone).unwrap_or(cpus as f64 * trial.elapsed_ns as f64);
        [(all - used).max(0.0), all]
    })
}

/// Returns the share of CPU time that the roles of these trials lost to others; `None` if unknown.
pub(crate) fn lost_share<'a>(case: &Case, trials: impl Iterator<Item = &'a Measurement>) -> Option<f64> {
    share(trials.filter_map(|trial| lost_ns(case, trial)))
}

/// Returns the share of time that the probes lost; `None` without probes.
pub(crate) fn probed_share(readings: &[NoiseReading]) -> Option<f64> {
    share(probes(readings).into_iter())
}

/// Returns the increase of a counter from the first to the last reading.
fn growth(readings: &[NoiseReading], counter: fn(&NoiseReading) -> Option<u64>) -> Option<u64> {
    Some(counter(readings.last()?)?.saturating_sub(counter(readings.first()?)?))
}

fn steal(readings: &[NoiseReading]) -> SeenDisturbance {
    let stolen = growth(readings, |reading| reading.steal_ticks)? as f64;
    let total = growth(readings, |reading| reading.total_ticks).filter(|total| *total > 0)? as f64;
    let share = stolen / total;
    Some((STEAL.level(share), Disturbance::Stolen { share: tidy(share) }))
}

fn throttling(readings: &[NoiseReading]) -> SeenDisturbance {
    let periods = growth(readings, |reading| reading.throttled_periods).filter(|periods| *periods > 0)?;
    Some((Level::Unreliable, Disturbance::Throttled { periods }))
}

/// Before a run, a quota below the CPUs of a benchmark predicts throttling. After a run, the throttling is known.
fn quota(readings: &[NoiseReading], processors: usize) -> SeenDisturbance {
    let cpus = readings.iter().filter_map(|reading| reading.quota_cpus).reduce(f64::min)?;
    let needed = BUSY_CPUS.min(processors.max(1));
    let is_small = cpus < needed as f64;
    is_small.then(|| (Level::Unreliable, Disturbance::Quota { cpus: tidy(cpus), needed }))
}

/// Load is a 1-minute average and pressure a 10 s average, so both still contain a build that has just ended. They count
/// only if no probe found the CPUs free.
fn busy_before(readings: &[NoiseReading], processors: usize) -> SeenDisturbance {
    let before = readings.first()?;
    let processors = processors.max(1);
    if before.spin_lost.is_some_and(|lost| lost <= SPIN_LOST.unreliable) {
        return None;
    }
    if let Some(percent) = before.processor_pressure.filter(|pressure| *pressure > PRESSURE) {
        return Some((Level::Noisy, Disturbance::Pressure { percent: tidy(percent) }));
    }
    let free = before.processor_pressure.is_some_and(|pressure| pressure < NO_PRESSURE);
    let load = before.load_average.filter(|load| !free && *load > LOAD * processors as f64)?;
    Some((Level::Noisy, Disturbance::Load { load: tidy(load), processors }))
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Counts the benchmarks with wide intervals. It skips those that busy-wait on one core, because they measure the time
/// slices of the scheduler and are wide on every machine. It also skips benchmarks with fewer than three trials, which have
/// no interval, and those that a requested quota or neighbour disturbs.
fn wide_intervals<'a>(uncertainties: impl Iterator<Item = (&'a Case, Option<f64>)>) -> SeenDisturbance {
    let steady = |case: &Case| case.placement != Placement::SameCore || case.wait.sleeps_in_the_end();
    let undisturbed = uncertainties.filter(|(case, _)| !case.conditions.limit_cpu_time());
    let with_interval = undisturbed.filter_map(|(case, width)| Some((case, width?)));
    let (counted, not_counted): (Vec<_>, Vec<_>) = with_interval.partition(|(case, _)| steady(case));
    let (rows, not_counted) = (counted.len(), not_counted.len());
    let wide = counted.iter().filter(|(_, width)| *width > WIDE).count();
    let intervals = Disturbance::WideIntervals { wide, rows, limit: WIDE, not_counted };
    (wide as f64 > WIDE_ROWS * rows as f64).then_some((Level::Noisy, intervals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, header, measurement, quiet};
    use furlong_model::{Outcome, Record, Trial, Wait};

    fn run(readings: [NoiseReading; 2], trials: Vec<Trial>) -> Run {
        let records = [Record::Run(header())].into_iter().chain(readings.map(Record::Noise));
        Run::from_records(records.chain(trials.into_iter().map(Record::Trial))).unwrap()
    }

    /// Returns the verdict after `change` to the readings before and after the run.
    fn verdict(change: impl FnOnce(&mut NoiseReading, &mut NoiseReading)) -> Verdict {
        let mut readings = [quiet(0, 290.0), quiet(40, 300.0)];
        let [before, after] = &mut readings;
        change(before, after);
        Verdict::of(&run(readings, Vec::new()), &Trials::decode(&[]), std::iter::empty())
    }

    fn expect(
        level: Level,
        reasons: &[Disturbance],
        change: impl FnOnce(&mut NoiseReading, &mut NoiseReading),
    ) {
        let verdict = verdict(change);
        assert_eq!((verdict.level, &verdict.reasons[..]), (level, reasons));
    }

    #[test]
    fn a_quiet_machine_gives_no_reason() {
        let verdict = verdict(|_, _| {});
        assert_eq!((verdict.level, verdict.reasons.len()), (Level::Quiet, 0));
        assert_eq!(verdict.core_to_core_ns, Some(CoreToCore { min: 290.0, median: 295.0, max: 300.0 }));
    }

    #[test]
    fn nothing_read_is_no_reason() {
        let verdict = Verdict::of(
            &run([NoiseReading::default(); 2], Vec::new()),
            &Trials::decode(&[]),
            std::iter::empty(),
        );
        assert_eq!((verdict.level, verdict.core_to_core_ns), (Level::Quiet, None));
    }

    #[test]
    fn each_kind_of_noise_has_its_level() {
        use Disturbance::{CoreMoved, Load, Pressure, SpinLost, Stolen, Throttled};
        use Level::{Noisy, Quiet, Unreliable};
        let moved = |min_ns, max_ns| [CoreMoved { min_ns, max_ns }];
        expect(Noisy, &[SpinLost { share: 0.03 }], |a, b| {
            (a.spin_lost, b.spin_lost) = (Some(0.06), Some(0.0))
        });
        expect(Unreliable, &[SpinLost { share: 0.06 }], |a, b| {
            (a.spin_lost, b.spin_lost) = (Some(0.06), Some(0.06));
        });
        expect(Noisy, &[Stolen { share: 0.01 }], |_, b| b.steal_ticks = Some(180));
        expect(Unreliable, &[Stolen { share: 0.1 }], |_, b| b.steal_ticks = Some(900));
        expect(Unreliable, &[Throttled { periods: 3 }], |_, b| b.throttled_periods = Some(3));
        expect(Noisy, &moved(290.0, 500.0), |_, b| b.core_to_core_ns = Some(500.0));
        expect(Unreliable, &moved(90.0, 300.0), |a, _| a.core_to_core_ns = Some(90.0));
        expect(Noisy, &[Pressure { percent: 40.0 }], |a, _| {
            (a.spin_lost, a.processor_pressure) = (None, Some(40.0));
        });
        expect(Noisy, &[Load { load: 1.8, processors: 2 }], |a, _| {
            (a.spin_lost, a.load_average, a.processor_pressure) = (None, Some(1.8), None);
        });
        // A build that ended before the run, and the run itself.
        expect(Quiet, &[], |a, _| (a.load_average, a.processor_pressure) = (Some(1.8), Some(40.0)));
        expect(Quiet, &[], |_, b| (b.load_average, b.processor_pressure) = (Some(2.0), Some(90.0)));
        // The measurements under a quota show whether the group was throttled.
        expect(Quiet, &[], |a, b| (a.quota_cpus, b.quota_cpus) = (Some(0.5), Some(0.5)));
    }

    /// Returns a run of 40 trials that lost this share of the roles' CPU time, with this number of switches.
    fn busy_waiting(lost: f64, switches: u64) -> Run {
        let case = case("posix-shm", Wait::Spin, Placement::OtherCore);
        let mut measured = measurement(&case, 5_000.0, switches);
        measured.roles.iter_mut().for_each(|role| {
            role.user_ns = (role.user_ns as f64 * (1.0 - lost)) as u64;
        });
        let trial = |number| {
            let (case, outcome) = (case.clone(), Outcome::Measured(measured.clone()));
            Trial { case, family: None, number, at_ns: None, outcome }
        };
        let hiccup = NoiseReading { spin_lost: Some(0.1), ..quiet(0, 290.0) };
        run([hiccup, quiet(40, 290.0)], (0..40).map(trial).collect())
    }

    #[test]
    fn others_are_judged_by_the_time_that_they_take_and_not_by_their_number() {
        for (lost, switches, level) in
            [(0.003, 134, Level::Quiet), (0.03, 2, Level::Noisy), (0.2, 2, Level::Unreliable)]
        {
            let run = busy_waiting(lost, switches);
            let verdict = Verdict::of(&run, &Trials::decode(&run.trials), std::iter::empty());
            assert_eq!(verdict.level, level, "{verdict:?}");
        }
    }

    #[test]
    fn more_roles_than_cpus_take_turns_with_nobody_else() {
        let taken = std::num::NonZeroU32::new(2).unwrap();
        for (case, known) in [
            (case("pipe", Wait::Block, Placement::SameCore), true),
            (case("pipe", Wait::Block, Placement::OtherCore), false),
            (case("pipe", Wait::Spin, Placement::OtherCore), true),
            (case("pipe", Wait::Spin, Placement::Free), false),
            (case("pipe", Wait::Spin, Placement::Spread).with_parties(taken), false),
        ] {
            assert_eq!(lost_ns(&case, &measurement(&case, 5_000.0, 9_000)).is_some(), known, "{case}");
        }
    }

    #[test]
    fn a_lone_hiccup_of_a_probe_is_none_of_the_machine() {
        let shares = |lost: &[f64]| {
            let reading = |lost: &f64| NoiseReading { spin_lost: Some(*lost), ..NoiseReading::default() };
            probed_share(&lost.iter().map(reading).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(shares(&[0.2, 0.0, 0.0]), 0.0);
        assert!((shares(&[0.5, 0.4, 0.5]) - 0.45).abs() < 1e-9);
    }

    #[test]
    fn before_a_run_a_quota_is_told_and_a_build_that_has_ended_is_not() {
        let found = |change: fn(&mut NoiseReading)| {
            let mut reading = quiet(0, 290.0);
            change(&mut reading);
            disturbances(&[reading; 3], 2)
        };
        assert_eq!(found(|reading| reading.load_average = Some(7.0)), []);
        let quota = Disturbance::Quota { cpus: 0.5, needed: 2 };
        assert_eq!(found(|reading| reading.quota_cpus = Some(0.5)), [(Level::Unreliable, quota)]);
        assert_eq!(found(|reading| reading.quota_cpus = Some(2.0)), []);
        let lost = Disturbance::SpinLost { share: 0.5 };
        assert_eq!(found(|reading| reading.spin_lost = Some(0.5)), [(Level::Unreliable, lost)]);
    }

    #[test]
    fn many_wide_rows_make_a_run_noisy_but_not_those_that_spin_on_one_core() {
        let run = run([quiet(0, 290.0), quiet(40, 290.0)], Vec::new());
        let level = |wait, placement| {
            let case = case("pipe", wait, placement);
            Verdict::of(&run, &Trials::decode(&[]), [(&case, Some(0.2))].into_iter()).level
        };
        assert_eq!(level(Wait::Block, Placement::OtherCore), Level::Noisy);
        assert_eq!(level(Wait::Spin, Placement::SameCore), Level::Quiet);
    }

    #[test]
    fn rows_without_interval_are_not_counted_among_wide_ones() {
        let case = |wait| case("pipe", wait, Placement::SameCore);
        let [sleeping, spinning] = [case(Wait::Block), case(Wait::Spin)];
        let rows = [(&sleeping, Some(0.2)), (&sleeping, None), (&spinning, Some(0.2)), (&spinning, None)];
        let expected = Disturbance::WideIntervals { wide: 1, rows: 1, limit: WIDE, not_counted: 1 };
        assert_eq!(wide_intervals(rows.into_iter()), Some((Level::Noisy, expected)));
    }
}

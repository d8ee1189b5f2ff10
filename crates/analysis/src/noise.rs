//! Whether the machine was quiet enough for its figures to mean anything.
//!
//! Readings are taken before, between and after trials. The direct probes (spin, core to core) run while no
//! role does, so every reading of theirs counts. Load and pressure count what the run itself does, so only the
//! first reading of theirs says anything about others. Steal and throttling count on, so their difference
//! over the whole run counts.

use crate::{Run, checks::on_two_processors, trials::Trials};
use furlong_model::{Case, NoiseReading, Placement};
use furlong_stats::{median, sort_by, sort_by_key, tidy};
use serde::{Deserialize, Serialize};

/// Share of the spin probes lost to others, averaged: 1 % moves a median by less than an interval's ±5 %, and
/// one hiccup in one short probe stays below it.
const SPIN_LOST: Bounds = Bounds { noisy: 0.01, unreliable: 0.05 };
/// Share of time that the hypervisor gave to others: it arrives in slices that no trial can see coming.
const STEAL: Bounds = Bounds { noisy: 0.005, unreliable: 0.05 };
/// Largest core-to-core time over the smallest: the host moves virtual cores between cores of one socket
/// (1.5 and less is common) and between hardware threads of one core (3 and more).
const CORE_TO_CORE: Bounds = Bounds { noisy: MOVED, unreliable: 3.0 };
/// How many times apart two core-to-core times are, at least, if the host moved a core in between.
pub(crate) const MOVED: f64 = 1.5;
/// Percentage of the 10 s before the run in which some process waited for a processor.
const PRESSURE: f64 = 20.0;
/// Below this pressure, the processors were free just before the run, whatever the last minute was like.
const NO_PRESSURE: f64 = 5.0;
/// Runnable processes for each processor in the minute before the run.
const LOAD: f64 = 0.5;
/// Involuntary switches a second while both roles have a core of their own: kernel threads make a few, another
/// busy process makes one for every slice that it takes, which is 100 and more.
const PREEMPTIONS_PER_S: f64 = 50.0;
/// Interval that a quiet machine stays within, as a share of the median.
const WIDE: f64 = 0.05;
/// Share of rows that may be wider by chance.
const WIDE_ROWS: f64 = 0.25;

/// How far a figure may go.
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

/// How quiet the machine was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing was seen that would move a figure.
    Quiet,
    /// Figures may be off by more than their intervals say.
    Noisy,
    /// Figures should not be used.
    Unreliable,
}

impl Level {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Quiet => "quiet",
            Level::Noisy => "noisy",
            Level::Unreliable => "unreliable",
        }
    }
}

/// How quiet the machine was during a run, and why one thinks so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst of all reasons.
    pub level: Level,
    /// What was seen, the worst first; empty on a quiet machine.
    #[serde(rename = "reasons_data", default)]
    pub reasons: Vec<Disturbance>,
    /// The bare round trip of one cache line between two cores; `None` if it was never read.
    pub core_to_core_ns: Option<CoreToCore>,
    /// Readings that this rests on.
    pub readings: usize,
}

/// The bare core-to-core round trip over all readings, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreToCore {
    /// The shortest.
    pub min: f64,
    /// The middle.
    pub median: f64,
    /// The longest.
    pub max: f64,
}

/// Something that disturbs what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Disturbance {
    /// Others took time from a process that spins.
    SpinLost {
        /// The share of its time, 0 to 1.
        share: f64,
    },
    /// The hypervisor gave time to others.
    Stolen {
        /// The share of all time, 0 to 1.
        share: f64,
    },
    /// The control group ran out of quota.
    Throttled {
        /// How often.
        periods: u64,
    },
    /// The time between two cores changed, so the host moved one of them.
    CoreMoved {
        /// The shortest bare round trip between them, in nanoseconds.
        min_ns: f64,
        /// The longest.
        max_ns: f64,
    },
    /// Processes waited for a processor before the run.
    Pressure {
        /// In so many per cent of the 10 s before it.
        percent: f64,
    },
    /// Processes were runnable before the run.
    Load {
        /// How many in the minute before it, on average.
        load: f64,
        /// On so many processors.
        processors: usize,
    },
    /// Others took a processor from the roles.
    Preempted {
        /// How often.
        per_second: f64,
    },
    /// Intervals are wide.
    WideIntervals {
        /// Of so many rows.
        wide: usize,
        /// Among so many.
        rows: usize,
        /// They are farther than this share from the median.
        limit: f64,
    },
}

/// Something seen, and how bad it is.
type Seen = Option<(Level, Disturbance)>;

impl Verdict {
    /// Judges the run of these trials, in which rows were measured with these uncertainties of their medians.
    pub(crate) fn of<'a>(
        run: &Run,
        trials: &Trials,
        uncertainties: impl Iterator<Item = (&'a Case, Option<f64>)>,
    ) -> Self {
        let times = core_to_core_times(&run.noise);
        let core_to_core_ns = CoreToCore::of(&times);
        let seen = [
            spin_lost(&run.noise),
            steal(&run.noise),
            throttling(&run.noise),
            moved(&times),
            busy_before(run),
            preemptions(trials),
            wide_intervals(uncertainties),
        ];
        let mut seen: Vec<_> =
            seen.into_iter().flatten().filter(|(level, _)| *level > Level::Quiet).collect();
        sort_by_key(&mut seen, |(level, _)| std::cmp::Reverse(*level));
        Verdict {
            level: seen.first().map_or(Level::Quiet, |(level, _)| *level),
            reasons: seen.into_iter().map(|(_, reason)| reason).collect(),
            core_to_core_ns,
            readings: run.noise.len(),
        }
    }
}

impl CoreToCore {
    /// From times in ascending order.
    fn of(times: &[f64]) -> Option<Self> {
        Some(CoreToCore { min: *times.first()?, median: median(times)?, max: *times.last()? })
    }
}

/// All core-to-core times that were read, in ascending order.
pub(crate) fn core_to_core_times(readings: &[NoiseReading]) -> Vec<f64> {
    let times = readings.iter().filter_map(|reading| reading.core_to_core_ns);
    let mut times: Vec<f64> = times.filter(|time| time.is_finite() && *time > 0.0).collect();
    sort_by(&mut times, f64::total_cmp);
    times
}

/// A move that lasts shows in a quarter of the readings, and makes trials before and after it different things.
/// A few readings that stand alone are hiccups: they are said, and medians stand them.
fn moved(times: &[f64]) -> Seen {
    let ratio = |outer: usize| Some(times.get(times.len().checked_sub(1 + outer)?)? / times.get(outer)?);
    let persistent = CORE_TO_CORE.level(ratio(times.len() / 4)?);
    let level = persistent.max(CORE_TO_CORE.level(ratio(0)?).min(Level::Noisy));
    let [min_ns, max_ns] = [*times.first()?, *times.last()?].map(tidy);
    Some((level, Disturbance::CoreMoved { min_ns, max_ns }))
}

fn spin_lost(readings: &[NoiseReading]) -> Seen {
    let lost: Vec<f64> = readings.iter().filter_map(|reading| reading.spin_lost).collect();
    let mean = lost.iter().sum::<f64>() / lost.len() as f64;
    (!lost.is_empty()).then(|| (SPIN_LOST.level(mean), Disturbance::SpinLost { share: tidy(mean) }))
}

/// How far a counter went from the first to the last reading.
fn growth(readings: &[NoiseReading], counter: fn(&NoiseReading) -> Option<u64>) -> Option<u64> {
    Some(counter(readings.last()?)?.saturating_sub(counter(readings.first()?)?))
}

fn steal(readings: &[NoiseReading]) -> Seen {
    let stolen = growth(readings, |reading| reading.steal_ticks)? as f64;
    let total = growth(readings, |reading| reading.total_ticks).filter(|total| *total > 0)? as f64;
    let share = stolen / total;
    Some((STEAL.level(share), Disturbance::Stolen { share: tidy(share) }))
}

fn throttling(readings: &[NoiseReading]) -> Seen {
    let periods = growth(readings, |reading| reading.throttled_periods).filter(|periods| *periods > 0)?;
    Some((Level::Unreliable, Disturbance::Throttled { periods }))
}

/// Load is a minute's average, so a build that has just ended still shows in it. It counts only where no fresher
/// reading says that the processors were free.
fn busy_before(run: &Run) -> Seen {
    let before = run.noise.first()?;
    let processors = run.header.machine.processors.len().max(1);
    if let Some(percent) = before.processor_pressure.filter(|pressure| *pressure > PRESSURE) {
        return Some((Level::Noisy, Disturbance::Pressure { percent: tidy(percent) }));
    }
    let free = before.processor_pressure.is_some_and(|pressure| pressure < NO_PRESSURE);
    let load = before.load_average.filter(|load| !free && *load > LOAD * processors as f64)?;
    Some((Level::Noisy, Disturbance::Load { load: tidy(load), processors }))
}

/// Counts trials in which each role had a processor of its own, and nobody else should want it.
fn preemptions(trials: &Trials) -> Seen {
    let (mut switches, mut seconds) = (0.0, 0.0);
    let across = trials.by_case().filter(|(case, _)| on_two_processors(case.placement));
    for trial in across.flat_map(|(_, trials)| trials.measured()) {
        switches += trial.record.roles.iter().map(|role| role.involuntary_switches as f64).sum::<f64>();
        seconds += trial.record.elapsed_ns as f64 / 1e9;
    }
    let per_second = if seconds > 0.0 { switches / seconds } else { 0.0 };
    let preempted = Disturbance::Preempted { per_second: tidy(per_second) };
    (per_second > PREEMPTIONS_PER_S).then_some((Level::Noisy, preempted))
}

/// Rows that spin on one core measure the scheduler's slices and are wide on the quietest machine.
fn wide_intervals<'a>(uncertainties: impl Iterator<Item = (&'a Case, Option<f64>)>) -> Seen {
    let steady = |case: &Case| case.placement != Placement::SameCore || case.wait.sleeps_in_the_end();
    let widths: Vec<f64> =
        uncertainties.filter(|(case, _)| steady(case)).filter_map(|(_, width)| width).collect();
    let wide = widths.iter().filter(|width| **width > WIDE).count();
    let intervals = Disturbance::WideIntervals { wide, rows: widths.len(), limit: WIDE };
    (wide as f64 > WIDE_ROWS * widths.len() as f64).then_some((Level::Noisy, intervals))
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

    /// The verdict after `change` to the readings before and after the run.
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
        expect(Noisy, &[Pressure { percent: 40.0 }], |a, _| a.processor_pressure = Some(40.0));
        expect(Noisy, &[Load { load: 1.8, processors: 2 }], |a, _| {
            (a.load_average, a.processor_pressure) = (Some(1.8), None);
        });
        // The build that ended before the run, and the run itself.
        expect(Quiet, &[], |a, _| a.load_average = Some(1.8));
        expect(Quiet, &[], |_, b| (b.load_average, b.processor_pressure) = (Some(2.0), Some(90.0)));
    }

    #[test]
    fn preemptions_count_only_where_each_role_has_a_core() {
        for (placement, level) in [(Placement::OtherCore, Level::Noisy), (Placement::SameCore, Level::Quiet)]
        {
            let case = case("pipe", Wait::Spin, placement);
            let outcome = Outcome::Measured(measurement(&case, 50_000.0, 20));
            let run = run(
                [quiet(0, 290.0), quiet(40, 290.0)],
                vec![Trial { case, family: None, number: 0, at_ns: None, outcome }],
            );
            assert_eq!(Verdict::of(&run, &Trials::decode(&run.trials), std::iter::empty()).level, level);
        }
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
}

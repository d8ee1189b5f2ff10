//! Whether the machine was quiet enough for its figures to mean anything.
//!
//! Readings are taken before, between and after trials. The direct probes (spin, core to core) run while no
//! role does, so every reading of theirs counts. Load and pressure count what the run itself does, so only the
//! first reading of theirs says anything about others. Steal and throttling count on, so their difference
//! over the whole run counts.

use crate::{Row, Run, checks::on_two_processors, trials::Trials};
use furlong_model::{NoiseReading, Placement, WaitKind};
use furlong_stats::median;
use serde::{Deserialize, Serialize};

/// Share of the spin probes lost to others, averaged: 1 % moves a median by less than an interval's ±5 %, and
/// one hiccup in one short probe stays below it.
const SPIN_LOST: Bounds = Bounds { noisy: 0.01, unreliable: 0.05 };
/// Share of time that the hypervisor gave to others: it arrives in slices that no trial can see coming.
const STEAL: Bounds = Bounds { noisy: 0.005, unreliable: 0.05 };
/// Largest core-to-core time over the smallest: the host moves virtual cores between cores of one socket
/// (1.5 and less is common) and between hardware threads of one core (3 and more).
const CORE_TO_CORE: Bounds = Bounds { noisy: 1.5, unreliable: 3.0 };
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
    pub reasons: Vec<String>,
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

/// Something seen, and how bad it is.
type Finding = Option<(Level, String)>;

impl Verdict {
    /// Judges the run in which `rows` were measured in `trials`.
    pub(crate) fn of(run: &Run, trials: &Trials, rows: &[Row]) -> Self {
        let times = core_to_core_times(&run.noise);
        let core_to_core_ns = CoreToCore::of(&times);
        let findings = [
            spin_lost(&run.noise),
            steal(&run.noise),
            throttling(&run.noise),
            moved(&times),
            busy_before(run),
            preemptions(trials),
            wide_intervals(rows),
        ];
        let mut findings: Vec<_> =
            findings.into_iter().flatten().filter(|(level, _)| *level > Level::Quiet).collect();
        findings.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        Verdict {
            level: findings.first().map_or(Level::Quiet, |(level, _)| *level),
            reasons: findings.into_iter().map(|(_, reason)| reason).collect(),
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
    times.sort_by(f64::total_cmp);
    times
}

/// A move that lasts shows in a quarter of the readings, and makes trials before and after it different things.
/// A few readings that stand alone are hiccups: they are said, and medians stand them.
fn moved(times: &[f64]) -> Finding {
    let ratio = |outer: usize| Some(times.get(times.len().checked_sub(1 + outer)?)? / times.get(outer)?);
    let persistent = CORE_TO_CORE.level(ratio(times.len() / 4)?);
    let level = persistent.max(CORE_TO_CORE.level(ratio(0)?).min(Level::Noisy));
    let (min, max) = (times.first()?, times.last()?);
    let reason = format!(
        "the bare core-to-core round trip moved between {:.0} and {:.0} ns: the host moved a core",
        min, max
    );
    Some((level, reason))
}

fn spin_lost(readings: &[NoiseReading]) -> Finding {
    let lost: Vec<f64> = readings.iter().filter_map(|reading| reading.spin_lost).collect();
    let mean = lost.iter().sum::<f64>() / lost.len() as f64;
    let reason = format!("{:.1} % of a spinning process's time went to others", mean * 100.0);
    (!lost.is_empty()).then(|| (SPIN_LOST.level(mean), reason))
}

/// How far a counter went from the first to the last reading.
fn growth(readings: &[NoiseReading], counter: fn(&NoiseReading) -> Option<u64>) -> Option<u64> {
    Some(counter(readings.last()?)?.saturating_sub(counter(readings.first()?)?))
}

fn steal(readings: &[NoiseReading]) -> Finding {
    let stolen = growth(readings, |reading| reading.steal_ticks)? as f64;
    let total = growth(readings, |reading| reading.total_ticks).filter(|total| *total > 0)? as f64;
    let share = stolen / total;
    Some((STEAL.level(share), format!("the hypervisor gave {:.1} % of the time to others", share * 100.0)))
}

fn throttling(readings: &[NoiseReading]) -> Finding {
    let periods = growth(readings, |reading| reading.throttled_periods).filter(|periods| *periods > 0)?;
    let reason = format!("the control group ran out of quota {periods} times: raise its CPU limit");
    Some((Level::Unreliable, reason))
}

/// Load is a minute's average, so a build that has just ended still shows in it. It counts only where no fresher
/// reading says that the processors were free.
fn busy_before(run: &Run) -> Finding {
    let before = run.noise.first()?;
    let processors = run.header.machine.processors.len().max(1);
    if let Some(pressure) = before.processor_pressure.filter(|pressure| *pressure > PRESSURE) {
        let reason =
            format!("processes waited for a processor in {pressure:.0} % of the 10 s before the run");
        return Some((Level::Noisy, reason));
    }
    let free = before.processor_pressure.is_some_and(|pressure| pressure < NO_PRESSURE);
    let load = before.load_average.filter(|load| !free && *load > LOAD * processors as f64)?;
    let reason = format!("the load was {load:.1} on {processors} processors in the minute before the run");
    Some((Level::Noisy, reason))
}

/// Counts trials in which each role had a processor of its own, and nobody else should want it.
fn preemptions(trials: &Trials) -> Finding {
    let (mut switches, mut seconds) = (0.0, 0.0);
    let across = trials.by_case().filter(|(case, _)| on_two_processors(case.placement));
    for trial in across.flat_map(|(_, trials)| trials.measured()) {
        switches += trial.record.roles.iter().map(|role| role.involuntary_switches as f64).sum::<f64>();
        seconds += trial.record.elapsed_ns as f64 / 1e9;
    }
    let per_second = if seconds > 0.0 { switches / seconds } else { 0.0 };
    let reason = format!("others took a processor from the roles {per_second:.0} times a second");
    (per_second > PREEMPTIONS_PER_S).then_some((Level::Noisy, reason))
}

/// Rows that spin on one core measure the scheduler's slices and are wide on the quietest machine.
fn wide_intervals(rows: &[Row]) -> Finding {
    let steady =
        |row: &&Row| row.case.placement != Placement::SameCore || row.case.wait.kind() == WaitKind::Sleeping;
    let widths: Vec<f64> =
        rows.iter().filter(steady).filter_map(|row| row.exchange.ns.uncertainty()).collect();
    let wide = widths.iter().filter(|width| **width > WIDE).count();
    let reason = format!("{wide} of {} rows have intervals wider than ±{:.0} %", widths.len(), WIDE * 100.0);
    (wide as f64 > WIDE_ROWS * widths.len() as f64).then_some((Level::Noisy, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, header, measurement, quiet, row};
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
        Verdict::of(&run(readings, Vec::new()), &Trials::decode(&[]), &[])
    }

    fn expect(level: Level, reason: &str, change: impl FnOnce(&mut NoiseReading, &mut NoiseReading)) {
        let verdict = verdict(change);
        assert_eq!(verdict.level, level, "{verdict:?}");
        assert!(verdict.reasons.join(";").contains(reason), "{verdict:?} should say {reason}");
    }

    #[test]
    fn a_quiet_machine_gives_no_reason() {
        let verdict = verdict(|_, _| {});
        assert_eq!((verdict.level, verdict.reasons.len()), (Level::Quiet, 0));
        assert_eq!(verdict.core_to_core_ns, Some(CoreToCore { min: 290.0, median: 295.0, max: 300.0 }));
    }

    #[test]
    fn nothing_read_is_no_reason() {
        let verdict = Verdict::of(&run([NoiseReading::default(); 2], Vec::new()), &Trials::decode(&[]), &[]);
        assert_eq!((verdict.level, verdict.core_to_core_ns), (Level::Quiet, None));
    }

    #[test]
    fn each_kind_of_noise_has_its_level() {
        use Level::{Noisy, Quiet, Unreliable};
        expect(Noisy, "3.0 % of a spinning", |a, b| (a.spin_lost, b.spin_lost) = (Some(0.06), Some(0.0)));
        expect(Unreliable, "6.0 % of a spinning", |a, b| {
            (a.spin_lost, b.spin_lost) = (Some(0.06), Some(0.06))
        });
        expect(Noisy, "gave 1.0 % of the time", |_, b| b.steal_ticks = Some(180));
        expect(Unreliable, "gave 10.0 % of the time", |_, b| b.steal_ticks = Some(900));
        expect(Unreliable, "out of quota 3 times", |_, b| b.throttled_periods = Some(3));
        expect(Noisy, "between 290 and 500 ns", |_, b| b.core_to_core_ns = Some(500.0));
        expect(Unreliable, "between 90 and 300 ns", |a, _| a.core_to_core_ns = Some(90.0));
        expect(Noisy, "in 40 % of the 10 s", |a, _| a.processor_pressure = Some(40.0));
        expect(Noisy, "load was 1.8 on 2", |a, _| {
            (a.load_average, a.processor_pressure) = (Some(1.8), None);
        });
        // The build that ended before the run, and the run itself.
        expect(Quiet, "", |a, _| a.load_average = Some(1.8));
        expect(Quiet, "", |_, b| (b.load_average, b.processor_pressure) = (Some(2.0), Some(90.0)));
    }

    #[test]
    fn preemptions_count_only_where_each_role_has_a_core() {
        for (placement, level) in [(Placement::OtherCore, Level::Noisy), (Placement::SameCore, Level::Quiet)]
        {
            let case = case("pipe", Wait::Spin, placement);
            let outcome = Outcome::Measured(measurement(&case, 50_000.0, 20));
            let run = run(
                [quiet(0, 290.0), quiet(40, 290.0)],
                vec![Trial { case, family: None, number: 0, outcome }],
            );
            assert_eq!(Verdict::of(&run, &Trials::decode(&run.trials), &[]).level, level);
        }
    }

    #[test]
    fn many_wide_rows_make_a_run_noisy_but_not_those_that_spin_on_one_core() {
        let wide = |wait, placement| {
            let mut row = row("pipe", wait, placement, 5000.0);
            row.exchange.ns.median_ci95 = Some([4000.0, 6000.0]);
            row
        };
        let run = run([quiet(0, 290.0), quiet(40, 290.0)], Vec::new());
        let level = |rows: &[Row]| Verdict::of(&run, &Trials::decode(&[]), rows).level;
        assert_eq!(level(&[wide(Wait::Block, Placement::OtherCore)]), Level::Noisy);
        assert_eq!(level(&[wide(Wait::Spin, Placement::SameCore)]), Level::Quiet);
    }
}

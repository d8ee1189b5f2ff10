//! Reference benchmarks, which carry no payload and make the same calls in every placement. Their additional time between
//! two processes, compared with one process, is only the time of waiting.

use crate::{
    Run, Switches,
    checks::on_two_processors,
    count::{count_of, system_calls},
    sound::SoundCase,
    trials::Trials,
};
use furlong_model::{Case, Family, Placement, WaitKind};
use furlong_stats::{bootstrap_interval, median, sort_by, tidy};

/// Tolerance between the calls of a benchmark and those in one process, as a share, because a few calls are repeated.
const CALLS_APART: f64 = 0.02;
/// Minimum number of switches of a waiting role, per round trip over both roles. With fewer, most waits did not block, and
/// the benchmark is not representative.
const FEWEST_SWITCHES: f64 = 1.0;

/// Event that the roles of a reference benchmark wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwaitedEvent {
    /// The CPU that both roles share. Each switch of either role counts.
    OneCore,
    /// A wake-up on a separate CPU. Each voluntary switch counts.
    TwoCores,
}

/// Nanoseconds of one switch or wake-up, from reference benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceFigure {
    /// Median over the benchmarks.
    pub ns: f64,
    /// 95 % confidence interval; `None` if a benchmark has fewer than three trials.
    pub ci95: Option<[f64; 2]>,
    /// Smallest and largest value among the benchmarks.
    pub spread: [f64; 2],
    /// Names of the benchmarks, `mechanism/wait`.
    pub from: Vec<String>,
}

/// Data for the references: a run, its trials, and its benchmarks.
pub(crate) struct References<'a> {
    /// Records of the run.
    pub run: &'a Run,
    /// Trials of the run.
    pub trials: &'a Trials<'a>,
    /// Benchmarks with a speed.
    pub rows: Vec<ReferenceRow<'a>>,
}

/// Properties of a benchmark that decide whether it is a reference.
pub(crate) struct ReferenceRow<'a> {
    /// Case of the benchmark.
    pub case: &'a Case,
    /// Family of the mechanism.
    pub family: Option<Family>,
    /// Context switches over both roles, per round trip.
    pub switches: Switches,
}

impl<'a> SoundCase<'a> {
    /// Returns the properties that decide whether it is a reference.
    pub(crate) fn reference(&self) -> ReferenceRow<'a> {
        let switches = Switches::from_trials(self.case, &self.trials);
        ReferenceRow { case: self.case, family: self.family, switches }
    }
}

/// Benchmark between two processes and in one.
struct Reference<'a> {
    case: &'a Case,
    /// Switches or wake-ups per round trip.
    switches: f64,
    /// Medians of the trials in nanoseconds, between two processes and in one.
    medians: [Vec<f64>; 2],
}

impl Reference<'_> {
    /// Returns (median between two processes - median in one) / switches.
    fn ns(&self, between: &[f64], within: &[f64]) -> f64 {
        let [between, within] = [between, within].map(|medians| median(medians).unwrap_or_default());
        (between - within) / self.switches
    }

    fn estimate(&self) -> f64 {
        self.ns(&self.medians[0], &self.medians[1])
    }
}

impl ReferenceFigure {
    /// Computes the figure from all reference benchmarks except those of the mechanism `excluded`. Returns `None` if there
    /// are none, or if the median difference between two processes and one is not positive.
    pub(crate) fn of(found: &References, waiting: AwaitedEvent, excluded: Option<&str>) -> Option<Self> {
        let mut references = found.all(waiting, excluded);
        sort_by(&mut references, |a, b| a.case.cmp(b.case));
        let samples: Vec<_> = references.iter().flat_map(|row| &row.medians).map(Vec::as_slice).collect();
        let estimates: Vec<_> = references.iter().map(Reference::estimate).collect();
        let ns = positive_median(&estimates)?;
        let statistic = |drawn: &[Vec<f64>]| {
            let estimates =
                references.iter().zip(drawn.chunks_exact(2)).map(|(row, drawn)| row.ns(&drawn[0], &drawn[1]));
            median(&estimates.collect::<Vec<_>>()).unwrap_or_default()
        };
        let ends = estimates.iter().fold([ns, ns], |[least, most], one| [least.min(*one), most.max(*one)]);
        Some(ReferenceFigure {
            ns: tidy(ns),
            ci95: bootstrap_interval(&samples, statistic, found.run.header.seed).map(|ends| ends.map(tidy)),
            spread: ends.map(tidy),
            from: references.iter().map(|reference| reference.case.row()).collect(),
        })
    }
}

impl<'a> References<'a> {
    /// Returns the nanoseconds without the interval, which would need thousands of resamples.
    pub(crate) fn ns(&self, waiting: AwaitedEvent) -> Option<f64> {
        let estimates: Vec<_> = self.all(waiting, None).iter().map(Reference::estimate).collect();
        positive_median(&estimates).map(tidy)
    }

    fn all(&self, waiting: AwaitedEvent, excluded: Option<&str>) -> Vec<Reference<'a>> {
        let others = self.rows.iter().filter(|row| excluded != Some(row.case.mechanism.as_str()));
        others.filter_map(|row| self.reference(row, waiting)).collect()
    }

    /// Returns `row` as a reference, if it is one.
    fn reference(&self, row: &ReferenceRow<'a>, waiting: AwaitedEvent) -> Option<Reference<'a>> {
        let ReferenceRow { case, family, switches } = *row;
        let carries_nothing = family == Some(Family::Notification);
        let sleeps = case.wait.kind() == WaitKind::Sleeping
            && case.arrival.is_closed_loop()
            && case.window().get() == 1
            // The costs apply to benchmarks under the inherited conditions.
            && case.conditions.is_empty();
        if !(carries_nothing && sleeps) {
            return None;
        }
        let twin = Case { placement: Placement::OneProcess, ..case.clone() };
        let has_twin = self.rows.iter().any(|other| *other.case == twin);
        let (is_there, switches) = match waiting {
            AwaitedEvent::OneCore => {
                let on_one_core = case.placement != Placement::OneProcess
                    && case.placement.has_two_processors() == Some(false);
                (on_one_core, switches.voluntary + switches.involuntary)
            }
            AwaitedEvent::TwoCores => (on_two_processors(case.placement), switches.voluntary),
        };
        let is_one = has_twin && is_there && switches >= FEWEST_SWITCHES;
        let medians = |case: &Case| {
            self.trials.measured(case).filter_map(|trial| trial.deciding_ns).collect::<Vec<_>>()
        };
        (is_one && calls_are_alike(self.run, case, &twin)).then(|| Reference {
            case,
            switches,
            medians: [medians(case), medians(&twin)],
        })
    }
}

/// Returns the median over benchmarks; `None` if it is not positive.
fn positive_median(estimates: &[f64]) -> Option<f64> {
    median(estimates).filter(|ns| *ns > 0.0)
}

/// Whether the benchmark makes as many calls as in one process. Additional calls for waiting would count as part of the
/// switch.
fn calls_are_alike(run: &Run, case: &Case, twin: &Case) -> bool {
    let calls = |case: &Case| count_of(run, case).and_then(system_calls);
    calls(case).zip(calls(twin)).is_some_and(|(case, twin)| (case - twin).abs() <= CALLS_APART * twin)
}

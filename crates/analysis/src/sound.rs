//! Check whether a case has a speed: its trials were measured, and neither their figures nor the rest of the run are
//! inconsistent. Benchmarks and the figures for comparisons of many runs are based on it.

use crate::{
    ReachMedians, Run, SkippedCase, SkippedStatus,
    cache_line::is_above_the_cache_line,
    checks::{check_trial, is_above_the_clock},
    consistent::keeps_its_cpus_busy_at_most,
    declared::calls_as_declared,
    exchange::MedianTime,
    law::{Breach, Law},
    noise::{core_to_core_times, lost_share, probed_share},
    saturation::{Evidence, Saturation},
    trials::{CaseTrials, MeasuredTrial},
};
use furlong_model::{Case, Family, Measurement, RunHeader, Unit};
use furlong_stats::{Distribution, median, median_interval, tidy};

/// Case whose trials are all valid.
pub(crate) struct SoundCase<'a> {
    /// The case.
    pub case: &'a Case,
    /// Family of the mechanism, if the writer of the run knew it.
    pub family: Option<Family>,
    /// Records of the trials, at least one.
    pub trials: Vec<&'a Measurement>,
    /// Times of each trial.
    pub times: Vec<Distribution>,
    /// Median of the trials' medians, in nanoseconds.
    pub p50_ns: f64,
    /// Interval of the median; `None` for fewer than three trials.
    pub median_ci95: Option<[f64; 2]>,
    /// Time by which benchmarks are compared.
    pub deciding: MedianTime,
    /// With several receivers, the time until the first of them had a message.
    pub reached: Option<ReachMedians>,
    /// Number of failed trials.
    pub failed_trials: usize,
    /// Numbers of the measured trials.
    numbers: Vec<u32>,
}

impl<'a> SoundCase<'a> {
    /// Checks the trials of a case, and returns the result, the failures, or both. A few failed trials do not invalidate
    /// the case, but a corrupted message does.
    pub(crate) fn judge(
        run: &Run,
        case: &'a Case,
        trials: &CaseTrials<'a>,
    ) -> (Option<Self>, Option<SkippedCase>) {
        let measured: Vec<_> = trials.measured().collect();
        let trouble = SkippedCase::of(case, trials.records());
        let failed_trials = match &trouble {
            Some(entry) if entry.status == SkippedStatus::Failed => entry.trials,
            _ => 0,
        };
        let corrupted = trouble.as_ref().is_some_and(SkippedCase::is_corruption);
        // A benchmark that fails in at least half of its trials is unusable.
        if corrupted || measured.len() <= failed_trials {
            return (None, trouble);
        }
        // A mechanism that was unknown to the writer counts as one with payload.
        let family = trials.records().find_map(|trial| trial.family);
        match (
            SoundCase::in_run(run, case, family, &measured),
            Saturation::of(case, measured.iter().map(|trial| trial.record), || {
                evidence(run, case, &measured)
            }),
        ) {
            (Ok(_), Some(saturation)) => {
                (None, trouble.or(Some(SkippedCase::saturated(case, measured.len(), saturation))))
            }
            (Ok(sound), None) => (Some(SoundCase { failed_trials, ..sound }), trouble),
            (Err(breach), _) => (None, Some(SkippedCase::void(case, measured.len(), breach))),
        }
    }

    /// Checks the trials like [`SoundCase::of`], and also against the rest of the run.
    fn in_run(
        run: &Run,
        case: &'a Case,
        family: Option<Family>,
        trials: &[&MeasuredTrial<'a>],
    ) -> Result<Self, Breach> {
        let sound = SoundCase::of(&run.header, case, family, trials)?;
        let shortest_bare_ns = core_to_core_times(&run.noise).first().copied();
        is_above_the_cache_line(case, family, sound.trials[0], sound.p50_ns, shortest_bare_ns)?;
        calls_as_declared(case, &run.counts)?;
        Ok(sound)
    }

    /// Computes the result from `trials` (at least one), or returns the reason against showing it.
    pub(crate) fn of(
        header: &RunHeader,
        case: &'a Case,
        family: Option<Family>,
        trials: &[&MeasuredTrial<'a>],
    ) -> Result<Self, Breach> {
        let times = checked_times(header, case, trials)?;
        let medians: Vec<f64> = times.iter().map(Distribution::median_ns).collect();
        let p50_ns = median(&medians).ok_or_else(no_trial)?;
        let numbers: Vec<u32> = trials.iter().map(|trial| trial.number).collect();
        let median_ci95 = interval(header, &numbers, &medians);
        let deciding: Vec<f64> = trials.iter().filter_map(|trial| trial.deciding_ns).collect();
        let deciding = MedianTime {
            ns: tidy(median(&deciding).ok_or_else(no_trial)?),
            ci95: interval(header, &numbers, &deciding),
        };
        let trials: Vec<_> = trials.iter().map(|trial| trial.record).collect();
        let sound = SoundCase {
            case,
            family,
            p50_ns: tidy(p50_ns),
            median_ci95,
            deciding,
            reached: ReachMedians::of(&trials, &times)?,
            times,
            trials,
            failed_trials: 0,
            numbers,
        };
        is_above_the_clock(sound.p50_ns, sound.per_sample(), &header.harness)?;
        Ok(sound)
    }

    /// Returns the unit of one exchange.
    pub(crate) fn unit(&self) -> Unit {
        Unit::of(self.case.pattern())
    }

    /// Returns the maximum number of exchanges per reading of the clock.
    pub(crate) fn per_sample(&self) -> u32 {
        self.trials.iter().map(|trial| trial.round_trips_per_sample).max().unwrap_or_default()
    }

    /// Returns the interval of the median of a figure, given for each trial.
    pub(crate) fn interval(&self, header: &RunHeader, figures: &[f64]) -> Option<[f64; 2]> {
        interval(header, &self.numbers, figures)
    }
}

/// Returns the figures that show why a benchmark does not keep up with a rate. If it never waits, the CPU time that others
/// used is known. Otherwise the probes between trials show how much of each CPU they used.
fn evidence(run: &Run, case: &Case, trials: &[&MeasuredTrial]) -> Evidence {
    let times = trials.iter().filter_map(|trial| trial.times.as_ref().ok());
    let shortest = times.filter_map(|times| times.shares().next()).map(|(ns, _)| ns).reduce(f64::min);
    Evidence {
        lost_share: lost_share(case, trials.iter().map(|trial| trial.record))
            .or_else(|| probed_share(&run.noise)),
        shortest_ns: shortest.filter(|_| !case.pattern().is_one_way()),
    }
}

/// Returns the breach for a case without trials.
pub(crate) fn no_trial() -> Breach {
    Breach::new(Law::CompleteRecord, "there is no measured trial")
}

/// Returns the times of each trial. The first invalid trial fails the benchmark.
fn checked_times(
    header: &RunHeader,
    case: &Case,
    trials: &[&MeasuredTrial],
) -> Result<Vec<Distribution>, Breach> {
    let checked = |trial: &&MeasuredTrial| {
        let times = trial.times.clone().map_err(|error| Breach::new(Law::CompleteRecord, error.to_string()));
        let checked = times.and_then(|times| {
            check_trial(case, trial.record, &times)?;
            keeps_its_cpus_busy_at_most(header, case, trial.record)?;
            Ok(times)
        });
        checked.map_err(|breach| breach.in_trial(trial.number))
    };
    trials.iter().map(checked).collect()
}

/// Returns the interval of the median of a figure over trials with these numbers. With repetitions, it covers all of them.
fn interval(header: &RunHeader, numbers: &[u32], figures: &[f64]) -> Option<[f64; 2]> {
    let interval = match header.across > 1 {
        true => across_repetitions(numbers, figures, header.trials),
        false => median_interval(figures),
    };
    interval.map(|ends| ends.map(tidy))
}

/// Returns the range of the intervals of all repetitions of `trials` trials, and of the interval of all trials together.
fn across_repetitions(numbers: &[u32], medians: &[f64], trials: u32) -> Option<[f64; 2]> {
    let of_one = |repetition: u32| {
        let own = numbers.iter().zip(medians).filter(|(number, _)| *number / trials.max(1) == repetition);
        median_interval(&own.map(|(_, median_ns)| *median_ns).collect::<Vec<_>>())
    };
    let repetitions = numbers.iter().map(|number| number / trials.max(1)).max().unwrap_or_default();
    let intervals = (0..=repetitions).filter_map(of_one).chain(median_interval(medians));
    intervals.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
}

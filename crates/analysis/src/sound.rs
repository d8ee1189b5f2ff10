//! Whether a case has a speed: its trials that were measured, and whether neither their own figures nor the rest of the run say
//! that they cannot be true. A row is made of that, and so is what is kept of a row where many runs are compared.

use crate::{
    Reached, Run, Skipped, SkippedStatus,
    cache_line::is_above_the_cache_line,
    checks::{check_trial, is_above_the_clock},
    consistent::keeps_its_cpus_busy_at_most,
    declared::calls_as_declared,
    law::{Breach, Law},
    noise::{core_to_core_times, lost_share, probed_share},
    saturation::{Evidence, Saturation},
    trials::{CaseTrials, MeasuredTrial},
};
use furlong_model::{Case, Family, Measurement, RunHeader, Unit};
use furlong_stats::{Distribution, median, median_interval, tidy, uncertainty};

/// A case whose trials are all in order.
pub(crate) struct Sound<'a> {
    /// What was measured.
    pub case: &'a Case,
    /// The kind of mechanism, where the writer of the run knew it.
    pub family: Option<Family>,
    /// What was recorded of each trial, at least one.
    pub trials: Vec<&'a Measurement>,
    /// The times of each.
    pub times: Vec<Distribution>,
    /// The median of the trials' medians, in nanoseconds.
    pub p50_ns: f64,
    /// Its interval; `None` for fewer than three trials.
    pub median_ci95: Option<[f64; 2]>,
    /// Of several receivers, how long messages took until the first had them.
    pub reached: Option<Reached>,
    /// Trials that started and did not end well.
    pub failed_trials: usize,
    /// Numbers of the measured trials.
    numbers: Vec<u32>,
}

impl<'a> Sound<'a> {
    /// What the trials of a case say, and their trouble, or both: a few failed trials leave the case standing, a corrupted message
    /// does not.
    pub(crate) fn judge(
        run: &Run,
        case: &'a Case,
        trials: &CaseTrials<'a>,
    ) -> (Option<Self>, Option<Skipped>) {
        let measured: Vec<_> = trials.measured().collect();
        let trouble = Skipped::of(case, trials.records());
        let failed_trials = match &trouble {
            Some(entry) if entry.status == SkippedStatus::Failed => entry.trials,
            _ => 0,
        };
        let corrupted = trouble.as_ref().is_some_and(Skipped::is_corruption);
        // A row that fails as often as not is not one that can be used.
        if corrupted || measured.len() <= failed_trials {
            return (None, trouble);
        }
        // A mechanism that the writer did not know counts as a carrier of data.
        let family = trials.records().find_map(|trial| trial.family);
        match (
            Sound::in_run(run, case, family, &measured),
            Saturation::of(case, measured.iter().map(|trial| trial.record), || {
                evidence(run, case, &measured)
            }),
        ) {
            (Ok(_), Some(saturation)) => {
                (None, trouble.or(Some(Skipped::saturated(case, measured.len(), saturation))))
            }
            (Ok(sound), None) => (Some(Sound { failed_trials, ..sound }), trouble),
            (Err(breach), _) => (None, Some(Skipped::void(case, measured.len(), breach))),
        }
    }

    /// The same as [`Sound::of`], if the rest of the run does not say either that it cannot be true.
    fn in_run(
        run: &Run,
        case: &'a Case,
        family: Option<Family>,
        trials: &[&MeasuredTrial<'a>],
    ) -> Result<Self, Breach> {
        let sound = Sound::of(&run.header, case, family, trials)?;
        let shortest_bare_ns = core_to_core_times(&run.noise).first().copied();
        is_above_the_cache_line(case, family, sound.trials[0], sound.p50_ns, shortest_bare_ns)?;
        calls_as_declared(case, &run.counts)?;
        Ok(sound)
    }

    /// From `trials` (at least one) as they stand, or why they may not be shown.
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
        let trials: Vec<_> = trials.iter().map(|trial| trial.record).collect();
        let sound = Sound {
            case,
            family,
            p50_ns: tidy(p50_ns),
            median_ci95,
            reached: Reached::of(&trials, &times)?,
            times,
            trials,
            failed_trials: 0,
            numbers,
        };
        is_above_the_clock(sound.p50_ns, sound.per_sample(), &header.harness)?;
        Ok(sound)
    }

    /// What one exchange is.
    pub(crate) fn unit(&self) -> Unit {
        Unit::of(self.case.pattern())
    }

    /// Exchanges to one reading of the clock, at most.
    pub(crate) fn per_sample(&self) -> u32 {
        self.trials.iter().map(|trial| trial.round_trips_per_sample).max().unwrap_or_default()
    }

    /// Returns the interval of the median of a figure, given for each trial.
    pub(crate) fn interval(&self, header: &RunHeader, figures: &[f64]) -> Option<[f64; 2]> {
        interval(header, &self.numbers, figures)
    }

    /// The farther end of the interval as a share of the median: 0.05 is ±5 %.
    pub(crate) fn uncertainty(&self) -> Option<f64> {
        self.median_ci95.map(|ends| uncertainty(self.p50_ns, ends))
    }
}

/// Returns the figures that show why a row does not keep up with a rate. The CPU time that other processes took from a row that never
/// waits is known; of other rows, the probes between trials show how much they took of each CPU.
fn evidence(run: &Run, case: &Case, trials: &[&MeasuredTrial]) -> Evidence {
    let times = trials.iter().filter_map(|trial| trial.times.as_ref().ok());
    let shortest = times.filter_map(|times| times.shares().next()).map(|(ns, _)| ns).reduce(f64::min);
    Evidence {
        lost_share: lost_share(case, trials.iter().map(|trial| trial.record))
            .or_else(|| probed_share(&run.noise)),
        shortest_ns: shortest.filter(|_| !case.pattern().is_one_way()),
    }
}

/// That there is nothing to make figures of.
pub(crate) fn no_trial() -> Breach {
    Breach::new(Law::CompleteRecord, "there is no measured trial")
}

/// The times of each trial; the first one that cannot stand fails the row.
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

/// Returns the interval of the median of a figure that trials with these numbers have: over repetitions, of all of them.
fn interval(header: &RunHeader, numbers: &[u32], figures: &[f64]) -> Option<[f64; 2]> {
    let interval = match header.across > 1 {
        true => across_repetitions(numbers, figures, header.trials),
        false => median_interval(figures),
    };
    interval.map(|ends| ends.map(tidy))
}

/// What the intervals of all repetitions of so many trials, and that of all trials together, reach from and to.
fn across_repetitions(numbers: &[u32], medians: &[f64], trials: u32) -> Option<[f64; 2]> {
    let of_one = |repetition: u32| {
        let own = numbers.iter().zip(medians).filter(|(number, _)| *number / trials.max(1) == repetition);
        median_interval(&own.map(|(_, median_ns)| *median_ns).collect::<Vec<_>>())
    };
    let repetitions = numbers.iter().map(|number| number / trials.max(1)).max().unwrap_or_default();
    let intervals = (0..=repetitions).filter_map(of_one).chain(median_interval(medians));
    intervals.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
}

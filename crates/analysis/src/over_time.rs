//! Trials of a benchmark over the time of the run, which show changes of the machine.

use crate::DecodedRun;
use furlong_model::{Case, Trial};
use furlong_stats::{Distribution, Mixture};
use std::slice;

/// Times of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialTimes {
    /// Start of the trial, in nanoseconds after the start of the run.
    pub at_ns: u64,
    /// Median of its round trips or messages, in nanoseconds.
    pub p50_ns: f64,
    /// 99th percentile in nanoseconds; `None` if the exchanges are so short that several are timed together.
    pub p99_ns: Option<f64>,
}

/// Benchmark with its trials, in the order in which they ran.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// Case of the benchmark.
    pub case: Case,
    /// Measured trials.
    pub trials: Vec<TrialTimes>,
}

impl TrialTimes {
    /// Returns the times of a measured trial with a recorded start.
    pub fn of(trial: &Trial) -> Option<TrialTimes> {
        let times = Distribution::decode(&trial.outcome.measurement()?.histogram).ok()?;
        TrialTimes::new(trial, &times)
    }

    fn new(trial: &Trial, times: &Distribution) -> Option<TrialTimes> {
        let measured = trial.outcome.measurement()?;
        let times = Mixture::of(slice::from_ref(times))?;
        Some(TrialTimes {
            at_ns: trial.at_ns?,
            p50_ns: times.quantile_ns(0.5),
            p99_ns: (measured.round_trips_per_sample == 1).then(|| times.quantile_ns(0.99)),
        })
    }
}

/// Returns the benchmarks of a run that have figures, in the order of the ranking. They have no trials if the run lacks the
/// start times.
pub fn over_time(run: &DecodedRun) -> Vec<OverTime> {
    let of = |case: &Case| {
        let decoded = run.trials.decoded(case);
        let trials = decoded.filter_map(|(trial, times)| TrialTimes::new(trial, times)).collect();
        OverTime { case: case.clone(), trials }
    };
    run.summary.rows.iter().map(|row| of(&row.case)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, fixture};
    use furlong_model::Record;

    #[test]
    fn a_row_has_its_trials_as_they_ran_and_none_without_their_times() {
        let mut at_ns = 0;
        let timed = fixture::records().into_iter().map(|record| match record {
            Record::Trial(trial) => {
                at_ns += 1_000;
                Record::Trial(Trial { at_ns: Some(at_ns), ..trial })
            }
            other => other,
        });
        let run = Run::from_records(timed).unwrap();
        let run = DecodedRun::of(&run);
        let rows = over_time(&run);
        assert_eq!(rows.len(), run.summary.rows.len());
        for (row, of_row) in run.summary.rows.iter().zip(&rows) {
            assert_eq!((&row.case, row.trials), (&of_row.case, of_row.trials.len()));
            assert!(of_row.trials.is_sorted_by_key(|trial| trial.at_ns));
            assert!(of_row.trials.iter().all(|trial| trial.p50_ns > 0.0));
            let ends = of_row.trials.iter().filter_map(|trial| Some([trial.p50_ns, trial.p99_ns?]));
            assert!(ends.into_iter().all(|[p50_ns, p99_ns]| p50_ns <= p99_ns));
        }
        let before = Run::from_records(fixture::records()).unwrap();
        assert!(over_time(&DecodedRun::of(&before)).iter().all(|row| row.trials.is_empty()));
    }
}

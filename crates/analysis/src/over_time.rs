//! The trials of a row over the time of the run: how the machine changed while it was measured.

use crate::DecodedRun;
use furlong_model::{Case, Trial};
use furlong_stats::{Distribution, Mixture};
use std::slice;

/// What a trial took, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialTimes {
    /// When it began, in nanoseconds after the run did.
    pub at_ns: u64,
    /// The median of its round trips or messages, in nanoseconds.
    pub p50_ns: f64,
    /// The time that 1 % of them exceed, in nanoseconds; `None` where they are so short that several are timed together.
    pub p99_ns: Option<f64>,
}

/// A row with its trials, in the order in which they ran.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// What was measured.
    pub case: Case,
    /// Trials that were measured.
    pub trials: Vec<TrialTimes>,
}

impl TrialTimes {
    /// Of a trial that was measured and says when it began.
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

/// The rows of a run that have figures, in the order of the ranking; without trials where the run does not say when they
/// began.
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

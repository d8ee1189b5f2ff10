//! A decoded run with its summary, from which every statement about a run is computed.

use crate::reference::{ReferenceRow, References};
use crate::size_classes::size_class_times;
use crate::{Row, Run, Summary, Verdict, trials::Trials};
use furlong_model::{Case, Measurement, Trial};
use furlong_stats::Distribution;
use std::collections::BTreeMap;

/// A run with its trials decoded and its summary.
#[derive(Debug, Clone)]
pub struct DecodedRun<'a> {
    /// Records of the run.
    pub records: &'a Run,
    /// Summary with its benchmarks and the cases without a result.
    pub summary: Summary,
    pub(crate) trials: Trials<'a>,
}

/// Run with the name that the user gave.
#[derive(Debug, Clone, Copy)]
pub struct NamedRun<'a> {
    /// The name.
    pub name: &'a str,
    /// The run.
    pub run: &'a DecodedRun<'a>,
}

impl<'a> DecodedRun<'a> {
    /// Decodes and checks the trials of a run. A trial that cannot be decoded makes its benchmark void, with the reason.
    pub fn of(records: &'a Run) -> Self {
        DecodedRun::judge(records, Trials::decode(&records.trials))
    }

    /// Returns the run with only those trials that `keep` accepts.
    pub(crate) fn only(&self, keep: impl Fn(&Trial) -> bool) -> Self {
        DecodedRun::judge(self.records, self.trials.only(keep))
    }

    fn judge(records: &'a Run, trials: Trials<'a>) -> Self {
        DecodedRun { summary: Summary::of(records, &trials), records, trials }
    }

    /// Returns the noise verdict of the run. It considers only the intervals of the printed benchmarks, so that its counts
    /// match the printed tables.
    pub(crate) fn noise_of<'r>(&self, rows: impl Iterator<Item = &'r Row>) -> Verdict {
        Verdict::of(
            self.records,
            &self.trials,
            rows.map(|row| (&row.case, row.exchange.deciding().uncertainty())),
        )
    }

    /// Returns the benchmarks for the costs of waiting.
    pub(crate) fn references(&self) -> References<'_> {
        let rows = self.summary.rows.iter().map(|row| ReferenceRow {
            case: &row.case,
            family: row.family,
            switches: row.exchange.switches,
        });
        References { run: self.records, trials: &self.trials, rows: rows.collect() }
    }

    /// Returns the measured trials of a case, in the order in which they ran.
    pub fn measured(&self, case: &Case) -> impl Iterator<Item = &'a Measurement> {
        self.trials.measured(case).map(|trial| trial.record)
    }

    /// Returns the times of each measured trial, or an empty list if one of them cannot be decoded.
    pub fn times(&self, case: &Case) -> Vec<Distribution> {
        let times = self.trials.measured(case).map(|trial| trial.times.clone());
        times.collect::<Result<_, _>>().unwrap_or_default()
    }

    /// Returns the times of each size of a mix in each measured trial; empty if all messages have the same size.
    pub fn size_class_times(&self, case: &Case) -> BTreeMap<usize, Vec<Distribution>> {
        size_class_times(self.measured(case)).unwrap_or_default()
    }

    /// Returns the time by which benchmarks are compared of each measured trial, in nanoseconds, or an empty list if one of them
    /// cannot be decoded.
    pub(crate) fn deciding_ns(&self, case: &Case) -> Vec<f64> {
        let each = self.trials.measured(case).map(|trial| trial.deciding_ns);
        each.collect::<Option<_>>().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Law, fixture};

    #[test]
    fn a_trial_that_cannot_be_read_takes_its_row_and_no_other() {
        let mut run = Run::from_records(fixture::records()).unwrap();
        let sound = DecodedRun::of(&run).summary;
        let damaged = sound.rows[0].case.clone();
        let trial = run.trials.iter_mut().find(|trial| trial.case == damaged).unwrap();
        if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome {
            measured.histogram.truncate(9);
        }
        let decoded = DecodedRun::of(&run);
        assert!(decoded.times(&damaged).is_empty() && decoded.deciding_ns(&damaged).is_empty());
        assert_eq!(decoded.measured(&damaged).count(), sound.rows[0].trials);
        let void = decoded.summary.skipped.iter().find(|entry| entry.case == damaged).unwrap();
        assert_eq!(void.law, Some(Law::CompleteRecord));
        assert_eq!(decoded.summary.rows.len() + 1, sound.rows.len());
        // Without the damaged trial the benchmark is valid.
        let rest = decoded.only(|other| other.case != damaged || other.number > 0);
        assert_eq!(rest.summary.rows.len(), sound.rows.len());
        assert_eq!(rest.times(&damaged).len() + 1, sound.rows[0].trials);
    }
}

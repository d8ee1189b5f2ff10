//! Trials of a run by case. Each trial is decoded once.

use crate::exchange::deciding_ns;
use furlong_model::{Case, Measurement, Trial};
use furlong_stats::{Distribution, HistogramError, SortedMap};

/// Measured trial.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredTrial<'a> {
    /// Number among the trials of its case.
    pub number: u32,
    /// Position among all trials of the run, in the order in which they ran.
    pub position: usize,
    /// Record of the trial.
    pub record: &'a Measurement,
    /// Times of the trial, or the error of decoding them.
    pub times: Result<Distribution, HistogramError>,
    /// Time by which benchmarks are compared, in nanoseconds; `None` if its times cannot be decoded.
    pub deciding_ns: Option<f64>,
}

/// Trials of one case, in the order in which they ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaseTrials<'a>(Vec<(&'a Trial, Option<MeasuredTrial<'a>>)>);

/// Trials of each case.
#[derive(Debug, Clone)]
pub(crate) struct Trials<'a>(SortedMap<&'a Case, CaseTrials<'a>>);

impl<'a> MeasuredTrial<'a> {
    /// Decodes a trial of this case with this number and position.
    pub(crate) fn decode(case: &Case, number: u32, position: usize, record: &'a Measurement) -> Self {
        let times = Distribution::decode(&record.histogram);
        let deciding_ns = times.as_ref().map(|times| deciding_ns(case, record, times)).ok();
        MeasuredTrial { number, position, record, times, deciding_ns }
    }
}

impl<'a> CaseTrials<'a> {
    /// Returns the records of all trials.
    pub(crate) fn records(&self) -> impl Iterator<Item = &'a Trial> {
        self.0.iter().map(|(trial, _)| *trial)
    }

    /// Returns the measured trials.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &MeasuredTrial<'a>> {
        self.0.iter().filter_map(|(_, measured)| measured.as_ref())
    }

    /// Returns the trials that `keep` accepts.
    pub(crate) fn only(&self, keep: impl Fn(&Trial) -> bool) -> Self {
        CaseTrials(self.0.iter().filter(|(trial, _)| keep(trial)).cloned().collect())
    }
}

impl<'a> Trials<'a> {
    /// Decodes all trials.
    pub(crate) fn decode(trials: &'a [Trial]) -> Self {
        Trials::decode_as(trials, trials)
    }

    /// Decodes trials that were measured with the cases of other trials, which select the deciding figure.
    pub(crate) fn decode_as(trials: &'a [Trial], measured_as: &[Trial]) -> Self {
        let mut by_case: SortedMap<&Case, CaseTrials> = SortedMap::default();
        for (position, (trial, Trial { case, .. })) in trials.iter().zip(measured_as).enumerate() {
            let measured = trial.outcome.measurement();
            let decoded = measured.map(|record| MeasuredTrial::decode(case, trial.number, position, record));
            by_case.or_default(&trial.case).0.push((trial, decoded));
        }
        Trials(by_case)
    }

    /// Returns each case with its trials.
    pub(crate) fn by_case(&self) -> impl Iterator<Item = (&'a Case, &CaseTrials<'a>)> {
        self.0.iter().map(|(case, trials)| (*case, trials))
    }

    /// Returns the measured trials of a case.
    pub(crate) fn measured(&self, case: &Case) -> impl Iterator<Item = &MeasuredTrial<'a>> {
        self.0.get(case).into_iter().flat_map(CaseTrials::measured)
    }

    /// Returns the decoded trials of a case with their times.
    pub(crate) fn decoded(&self, case: &Case) -> impl Iterator<Item = (&'a Trial, &Distribution)> {
        let all = self.0.get(case).into_iter().flat_map(|trials| &trials.0);
        all.filter_map(|(trial, measured)| Some((*trial, measured.as_ref()?.times.as_ref().ok()?)))
    }

    /// Returns the trials that `keep` accepts, without decoding them again.
    pub(crate) fn only(&self, keep: impl Fn(&Trial) -> bool) -> Self {
        let kept = self.by_case().map(|(case, trials)| (case, trials.only(&keep)));
        Trials(kept.filter(|(_, trials)| !trials.0.is_empty()).collect())
    }
}

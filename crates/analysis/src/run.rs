//! Run with its records, sorted by kind.

use furlong_model::{
    CostReading, Count, End, Experiment, HandoverCount, HandoverTrial, MeaningReading, NoiseReading, Record,
    RunHeader, SCHEMA, Shortlist, StartReading, Trial,
};

/// Records of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Options of the run, and the machine.
    pub header: RunHeader,
    /// Noise readings of the machine, in their order.
    pub noise: Vec<NoiseReading>,
    /// Number of ended trials before each noise reading.
    pub trials_before: Vec<usize>,
    /// Cost readings of the machine, in their order.
    pub costs: Vec<CostReading>,
    /// Every trial, in the order of their ends.
    pub trials: Vec<Trial>,
    /// Counted passes.
    pub counts: Vec<Count>,
    /// Every trial of a bulk transfer, in the order of their ends.
    pub handovers: Vec<HandoverTrial>,
    /// Counted passes of bulk transfers.
    pub handover_counts: Vec<HandoverCount>,
    /// Times of process starts.
    pub starts: Vec<StartReading>,
    /// Probes of meanings.
    pub meanings: Vec<MeaningReading>,
    /// Published comparison that the run repeats; `None` for any other run. If there are several, the last one.
    pub experiment: Option<Experiment>,
    /// Workload and candidates of a recommendation; `None` for any other run.
    pub shortlist: Option<Shortlist>,
    /// End of the run; `None` if the file was cut off.
    pub end: Option<End>,
    /// Whether the last line was incomplete and ignored.
    pub torn: bool,
}

/// Error in a sequence of records.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The text is not a record.
    #[error("this is not a valid furlong record: {0}")]
    NoRecord(serde_json::Error),
    /// A newer version of furlong wrote it.
    #[error("written in schema {0}, but this furlong reads up to schema {SCHEMA}: use a newer furlong")]
    NewerSchema(u64),
    /// A record precedes the header, or the file has none.
    #[error("a run starts with a 'run' record, but this file has none")]
    NoHeader,
    /// The file contains two runs.
    #[error("a second run starts here: split the file, since one report is about one run")]
    SecondRun,
    /// No machine can have measured the figure.
    #[error("this figure is impossible: {0}")]
    Impossible(String),
    /// The trial occurs twice. The number is counted from 0.
    #[error("trial {} of this case occurs twice: remove one of the two lines", u64::from(*.0) + 1)]
    TrialTwice(u32),
    /// The line is too long.
    #[error("the line is longer than {0} bytes")]
    LineTooLong(u64),
    /// The file is too long.
    #[error("the run is longer than {0} bytes")]
    RunTooLong(u64),
    /// Reading the file failed.
    #[error("reading failed: {0}")]
    Io(std::io::Error),
}

impl Run {
    /// Creates a run from records in the order in which they were written.
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Result<Self, Problem> {
        let mut builder = Builder::default();
        records.into_iter().try_for_each(|record| builder.add(record))?;
        builder.finish(false)
    }

    /// Whether no trial started: everything was refused, or the run ended before its first trial.
    pub fn is_empty(&self) -> bool {
        !self.trials.iter().any(|trial| trial.outcome.was_started())
            && !self.handovers.iter().any(|trial| trial.outcome.was_started())
            && self.starts.is_empty()
            && self.meanings.is_empty()
            && self.costs.is_empty()
            && self.counts.is_empty()
            && self.handover_counts.is_empty()
    }

    /// Whether trials are missing because the run was interrupted or its file cut off.
    pub fn is_partial(&self) -> bool {
        self.torn || self.end.is_none_or(|end| end.interrupted_by.is_some())
    }
}

/// Builder that adds records one by one and rejects invalid sequences.
#[derive(Default)]
pub(crate) struct Builder {
    run: Option<Run>,
}

impl Builder {
    /// Adds the next record.
    pub(crate) fn add(&mut self, record: Record) -> Result<(), Problem> {
        match (record, &mut self.run) {
            (Record::Run(header), None) if header.schema > SCHEMA => {
                return Err(Problem::NewerSchema(header.schema.into()));
            }
            (Record::Run(header), empty @ None) => {
                *empty = Some(Run {
                    header,
                    noise: Vec::new(),
                    trials_before: Vec::new(),
                    costs: Vec::new(),
                    trials: Vec::new(),
                    counts: Vec::new(),
                    handovers: Vec::new(),
                    handover_counts: Vec::new(),
                    starts: Vec::new(),
                    meanings: Vec::new(),
                    experiment: None,
                    shortlist: None,
                    end: None,
                    torn: false,
                });
            }
            (Record::Run(_), Some(_)) => return Err(Problem::SecondRun),
            (_, None) => return Err(Problem::NoHeader),
            (Record::Noise(reading), Some(run)) => {
                run.noise.push(reading);
                run.trials_before.push(run.trials.len());
            }
            (Record::Trial(trial), Some(run)) => run.trials.push(trial),
            (Record::Costs(reading), Some(run)) => run.costs.push(reading),
            (Record::Count(count), Some(run)) => run.counts.push(count),
            (Record::Handover(trial), Some(run)) => run.handovers.push(trial),
            (Record::HandoverCount(count), Some(run)) => run.handover_counts.push(count),
            (Record::Start(reading), Some(run)) => run.starts.push(reading),
            (Record::Meaning(reading), Some(run)) => run.meanings.push(reading),
            (Record::Experiment(experiment), Some(run)) => run.experiment = Some(experiment),
            (Record::Shortlist(shortlist), Some(run)) => run.shortlist = Some(shortlist),
            (Record::End(end), Some(run)) => run.end = Some(end),
        }
        Ok(())
    }

    /// Returns the run. `torn` means that its last line was incomplete.
    pub(crate) fn finish(self, torn: bool) -> Result<Run, Problem> {
        self.run.map(|run| Run { torn, ..run }).ok_or(Problem::NoHeader)
    }
}

//! A run as a whole: its records, sorted by kind.

use furlong_model::{
    CostReading, Count, End, Experiment, HandoverCount, HandoverTrial, NoiseReading, Record, RunHeader,
    SCHEMA, Shortlist, StartReading, Trial,
};

/// Everything that one run recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What was asked, of which machine.
    pub header: RunHeader,
    /// What else the machine was doing, in the order it was read.
    pub noise: Vec<NoiseReading>,
    /// For each of these readings, how many trials had ended before it.
    pub trials_before: Vec<usize>,
    /// What the machine charges, in the order it was read.
    pub costs: Vec<CostReading>,
    /// Every trial, in the order they ended.
    pub trials: Vec<Trial>,
    /// The counted passes.
    pub counts: Vec<Count>,
    /// Every trial of a handover, in the order they ended.
    pub handovers: Vec<HandoverTrial>,
    /// The counted passes of handovers.
    pub handover_counts: Vec<HandoverCount>,
    /// How long processes took to start.
    pub starts: Vec<StartReading>,
    /// The published comparison that the run repeats; `None` for any other run, the last one if there are several.
    pub experiment: Option<Experiment>,
    /// The workload for which a mechanism was to be chosen; `None` for any other run.
    pub shortlist: Option<Shortlist>,
    /// How the run ended; `None` if the file was cut off.
    pub end: Option<End>,
    /// Whether the last line was cut in the middle and left out.
    pub torn: bool,
}

/// What makes a row of records no run.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The text is not a record.
    #[error("this is no record of furlong: {0}")]
    NoRecord(serde_json::Error),
    /// A newer furlong wrote it.
    #[error("written in schema {0}, and this furlong reads up to schema {SCHEMA}: use a newer furlong")]
    NewerSchema(u64),
    /// Something comes before the header, or nothing comes at all.
    #[error("a run starts with a 'run' record, and there is none")]
    NoHeader,
    /// Two runs in one file.
    #[error("a second run starts here: split the file, since one report is about one run")]
    SecondRun,
    /// A figure that nobody can have measured.
    #[error("this figure cannot be: {0}")]
    Impossible(String),
    /// A trial that was read before, with its number from 0 on.
    #[error("trial {} of this case is here a second time: remove one of the two lines", u64::from(*.0) + 1)]
    TrialTwice(u32),
    /// A line of unreasonable length.
    #[error("the line is longer than {0} bytes")]
    LineTooLong(u64),
    /// A file of unreasonable length.
    #[error("the run is longer than {0} bytes")]
    RunTooLong(u64),
    /// The file cannot be read on.
    #[error("reading failed: {0}")]
    Io(std::io::Error),
}

impl Run {
    /// Builds a run from records in the order they were written.
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Result<Self, Problem> {
        let mut builder = Builder::default();
        records.into_iter().try_for_each(|record| builder.add(record))?;
        builder.finish(false)
    }

    /// Whether nothing was measured and nothing failed: everything was refused, or the run ended before its first trial.
    pub fn is_empty(&self) -> bool {
        !self.trials.iter().any(|trial| trial.outcome.was_started())
            && !self.handovers.iter().any(|trial| trial.outcome.was_started())
            && self.starts.is_empty()
            && self.costs.is_empty()
            && self.counts.is_empty()
            && self.handover_counts.is_empty()
    }

    /// Whether trials are missing because the run was interrupted or its file cut off.
    pub fn is_partial(&self) -> bool {
        self.torn || self.end.is_none_or(|end| end.interrupted_by.is_some())
    }
}

/// Takes records one by one and refuses what cannot be a run.
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
            (Record::Experiment(experiment), Some(run)) => run.experiment = Some(experiment),
            (Record::Shortlist(shortlist), Some(run)) => run.shortlist = Some(shortlist),
            (Record::End(end), Some(run)) => run.end = Some(end),
        }
        Ok(())
    }

    /// The run, `torn` if its last line was cut in the middle.
    pub(crate) fn finish(self, torn: bool) -> Result<Run, Problem> {
        self.run.map(|run| Run { torn, ..run }).ok_or(Problem::NoHeader)
    }
}

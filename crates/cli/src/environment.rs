//! Carrying out a plan: surroundings, progress, records, and the run that they make.

use crate::arguments::{CommonOptions, SavingOptions};
use crate::output;
use crate::progress::{Progress, Shown};
use crate::saving::Store;
use anyhow::Context;
use furlong_analysis::Run;
use furlong_bench::peer::Peer;
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::run::{Event, harness};
use furlong_bench::session::{self, Session};
use furlong_bench::{ChildProgram, MechanismEntry};
use furlong_model::{Case, End, Experiment, Harness, Machine, Outcome, Record, RunHeader, SCHEMA};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// What every plan needs beside its cases.
pub struct Surroundings {
    /// How long nothing may happen in a trial.
    pub timeout: Duration,
    /// Random if not given.
    pub seed: Option<u64>,
    /// Where memory backed by a file has its file.
    pub file_folder: Option<PathBuf>,
    /// What is shown of the run on stderr, if that is a terminal.
    pub shown: Shown,
    /// The host that responders run on, where that is another one.
    pub peer: Option<Peer>,
}

impl From<&CommonOptions> for Surroundings {
    fn from(options: &CommonOptions) -> Self {
        Surroundings {
            timeout: options.timeout.0,
            seed: options.seed,
            file_folder: options.file_folder.clone(),
            shown: if options.no_progress { Shown::Nothing } else { Shown::Line },
            peer: None,
        }
    }
}

/// What came of a plan.
pub struct FinishedRun {
    /// Everything that was recorded.
    pub run: Run,
    /// The signal that ended it, if one did.
    pub interrupted_by: Option<i32>,
    /// What of it could not be removed, if something could not.
    pub left: Option<std::io::Error>,
    /// Where it was saved, if it was to be.
    pub saved: anyhow::Result<Option<PathBuf>>,
}

/// The longest measured part of trials of several that are not measured at the same moment in a shorter one: with eight
/// pairs that spin on two processors each waits for the others' time slices.
const LONGEST_BUDGET: Duration = Duration::from_secs(2);

/// Where plans are carried out: this process, in namespaces of its own where it may have them.
pub struct RunEnvironment<'a> {
    mechanisms: &'a [MechanismEntry],
    around: Surroundings,
    private_ipc_namespace: bool,
}

impl<'a> RunEnvironment<'a> {
    /// Enters the namespaces; once in a process.
    ///
    /// # Errors
    /// A folder that cannot be named.
    pub fn enter(
        mechanisms: &'a [MechanismEntry],
        around: impl Into<Surroundings>,
    ) -> anyhow::Result<RunEnvironment<'a>> {
        let mut around = around.into();
        // A folder given by a path from here must mean the same in every role.
        around.file_folder = around.file_folder.map(std::path::absolute).transpose()?;
        let private_ipc_namespace = session::enter_private_namespace().is_ok();
        Ok(RunEnvironment { mechanisms, around, private_ipc_namespace })
    }

    /// A plan without what its surroundings say.
    ///
    /// # Errors
    /// No randomness for a seed.
    pub fn plan(&self, cases: Vec<Case>, trials: u32, budget: Duration) -> anyhow::Result<Plan> {
        let seed =
            self.around.seed.map_or_else(furlong_os::identity::random, Ok).context("cannot draw a seed")?;
        let longest_budget = Some(LONGEST_BUDGET);
        Ok(Plan {
            cases,
            trials,
            budget,
            longest_budget,
            timeout: self.around.timeout,
            seed,
            ..Plan::default()
        })
    }

    /// Carries out the plan.
    ///
    /// # Errors
    /// What kept it from beginning.
    pub fn perform(&self, plan: &Plan, saving: &SavingOptions) -> anyhow::Result<FinishedRun> {
        let mut recorder = self.begin(plan, saving)?;
        recorder.carry_out(plan, 0);
        recorder.finish()
    }

    /// Carries out the plan of an experiment, which is recorded with it.
    ///
    /// # Errors
    /// As [`perform`](RunEnvironment::perform).
    pub fn repeat(
        &self,
        experiment: &Experiment,
        plan: &Plan,
        saving: &SavingOptions,
    ) -> anyhow::Result<FinishedRun> {
        let mut recorder = self.begin(plan, saving)?;
        recorder.keep(Record::Experiment(experiment.clone()));
        recorder.carry_out(plan, 0);
        recorder.finish()
    }

    /// Begins a run whose header says what `plan` asks; what is measured may come in parts, each of which knows what
    /// came of those before it.
    ///
    /// # Errors
    /// What kept it from beginning.
    pub fn begin(&self, plan: &Plan, saving: &SavingOptions) -> anyhow::Result<RunRecorder<'_>> {
        let session = Session::open(session::Options {
            program: ChildProgram::own().context("cannot find furlong's own binary")?,
            file_folder: self.around.file_folder.clone(),
            handle_signals: true,
        })?;
        if let Some(fault) = session.folder_fault() {
            output::tell(format_args!(
                "furlong: the directory for temporary files cannot be used, and benchmarks that need it are refused: {fault}"
            ));
        }
        if let Err(error) = furlong_os::memory::has_anonymous_objects() {
            let folder = std::env::temp_dir();
            output::tell(format_args!(
                "furlong: {error}: what supervisor and roles share lies in files in {} instead of memory",
                folder.display()
            ));
        }
        let harness = harness();
        let machine = Machine {
            host: saving.name.host.clone().or_else(furlong_os::facts::host_name),
            ..furlong_os::facts::machine(self.private_ipc_namespace)
        };
        let peer = self.around.peer.as_ref();
        let header = RunHeader {
            peer: peer.map(|peer| Box::new(peer.host().clone())),
            ..header(plan, harness, machine, saving.name.label.clone())
        };
        let store = Store::of(saving, &header)?;
        let shown = match self.around.shown {
            Shown::Nothing => Shown::Nothing,
            _ if plan.until_interrupted => Shown::Chart,
            shown => shown,
        };
        self.announce_warm_up(plan);
        let mechanisms = self.mechanisms;
        let progress = Progress::new(shown);
        Ok(RunRecorder {
            mechanisms,
            harness,
            session,
            peer,
            progress,
            store,
            records: vec![Record::Run(header)],
            end: None,
        })
    }
}

impl RunEnvironment<'_> {
    /// Tells the user before the run if benchmarks need seconds of warm-up, because such a run takes minutes.
    fn announce_warm_up(&self, plan: &Plan) {
        let compiles = |case: &&Case| {
            find(self.mechanisms, &case.mechanism, case.wait)
                .is_some_and(MechanismEntry::compiles_while_running)
        };
        let benchmarks = plan.cases.iter().filter(compiles).count();
        if benchmarks == 0 || plan.warm_up.is_some() || plan.until_interrupted {
            return;
        }
        let repetitions = plan.across.map_or(1, |across| across.repetitions);
        let trials = benchmarks as u32 * plan.trials * repetitions;
        output::tell(format_args!(
            "furlong: {trials} trials are of programs that compile while they run. Each warms up for 1 to 5 s, so they take about \
             {} s; --warm-up sets another time.",
            trials * 3 / 2
        ));
    }
}

/// A run that has begun.
pub struct RunRecorder<'a> {
    mechanisms: &'a [MechanismEntry],
    harness: Harness,
    session: Session,
    peer: Option<&'a Peer>,
    progress: Progress,
    store: Option<Store>,
    records: Vec<Record>,
    /// How the parts so far ended; written when the run does.
    end: Option<End>,
}

impl RunRecorder<'_> {
    /// Keeps a record.
    pub fn keep(&mut self, record: Record) {
        if let Some(store) = &mut self.store {
            store.append(&record);
        }
        self.records.push(record);
    }

    /// Carries out a plan, unless a signal has ended the run; its trials are numbered from `first_number`.
    pub fn carry_out(&mut self, plan: &Plan, first_number: u32) {
        if self.end.is_some_and(|end| end.interrupted_by.is_some()) {
            return;
        }
        let RunRecorder { mechanisms, harness, session, peer, progress, store, records, end } = self;
        let before_ns = end.map_or(0, |end| end.elapsed_ns);
        let mut part = None;
        let run = furlong_bench::run::Run { mechanisms, plan, harness: *harness, session, peer: *peer };
        run.go(&mut |event| match event {
            Event::Record(Record::End(ended)) => part = Some(*ended),
            Event::Record(record) => {
                let mut record = record.clone();
                if let Record::Trial(trial) = &mut record {
                    // Its time was over: what was measured of it before stands.
                    if matches!(trial.outcome, Outcome::Refused(_)) && is_measured(records, &trial.case) {
                        return;
                    }
                    trial.number += first_number;
                    trial.at_ns = trial.at_ns.map(|at_ns| at_ns + before_ns);
                    progress.add(trial);
                }
                if let Some(store) = store {
                    store.append(&record);
                }
                records.push(record);
            }
            Event::Begin { done, total, what } => progress.show(done, total, what),
        });
        progress.clear();
        *end = part.map(|part| End { elapsed_ns: before_ns + part.elapsed_ns, ..part });
    }

    /// Whether the parts so far have a trial of this case with figures.
    pub fn has_measured(&self, case: &Case) -> bool {
        is_measured(&self.records, case)
    }

    /// The run as far as it went.
    ///
    /// # Errors
    /// Records that make no run.
    pub fn so_far(&self) -> anyhow::Result<Run> {
        Ok(Run::from_records(self.records.iter().cloned())?)
    }

    /// Ends the run.
    ///
    /// # Errors
    /// Records that make no run.
    pub fn finish(mut self) -> anyhow::Result<FinishedRun> {
        let end = self.end;
        if let Some(end) = end {
            self.keep(Record::End(end));
        }
        let left = self.session.close();
        let complete = end.is_some_and(|end| end.interrupted_by.is_none());
        if let Some(store) = &mut self.store {
            store.restore(&self.records);
        }
        let run = Run::from_records(self.records)?;
        let saved = match self.store {
            Some(store) if run.is_empty() => {
                store.discard();
                Ok(None)
            }
            store => store.map(|store| store.finish(complete)).transpose(),
        };
        Ok(FinishedRun {
            run,
            interrupted_by: end.and_then(|end| end.interrupted_by),
            saved,
            left: left.err(),
        })
    }
}

fn is_measured(records: &[Record], case: &Case) -> bool {
    let is_one = |record: &Record| matches!(record, Record::Trial(trial) if trial.case == *case && trial.outcome.measurement().is_some());
    records.iter().any(is_one)
}

fn header(plan: &Plan, harness: Harness, machine: Machine, label: Option<String>) -> RunHeader {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunHeader {
        schema: SCHEMA,
        version: env!("FURLONG_VERSION").to_owned(),
        argv: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started_unix_s: since_1970.as_secs(),
        seed: plan.seed,
        trials: plan.trials,
        across: plan.repetitions(),
        budget_ns: plan.budget.as_nanos() as u64,
        warm_up_ns: plan.warm_up.map(|time| time.as_nanos() as u64),
        machine,
        peer: None,
        label,
        harness,
    }
}

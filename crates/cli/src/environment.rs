//! Execution of a plan: its context, progress, records, and the resulting run.

use crate::arguments::{CommonOptions, SavingOptions};
use crate::output;
use crate::progress::{Progress, ProgressKind};
use crate::saving::Store;
use anyhow::Context;
use furlong_analysis::Run;
use furlong_bench::not_measured::InterruptedTrial;
use furlong_bench::peer::Peer;
use furlong_bench::placement::AllowedCpus;
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::run::{Event, harness};
use furlong_bench::session::{self, Session};
use furlong_bench::{ChildProgram, MechanismEntry};
use furlong_console::exit::Usage;
use furlong_model::{
    Case, End, Experiment, Harness, Machine, MessageTrace, Outcome, Record, RunHeader, SCHEMA,
};
use furlong_render::words::count;
use furlong_render::{DEBUG_BUILD_WARNING, plain};
use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The context of every plan, apart from its cases.
pub struct Surroundings {
    /// The maximum time without progress in a trial.
    pub timeout: Duration,
    /// The seed; `None` for a random one.
    pub seed: Option<u64>,
    /// The directory for the files behind file-backed memory.
    pub file_folder: Option<PathBuf>,
    /// The progress that is drawn on stderr, if stderr is a terminal.
    pub shown: ProgressKind,
    /// The other host, if the responders run on one.
    pub peer: Option<Peer>,
}

impl From<&CommonOptions> for Surroundings {
    fn from(options: &CommonOptions) -> Self {
        Surroundings {
            timeout: options.timeout.0,
            seed: options.seed,
            file_folder: options.file_folder.clone(),
            shown: options.into(),
            peer: None,
        }
    }
}

/// The result of a plan.
pub struct FinishedRun {
    /// All records.
    pub run: Run,
    /// The signal that ended the run, if any.
    pub interrupted_by: Option<i32>,
    /// The error if an object of the run could not be removed.
    pub left: Option<std::io::Error>,
    /// The path of the saved run, `None` if it was not to be saved.
    pub saved: anyhow::Result<Option<PathBuf>>,
}

/// The longest measured part of a trial with several pairs that do not all run at the same time in a shorter part.
/// Eight busy-waiting pairs on two CPUs wait for each other's time slices.
const LONGEST_BUDGET: Duration = Duration::from_secs(2);

/// The time of a trial beyond its measured part: processes and warm-up.
pub const TRIAL_OVERHEAD: Duration = Duration::from_millis(60);

/// The longest time of a run that is not announced.
const ANNOUNCED: Duration = Duration::from_secs(60);

/// Warns that figures of a debug build are too large. Some tables contain no facts about their run.
pub fn announce_build() {
    if furlong_os::BUILD == furlong_model::DEBUG_BUILD {
        output::tell(format_args!("furlong: {DEBUG_BUILD_WARNING}"));
    }
}

/// The environment in which plans run: this process, in private namespaces if it may create them.
pub struct RunEnvironment<'a> {
    mechanisms: &'a [MechanismEntry],
    around: Surroundings,
    private_ipc_namespace: bool,
}

impl<'a> RunEnvironment<'a> {
    /// Enters the namespaces. A process must call this only once.
    ///
    /// # Errors
    /// Returns a usage error if the file directory does not exist, or an error if its absolute path cannot be determined.
    pub fn enter(
        mechanisms: &'a [MechanismEntry],
        around: impl Into<Surroundings>,
    ) -> anyhow::Result<RunEnvironment<'a>> {
        announce_build();
        let mut around = around.into();
        // A relative path must mean the same directory in every role.
        around.file_folder = around.file_folder.map(std::path::absolute).transpose()?;
        if let Some(path) = around.file_folder.as_ref().filter(|path| !path.is_dir()) {
            let path = plain(&path.display().to_string());
            return Err(Usage(format!("--file-folder {path}: name a directory that exists")).into());
        }
        let private_ipc_namespace = session::enter_private_namespace().is_ok();
        Ok(RunEnvironment { mechanisms, around, private_ipc_namespace })
    }

    /// Returns a plan with the timeout and the seed of this environment.
    ///
    /// # Errors
    /// Returns an error if no random seed can be drawn.
    pub fn plan(&self, cases: Vec<Case>, trials: u32, budget: Duration) -> anyhow::Result<Plan> {
        let seed = self
            .around
            .seed
            .map_or_else(furlong_os::identity::random, Ok)
            .context("cannot generate a random seed")?;
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

    /// Runs the plan.
    ///
    /// # Errors
    /// Returns what prevented the run from starting, or that its records are not a valid run.
    pub fn perform(&self, plan: &Plan, saving: &SavingOptions) -> anyhow::Result<FinishedRun> {
        let mut recorder = self.begin(plan, saving)?;
        recorder.carry_out(plan, 0);
        recorder.finish()
    }

    /// Runs the plan of an experiment, and records the experiment with it.
    ///
    /// # Errors
    /// Returns the errors of [`perform`](RunEnvironment::perform).
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

    /// Begins a run, whose header describes `plan`. The trials may be measured in several parts, so that each can
    /// depend on the results of the earlier ones.
    ///
    /// # Errors
    /// Returns what prevented the run from starting.
    pub fn begin(&self, plan: &Plan, saving: &SavingOptions) -> anyhow::Result<RunRecorder<'_>> {
        let session = Session::open(session::Options {
            program: ChildProgram::own().context("cannot find furlong's own binary")?,
            file_folder: self.around.file_folder.clone(),
            handle_signals: true,
        })?;
        if let Some(fault) = session.folder_fault() {
            output::tell(format_args!(
                "furlong: the directory for temporary files cannot be used, so benchmarks that need it are rejected: {fault}"
            ));
        }
        if let Err(error) = furlong_os::memory::has_anonymous_objects() {
            let folder = std::env::temp_dir();
            output::tell(format_args!(
                "furlong: {error}: memory shared between supervisor and roles is backed by files in {}",
                folder.display()
            ));
        }
        let harness = harness();
        let machine = Machine {
            host: saving.name.host.clone().or_else(furlong_os::facts::host_name),
            core_choice: session.cpus().ok().and_then(AllowedCpus::core_choice).map(Box::new),
            ..furlong_os::facts::machine(self.private_ipc_namespace)
        };
        let peer = self.around.peer.as_ref();
        let header = RunHeader {
            peer: peer.map(|peer| Box::new(peer.host().clone())),
            ..header(plan, harness, machine, saving.name.label.clone())
        };
        let store = Store::of(saving, &header)?;
        let shown = match self.around.shown {
            ProgressKind::Nothing => ProgressKind::Nothing,
            _ if plan.until_interrupted => ProgressKind::Chart,
            shown => shown,
        };
        self.announce_warm_up(plan);
        self.announce_time(plan);
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
    /// Prints the number of benchmarks and the estimated time of a run of more than a minute, if stderr is not a terminal, which
    /// would show the progress.
    fn announce_time(&self, plan: &Plan) {
        let is_quiet = self.around.shown == ProgressKind::Nothing || stderr().is_terminal();
        let trials = plan.cases.len() as u32 * plan.trials * plan.self_check.map_or(1, |repeats| 2 * repeats);
        let trial = plan.budget + TRIAL_OVERHEAD + plan.warm_up.unwrap_or_default();
        let once = plan.within.unwrap_or(Duration::MAX).min(trial * trials);
        let pauses = plan.across.map_or(Duration::ZERO, |across| across.apart * (across.repetitions - 1));
        let time = once * plan.repetitions() + pauses;
        if time <= ANNOUNCED || is_quiet || plan.until_interrupted {
            return;
        }
        // Trials that a precision adds take no longer than the first ones.
        let has_more = plan.precision.is_some() && plan.within.is_none();
        let minutes = (time.as_secs_f64() / 60.0).ceil();
        let more = if has_more { format!(" to {}", 2.0 * minutes) } else { String::new() };
        let benchmarks = count(plan.cases.len(), "benchmark");
        output::tell(format_args!("furlong: {benchmarks}, estimated time: {minutes}{more} min"));
    }

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
            "furlong: {trials} trials are of programs that compile while they run. Each warms up for 1 to 5 s, about \
             {} s in all; to change the warm-up, use --warm-up.",
            trials * 3 / 2
        ));
    }
}

/// A run in progress.
pub struct RunRecorder<'a> {
    mechanisms: &'a [MechanismEntry],
    harness: Harness,
    session: Session,
    peer: Option<&'a Peer>,
    progress: Progress,
    store: Option<Store>,
    records: Vec<Record>,
    /// The end of the parts so far; it is recorded when the run ends.
    end: Option<End>,
}

impl RunRecorder<'_> {
    /// Adds a record to the run and to its file.
    pub fn keep(&mut self, record: Record) {
        if let Some(store) = &mut self.store {
            store.append(&record);
        }
        self.records.push(record);
    }

    /// Runs a plan, unless a signal has ended the run. Its trials are numbered from `first_number`.
    pub fn carry_out(&mut self, plan: &Plan, first_number: u32) {
        if self.is_interrupted() {
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
                    // The time of a measured case was up, and the earlier trials stay valid.
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

    /// Traces the messages of these cases, unless a signal has ended the run. The plan has the timeouts.
    pub fn trace_messages(&mut self, plan: &Plan, cases: &[Case]) -> Vec<Result<MessageTrace, String>> {
        if self.is_interrupted() {
            return Vec::new();
        }
        let RunRecorder { mechanisms, harness, session, peer, progress, end, .. } = self;
        let run = furlong_bench::run::Run { mechanisms, plan, harness: *harness, session, peer: *peer };
        let traced = run.trace_messages(cases, &mut |event| {
            if let Event::Begin { done, total, what } = event {
                progress.show(done, total, what);
            }
        });
        progress.clear();
        traced.unwrap_or_else(|InterruptedTrial { signal }| {
            end.iter_mut().for_each(|end| end.interrupted_by = Some(signal));
            Vec::new()
        })
    }

    /// Returns whether a signal has ended the run.
    pub fn is_interrupted(&self) -> bool {
        self.end.is_some_and(|end| end.interrupted_by.is_some())
    }

    /// Returns whether the parts so far have a trial of this case with figures.
    pub fn has_measured(&self, case: &Case) -> bool {
        is_measured(&self.records, case)
    }

    /// Returns the run so far.
    ///
    /// # Errors
    /// Returns an error if the records are not a valid run.
    pub fn so_far(&self) -> anyhow::Result<Run> {
        Ok(Run::from_records(self.records.iter().cloned())?)
    }

    /// Ends the run and closes its file.
    ///
    /// # Errors
    /// Returns an error if the records are not a valid run.
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
        find_rate: plan.find_rate,
        across: plan.repetitions(),
        budget_ns: plan.budget.as_nanos() as u64,
        warm_up_ns: plan.warm_up.map(|time| time.as_nanos() as u64),
        machine,
        peer: None,
        label,
        harness,
    }
}

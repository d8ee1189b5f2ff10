//! `furlong` and `furlong run`: measure, save, rank, print.

use crate::arguments::{Format, RunOptions};
use crate::exit::Outcome;
use crate::progress::Progress;
use crate::saving::Store;
use crate::{output, selection};
use anyhow::Context;
use furlong_analysis::{Level, Run, SkippedStatus, Summary, render, summarise};
use furlong_bench::plan::Plan;
use furlong_bench::run::{Event, harness};
use furlong_bench::session::{self, Session};
use furlong_bench::{Driver, registry};
use furlong_model::{Case, Record, RunHeader, SCHEMA};
use std::time::{Duration, SystemTime};

/// Trials of each row of the quick set.
const QUICK_TRIALS: u32 = 15;

/// What to type after the quick set.
const NEXT: &str = "
Next: furlong run 'pipe/*' -s 1 -s 64KiB     other waits and sizes
      furlong run '*/spin'                   what polling buys, and what it costs
      furlong list --why                     every mechanism, its limits here, and what would lift them
      furlong doctor                         is this machine fit to measure?
";

/// Measures the quick set and says what to type next.
pub fn quick() -> anyhow::Result<Outcome> {
    let options = Options {
        trials: QUICK_TRIALS,
        budget: Duration::from_millis(25),
        warm_up: None,
        timeout: Duration::from_secs(10),
        seed: None,
        file_folder: None,
        format: Format::Table,
        save: Save::Dated,
        progress: true,
        require: false,
        strict: false,
    };
    let drivers = registry();
    let outcome = measure(&drivers, selection::quick(&drivers), options)?;
    if outcome == Outcome::Done {
        output::print(NEXT)?;
    }
    Ok(outcome)
}

/// Measures what was asked for.
pub fn run(asked: &RunOptions) -> anyhow::Result<Outcome> {
    let drivers = registry();
    let cases = selection::select(&drivers, asked)?;
    let save = match (&asked.save, asked.no_save) {
        (Some(name), _) => Save::Named(name.clone()),
        (None, false) => Save::Dated,
        (None, true) => Save::Not,
    };
    let options = Options {
        trials: asked.trials,
        budget: asked.budget.0,
        warm_up: asked.warm_up.map(|time| time.0),
        timeout: asked.timeout.0,
        seed: asked.seed,
        file_folder: asked.file_folder.clone(),
        format: asked.format,
        save,
        progress: !asked.no_progress,
        require: asked.require,
        strict: asked.strict,
    };
    measure(&drivers, cases, options)
}

/// Where the records go.
enum Save {
    Named(String),
    Dated,
    Not,
}

/// How to measure, and what to do with it.
struct Options {
    trials: u32,
    budget: Duration,
    warm_up: Option<Duration>,
    timeout: Duration,
    seed: Option<u64>,
    file_folder: Option<std::path::PathBuf>,
    format: Format,
    save: Save,
    progress: bool,
    require: bool,
    strict: bool,
}

fn measure(drivers: &[Driver], cases: Vec<Case>, options: Options) -> anyhow::Result<Outcome> {
    let seed = options.seed.map_or_else(furlong_os::identity::random, Ok).context("cannot draw a seed")?;
    // A folder given by a path from here must mean the same in every role.
    let file_folder = options.file_folder.map(std::path::absolute).transpose()?;
    let private = session::enter_private_namespace().is_ok();
    let session = Session::open(session::Options {
        program: std::env::current_exe().context("cannot find furlong's own binary")?,
        file_folder,
        hear_signals: true,
    })?;
    let plan = Plan {
        cases,
        trials: options.trials,
        budget: options.budget,
        warm_up: options.warm_up,
        patience: options.timeout,
        seed,
    };
    let harness = harness();
    let header = header(&plan, harness, private);
    let mut store = match options.save {
        Save::Named(name) => Some(Store::named(&name)?),
        Save::Dated => Store::dated(&header),
        Save::Not => None,
    };
    let progress = Progress::new(options.progress);
    let mut records = Vec::new();
    let mut keep = |record: Record| {
        if let Some(store) = &mut store {
            store.append(&record);
        }
        records.push(record);
    };
    keep(Record::Run(header));
    let run = furlong_bench::run::Run { drivers, plan: &plan, harness, session: &session };
    let end = run.go(&mut |event| match event {
        Event::Record(record) => keep(record.clone()),
        Event::Begin { done, total, case } => progress.show(done, total, case),
    });
    progress.clear();
    drop(session);

    let summary = summarise(&Run::from_records(records)?);
    output::print(&rendered(&summary, options.format))?;
    let saved = store.map(Store::finish).transpose();
    match &saved {
        Ok(Some(path)) => output::tell(format_args!("saved: {}", path.display())),
        Ok(None) => {}
        Err(error) => output::tell(format_args!("furlong: {error:#}")),
    }
    Ok(match end.interrupted_by {
        Some(signal) => Outcome::Interrupted(signal),
        None if saved.is_err() || has_failed(&summary) => Outcome::Failed,
        None if options.require && !summary.skipped.is_empty() => Outcome::Missing,
        None if options.strict && summary.noise.level != Level::Quiet => Outcome::Unfit,
        None => Outcome::Done,
    })
}

fn has_failed(summary: &Summary) -> bool {
    summary.skipped.iter().any(|skipped| skipped.status == SkippedStatus::Failed)
}

fn rendered(summary: &Summary, format: Format) -> String {
    match format {
        Format::Table => {
            render::table(summary, render::Style { colour: output::colour(), width: output::width() })
        }
        Format::Json => render::json(summary),
        Format::Csv => render::csv(summary),
        Format::Markdown => render::markdown(summary),
    }
}

fn header(plan: &Plan, harness: furlong_model::Harness, private_ipc_namespace: bool) -> RunHeader {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunHeader {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        argv: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started_unix_s: since_1970.as_secs(),
        seed: plan.seed,
        trials: plan.trials,
        budget_ns: plan.budget.as_nanos() as u64,
        machine: furlong_os::facts::machine(private_ipc_namespace),
        harness,
    }
}

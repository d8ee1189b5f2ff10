//! Compares furlong's pipe as an adapter with the built-in pipe. Their trials alternate.
//!
//! This program contains the measuring process, the adapter, and the roles of both.

#[path = "../examples/adapter-pipe.rs"]
mod adapter_pipe;

use adapter_pipe::AdapterPipe;
use furlong_adapter_files::Manifest;
use furlong_bench::plan::Plan;
use furlong_bench::run::{Event, Run, harness};
use furlong_bench::session::{Options, Session};
use furlong_bench::{ChildProgram, MechanismEntry, child_main, registry, requested_child};
use furlong_model::{Case, Outcome, Placement, Record, Wait};
use furlong_stats::{Distribution, are_apart, median, median_interval};
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

const TRIALS: u32 = 40;

/// Largest ratio that is accepted as no overhead.
const MOST: f64 = 1.02;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(control) = requested_child() {
        return Ok(ExitCode::from(child_main(all, control) as u8));
    }
    if std::env::var_os("FURLONG_ADAPTER").is_some() {
        return Ok(adapter_pipe::main());
    }
    let folder = tempfile::tempdir()?;
    let manifest = format!(
        "name = \"adapter-pipe\"\nlicence = \"MIT\"\ncommand = [{:?}]\n[[rows]]\nname = \"adapter-pipe\"\n",
        std::env::current_exe()?
    );
    fs::write(folder.path().join("adapter.toml"), manifest)?;
    let manifest = Manifest::read(folder.path())?;
    let mut mechanisms = registry();
    let session = session()?;
    mechanisms.push(MechanismEntry::from_adapter(&manifest, &manifest.rows[0], &session));
    drop(session);
    for placement in [Placement::SameCore, Placement::OtherCore] {
        let medians =
            ["pipe", "adapter-pipe"].map(|name| Case::round_trip(name, Wait::Block, 128, placement));
        let [built_in, adapter] = medians_ns(&mechanisms, medians)?.map(Figure::of);
        let ratio = adapter.median / built_in.median;
        let holds = if ratio <= MOST {
            "holds"
        } else if !are_apart(built_in.interval, adapter.interval) {
            "a tie"
        } else {
            "MISSED"
        };
        println!(
            "{placement}: pipe {built_in}, as an adapter {adapter}: {ratio:.3}, no more than {MOST}: {holds}"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a session that starts this program as its child processes.
fn session() -> io::Result<Session> {
    Session::open(Options { program: ChildProgram::own()?, file_folder: None, handle_signals: false })
}

/// Returns the mechanisms of the child processes of both.
fn all() -> Vec<MechanismEntry> {
    registry().into_iter().chain([MechanismEntry::of::<AdapterPipe>()]).collect()
}

/// Returns the median of each trial, for each case.
fn medians_ns(mechanisms: &[MechanismEntry], cases: [Case; 2]) -> Result<[Vec<f64>; 2], Box<dyn Error>> {
    let plan = Plan {
        cases: cases.to_vec(),
        trials: TRIALS,
        budget: Duration::from_millis(40),
        timeout: Duration::from_secs(10),
        ..Plan::default()
    };
    let session = session()?;
    let mut medians = [Vec::new(), Vec::new()];
    let mut failed = None;
    Run { mechanisms, plan: &plan, harness: harness(), session: &session, peer: None }.go(&mut |event| {
        let Event::Record(Record::Trial(trial)) = event else { return };
        match &trial.outcome {
            Outcome::Measured(found) => {
                let times = Distribution::decode(&found.histogram).map(|times| times.median_ns());
                let place = usize::from(trial.case.mechanism != cases[0].mechanism);
                medians[place].extend(times.ok());
            }
            other => failed = Some(format!("{}: {other:?}", trial.case)),
        }
    });
    failed.map_or(Ok(medians), |why| Err(why.into()))
}

/// Median of the trials and its confidence interval, in nanoseconds.
struct Figure {
    median: f64,
    interval: Option<[f64; 2]>,
}

impl Figure {
    fn of(trials_ns: Vec<f64>) -> Figure {
        Figure { median: median(&trials_ns).unwrap_or(f64::NAN), interval: median_interval(&trials_ns) }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ns", self.median)?;
        self.interval.map_or(Ok(()), |[low, high]| write!(f, " ({low:.0} to {high:.0})"))
    }
}

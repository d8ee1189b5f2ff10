//! `furlong compare --by` and `--pairs`: compares many runs. Of each run, only the compared figures are kept before
//! the next one is read.

use crate::arguments::{CompareBy, CompareFormat, CompareOptions, FailOn};
use crate::output;
use crate::saved::{self, SavedRun};
use furlong_analysis::{
    Change, FleetBy, FleetComparison, FleetMap, FleetRun, UnusedReason, UnusedRun, compare_and_map_fleet,
};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::Percent;
use furlong_render as render;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Compares the named runs by host, kernel or label.
pub fn compare_many(asked: &CompareOptions, by: CompareBy) -> anyhow::Result<Outcome> {
    check(asked)?;
    if by == CompareBy::Host && !asked.fail_on.is_empty() {
        return Err(Usage("--fail-on needs a baseline: use --by kernel or --by label".to_owned()).into());
    }
    let (found, _) = compared(&asked.runs, by, asked.margin)?;
    conclude(&found, asked)
}

/// Compares runs of one host that were measured alternately.
pub fn compare_pairs(asked: &CompareOptions) -> anyhow::Result<Outcome> {
    check(asked)?;
    let files = saved::find(&asked.runs)?;
    if files.len() < 2 || files.len() % 2 == 1 {
        let reason =
            "--pairs needs an even number of runs, in the order in which they were measured: A1 B1 A2 B2";
        return Err(Usage(format!("{reason}; got {}", files.len())).into());
    }
    let side = |turn: usize| {
        let names = files.iter().skip(turn).step_by(2).map(|file| file.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let sides = [side(0), side(1)];
    let mut read: Vec<FleetRun> = Vec::new();
    for file in &files {
        let run = FleetRun::of(&file.name, &file.read()?)
            .map_err(|_| Usage(format!("run {} has no benchmark to compare", file.name)))?;
        let is_copy =
            |other: &&FleetRun| (other.started_unix_s, &other.rows) == (run.started_unix_s, &run.rows);
        if let Some(other) = read.iter().find(is_copy) {
            let reason =
                format!("--pairs needs different runs, but {} and {} are the same run", other.name, run.name);
            return Err(Usage(reason).into());
        }
        read.push(run);
    }
    // Groups are in the order of their runs.
    let labelled = |(turn, run): (usize, FleetRun)| FleetRun {
        label: Some(sides[turn % 2].clone()),
        started_unix_s: turn as u64,
        ..run
    };
    let runs: Vec<FleetRun> = read.into_iter().enumerate().map(labelled).collect();
    if let Some(other) = runs.iter().find(|run| run.host != runs[0].host) {
        let hosts = format!("{} and {}", render::plain(&runs[0].host), render::plain(&other.host));
        let reason = format!("--pairs compares runs of one host, but these are from {hosts}; use --by label");
        return Err(Usage(reason).into());
    }
    let (found, _) = compare_and_map_fleet(runs, Vec::new(), FleetBy::Pairs, asked.margin.share());
    conclude(&found, asked)
}

/// Rejects options that only a comparison of two runs supports.
fn check(asked: &CompareOptions) -> Result<(), Usage> {
    if asked.format == CompareFormat::Junit {
        return Err(Usage("--format junit compares two runs; omit --by and --pairs".to_owned()));
    }
    if asked.fail_on.contains(&FailOn::MoreCalls) {
        return Err(Usage("--fail-on more-calls compares two runs; omit --by and --pairs".to_owned()));
    }
    Ok(())
}

/// Prints a comparison, and returns the outcome that `--fail-on` demands.
fn conclude(found: &FleetComparison, asked: &CompareOptions) -> anyhow::Result<Outcome> {
    output::print(&rendered(found, asked.format))?;
    let has = |verdict: Change| found.changes.iter().any(|row| row.verdict == verdict);
    let none_judged = found.changes.iter().all(|row| row.verdict == Change::Inconclusive);
    Ok(match outcome(found) {
        Outcome::Done if asked.fail_on.contains(&FailOn::Regression) && has(Change::Worse) => {
            Outcome::Regressed
        }
        Outcome::Done if !asked.fail_on.is_empty() && none_judged && !asked.allow_inconclusive => {
            Outcome::Inconclusive
        }
        Outcome::Done if asked.fail_on.contains(&FailOn::Inconclusive) && has(Change::Inconclusive) => {
            Outcome::Inconclusive
        }
        other => other,
    })
}

/// Returns the outcome of a verb that has shown this comparison.
pub(crate) fn outcome(found: &FleetComparison) -> Outcome {
    if found.rows.is_empty() { Outcome::Incomparable } else { Outcome::Done }
}

/// Returns the comparison of the named runs, and the figures of each host.
pub(crate) fn compared(
    runs: &[String],
    by: CompareBy,
    margin: Percent,
) -> anyhow::Result<(FleetComparison, FleetMap)> {
    let by = match by {
        CompareBy::Host => FleetBy::Host,
        CompareBy::Kernel => FleetBy::Kernel,
        CompareBy::Label => FleetBy::Label,
    };
    let (runs, unused) = read(&saved::find_below(runs)?);
    Ok(compare_and_map_fleet(runs, unused, by, margin.share()))
}

/// Reads the figures of each run, and the reasons why others cannot be used, with one thread per CPU.
fn read(files: &[SavedRun]) -> (Vec<FleetRun>, Vec<UnusedRun>) {
    let next = AtomicUsize::new(0);
    let take = || {
        let (mut runs, mut unused) = (Vec::new(), Vec::new());
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            match kept(file) {
                Ok(run) => runs.push(run),
                Err(reason) => unused.push(UnusedRun { run: file.name.clone(), reason }),
            }
        }
        (runs, unused)
    };
    let readers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        // If no more threads can be started, for example at RLIMIT_NPROC, the existing readers read all files.
        let others = (1..readers).map_while(|_| thread::Builder::new().spawn_scoped(scope, take).ok());
        let others: Vec<_> = others.collect();
        let mut all = take();
        for other in others {
            let (runs, unused) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.0.extend(runs);
            all.1.extend(unused);
        }
        all
    })
}

fn kept(file: &SavedRun) -> Result<FleetRun, UnusedReason> {
    let unreadable = |error: String| UnusedReason::Unreadable { error };
    // Opening a pipe would block until its writer closes it. For a directory, opening it reports the reason.
    if std::fs::metadata(file.file()).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    let run = file.records().map_err(|error| unreadable(error.to_string()))?;
    FleetRun::of(&file.name, &run)
}

fn rendered(found: &FleetComparison, format: CompareFormat) -> String {
    match format {
        CompareFormat::Table | CompareFormat::Junit => render::fleet_table(found, output::style()),
        CompareFormat::Json => render::fleet_json(found),
        CompareFormat::Csv => render::fleet_csv(found),
        CompareFormat::Markdown => render::fleet_markdown(found),
    }
}

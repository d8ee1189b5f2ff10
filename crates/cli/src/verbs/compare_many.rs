//! `furlong compare --by`: runs of many hosts. Each is read, what is compared of it is kept, and the next one is read.

use crate::arguments::{CompareBy, CompareFormat, CompareOptions};
use crate::output;
use crate::saved::{self, SavedRun};
use furlong_analysis::{
    FleetBy, FleetComparison, FleetMap, FleetRun, Unused, UnusedRun, compare_and_map_fleet,
};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::Percent;
use furlong_render as render;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compares what was asked for.
pub fn compare_many(asked: &CompareOptions, by: CompareBy) -> anyhow::Result<Outcome> {
    if asked.format == CompareFormat::Junit {
        return Err(Usage("--format junit is for two runs: leave --by out".to_owned()).into());
    }
    let (found, _) = compared(&asked.runs, by, asked.margin)?;
    output::print(&rendered(&found, asked.format))?;
    Ok(outcome(&found))
}

/// How a verb ends that has shown this.
pub(crate) fn outcome(found: &FleetComparison) -> Outcome {
    if found.rows.is_empty() { Outcome::Incomparable } else { Outcome::Done }
}

/// The runs that these words name, compared, and all that each host has.
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

/// What is kept of each run, and what cannot be used; one run at a time on each processor.
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
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..readers).map(|_| scope.spawn(take)).collect();
        let mut all = take();
        for other in others {
            let (runs, unused) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.0.extend(runs);
            all.1.extend(unused);
        }
        all
    })
}

fn kept(file: &SavedRun) -> Result<FleetRun, Unused> {
    let unreadable = |error: String| Unused::Unreadable { error };
    // A pipe would be waited for as long as somebody holds it open.
    if !std::fs::metadata(file.file()).is_ok_and(|found| found.is_file()) {
        return Err(unreadable("there is no such file".to_owned()));
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

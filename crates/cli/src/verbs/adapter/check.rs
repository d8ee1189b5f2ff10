//! `furlong adapter check`: tries every capability that an adapter claims.

use crate::arguments::AdapterCheckOptions;
use crate::mechanisms::{adapters_folder, entries, rows_of};
use crate::output;
use furlong_adapter_files::manifest::{self, Manifest};
use furlong_analysis::broken_record;
use furlong_analysis::text::versions;
use furlong_bench::adapter::{Adapter, EarlyEnd, end_early};
use furlong_bench::not_measured::NotMeasured;
use furlong_bench::plan::Plan;
use furlong_bench::run::{Event, Run, harness};
use furlong_bench::session::{self, Session};
use furlong_bench::{ChildProgram, MechanismEntry};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{
    Arrival, Case, ConditionKind, Outcome as TrialOutcome, Pattern, Placement, Record, Wait, format_bytes,
};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// The message sizes of round trips: smaller than a stamp, as large as its parts, and larger than buffers.
const SIZES: [usize; 9] = [1, 2, 7, 8, 16, 17, 128, 64 << 10, 1 << 20];

/// The message sizes of the other patterns.
const FEWER_SIZES: [usize; 3] = [1, 128, 64 << 10];

/// The number of responders for rows that claim to send to several.
const RESPONDERS: NonZeroU32 = NonZeroU32::new(3).unwrap();

/// The message sizes of patterns in which several processes share an end. The smallest has room for the number of the
/// process.
const SIZES_OF_WORK: [usize; 3] = [8, 128, 64 << 10];

/// A fixed interval between messages, for rows that claim to support one.
const RATE: Arrival = Arrival::Interval(500_000);

/// Random intervals between messages, for rows that claim to follow a schedule.
const RANDOM: Arrival = Arrival::Poisson(500_000);

/// Tries all rows of an adapter, and prints each failure.
pub fn check(options: &AdapterCheckOptions) -> anyhow::Result<Outcome> {
    let manifest = find(&options.adapter)?;
    let rows: Vec<_> = rows_of(manifest.clone()).collect();
    let entries = entries(&rows)?;
    let _ = session::enter_private_namespace();
    let session = Session::open(session::Options {
        program: ChildProgram::own()?,
        file_folder: None,
        handle_signals: true,
    })?;
    let mut failed = 0;
    for entry in &entries {
        let Some(adapter) = entry.adapter() else { continue };
        let name = entry.capabilities.name;
        if let Err(why) = entry.probe() {
            failed += 1;
            let remedy = if why.remedy.is_empty() { String::new() } else { format!("; {}", why.remedy) };
            output::print(&format!("{name}: cannot run: {why}{remedy}\n"))?;
            continue;
        }
        output::print(&format!(
            "{name}: {} ({})\n",
            entry.capabilities.summary,
            versions(&adapter.versions)
        ))?;
        let mut tried = 0;
        let faults = [
            exchanges(entry, adapter, &session, &mut tried),
            early_ends(entry, adapter, &session, &mut tried),
        ]
        .concat();
        for fault in &faults {
            output::print(&format!("  failed: {fault}\n"))?;
        }
        if let Some(signal) = session.shutdown_request() {
            return Err(furlong_console::exit::Interruption::unmeasured(signal).into());
        }
        output::print(&format!("  {} of {tried} passed\n", tried - faults.len()))?;
        failed += usize::from(!faults.is_empty());
    }
    Ok(if failed == 0 { Outcome::Done } else { Outcome::Failed })
}

/// Returns the adapter in a directory, or the installed adapter with this name.
fn find(asked: &PathBuf) -> anyhow::Result<Manifest> {
    // A directory with that name, for example `python` or `boost`, need not contain an adapter.
    let is_adapter = asked.is_file() || asked.join(manifest::FILE).exists();
    let by_name = adapters_folder().map(|folder| folder.join(asked)).filter(|folder| folder.is_dir());
    let folder = by_name.filter(|_| !is_adapter);
    Manifest::read(folder.as_ref().unwrap_or(asked)).map_err(|error| Usage(error.to_string()).into())
}

/// Tries every claimed wait strategy, pattern and size. Returns the failures.
fn exchanges(entry: &MechanismEntry, adapter: &Adapter, session: &Session, tried: &mut usize) -> Vec<String> {
    let plan = Plan {
        cases: cases(entry, adapter),
        trials: 1,
        budget: Duration::from_millis(5),
        warm_up: Some(Duration::from_millis(1)),
        timeout: Duration::from_secs(10),
        ..Plan::default()
    };
    *tried += plan.cases.len();
    let mut faults = Vec::new();
    let mechanisms = [*entry];
    let run = Run { mechanisms: &mechanisms, plan: &plan, harness: harness(), session, peer: None };
    run.go(&mut |event| {
        if let Event::Record(Record::Trial(trial)) = event {
            let why = match &trial.outcome {
                TrialOutcome::Measured(measured) => match broken_record(&trial.case, measured) {
                    None => return,
                    Some(why) => why,
                },
                TrialOutcome::Failed(failure) => failure.to_string(),
                TrialOutcome::Refused(why) | TrialOutcome::Unavailable(why) => why.to_string(),
            };
            faults.push(format!("{}: {why}", trial.case));
        }
    });
    faults
}

/// Returns the cases to try for a row.
fn cases(entry: &MechanismEntry, adapter: &Adapter) -> Vec<Case> {
    let most = entry.probe().ok().and_then(|limits| limits.max_size_bytes).unwrap_or(usize::MAX);
    let mut cases = Vec::new();
    for &wait in entry.capabilities.waits {
        for &pattern in &adapter.patterns {
            let sizes = match pattern {
                pattern if pattern.is_default() => &SIZES[..],
                pattern if pattern.shares_an_end() => &SIZES_OF_WORK,
                _ => &FEWER_SIZES,
            };
            let largest = most.min(SIZES[SIZES.len() - 1]);
            let sizes = sizes.iter().copied().filter(|size| *size < largest);
            let largest = pattern.is_default().then_some(largest);
            cases.extend(sizes.chain(largest).map(|size| case(entry, wait, pattern, size)));
            let due = Case { arrival: RATE, ..case(entry, wait, pattern, 128) };
            let mixed =
                mixed(Case { arrival: RANDOM, ..due.clone() }).filter(|case| adapter.follows_schedules(case));
            cases.extend((adapter.rates && !pattern.shares_an_end()).then_some(due).into_iter().chain(mixed));
        }
    }
    cases
}

/// Returns a case with messages of its size and of a smaller one.
fn mixed(case: Case) -> Option<Case> {
    let mix = format!("16:3,{}:1", case.size_bytes);
    let mix = ConditionKind::find("sizes").and_then(|kind| kind.read(&mix).ok())?;
    Some(Case { conditions: case.conditions.with(mix), ..case })
}

fn case(entry: &MechanismEntry, wait: Wait, pattern: Pattern, size_bytes: usize) -> Case {
    let parties = if pattern.is_to_several() { RESPONDERS } else { NonZeroU32::MIN };
    let case = Case::round_trip(entry.capabilities.name, wait, size_bytes, Placement::Free);
    case.with_pattern(pattern).with_parties(parties)
}

/// Checks that the adapter's programs exit on their own when a run is ended early, and that they leave nothing.
/// Returns the failures.
fn early_ends(
    entry: &MechanismEntry,
    adapter: &Adapter,
    session: &Session,
    tried: &mut usize,
) -> Vec<String> {
    let pattern = adapter.patterns[0];
    let case = case(entry, entry.capabilities.waits[0], pattern, 128);
    let mut faults = Vec::new();
    for (how, what) in [(EarlyEnd::EndOfRequests, "end of requests"), (EarlyEnd::Terminate, "SIGTERM")] {
        *tried += 1;
        let why = match end_early(adapter, &case, session, how) {
            Ok(()) | Err(NotMeasured::Interrupted(_)) => continue,
            Err(NotMeasured::Failed(failure) | NotMeasured::Disturbed(failure)) => failure.to_string(),
            Err(NotMeasured::Refused(why) | NotMeasured::Unavailable(why)) => why.to_string(),
        };
        faults.push(format!("{what} ({}): {why}", format_bytes(case.size_bytes)));
    }
    faults
}

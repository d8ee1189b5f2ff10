//! Experiments on the command line: the published ones and files of the user, and their plans.

use crate::arguments::ReplayOptions;
use crate::environment::RunEnvironment;
use crate::mechanisms::with_installed;
use crate::nearest::nearest;
use furlong_analysis::{published, read_experiment};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, role_boundary};
use furlong_console::exit::Usage;
use furlong_model::{Case, ExchangeWork, Experiment, ExperimentRow, Handover, RowTarget, Target, Work};
use furlong_os::file_system::read_text;
use furlong_stats::distinct;
use std::time::Duration;

/// The maximum size of an experiment file in bytes.
const LONGEST: u64 = 1 << 20;

/// Returns the requested experiments.
///
/// # Errors
/// Returns a usage error if a name is unknown, or if a file cannot be read or is not a valid experiment.
pub fn requested(asked: &ReplayOptions) -> anyhow::Result<Vec<Experiment>> {
    let read = |text: &str, file: &str| {
        read_experiment(text, file).map_err(|error| anyhow::Error::from(Usage(error.to_string())))
    };
    let ours = |(name, text): &(&str, &str)| read(text, &format!("{name}.toml"));
    if asked.experiments.is_empty() {
        return published().iter().map(ours).collect();
    }
    let named = |wanted: &String| {
        if let Some(found) = published().iter().find(|(name, _)| name == wanted) {
            return ours(found);
        }
        if !wanted.contains('/') && !wanted.ends_with(".toml") {
            let names = published().iter().map(|(name, _)| (*name).to_owned());
            let meant = nearest(wanted, names).map(|name| format!(": did you mean {name}?"));
            let reason = format!(
                "unknown experiment '{wanted}'{} furlong replay --list prints all names, and a file needs a path, for example ./mine.toml",
                meant.as_deref().unwrap_or(";")
            );
            return Err(Usage(reason).into());
        }
        let text = read_text(wanted.as_ref(), LONGEST)
            .map_err(|error| Usage(format!("cannot read {wanted}: {error}")))?;
        read(&text, wanted)
    };
    asked.experiments.iter().map(named).collect()
}

/// Returns the benchmarks that exchange messages.
fn rows(experiments: &[Experiment]) -> impl Iterator<Item = &RowTarget> {
    experiments.iter().flat_map(|experiment| &experiment.rows).filter_map(|row| match &row.target {
        Some(Target::Row(row)) => Some(row),
        _ => None,
    })
}

/// Returns furlong's mechanisms, and the installed adapters that the experiments use. Creates the namespaces that boundaries between
/// the processes of benchmarks need, which a process can do only before it starts its first thread.
///
/// # Errors
/// Returns an error if an installed adapter cannot be read.
pub fn mechanisms(experiments: &[Experiment]) -> anyhow::Result<Vec<MechanismEntry>> {
    let mechanisms = with_installed(|name| rows(experiments).any(|row| row.mechanism == name))?;
    check_names(experiments, &mechanisms)?;
    role_boundary::prepare(rows(experiments).map(|row| &row.conditions));
    Ok(mechanisms)
}

/// Rejects names of mechanisms that are probably mistyped. An unknown name may be of another system or of a later version.
///
/// On Windows it accepts all names: `unix-dgram`, which Windows lacks, resembles `unix-stream`.
fn check_names(experiments: &[Experiment], mechanisms: &[MechanismEntry]) -> Result<(), Usage> {
    if cfg!(windows) {
        return Ok(());
    }
    let names = || mechanisms.iter().map(|entry| entry.capabilities.name.to_owned());
    for experiment in experiments {
        for line in experiment.rows.iter().filter(|line| line.missing.is_none()) {
            let Some(Target::Row(RowTarget { mechanism, .. })) = &line.target else { continue };
            if !names().any(|name| name == *mechanism)
                && let Some(meant) = nearest(mechanism, names())
            {
                let Experiment { name, .. } = experiment;
                let text = format!(
                    "experiment {name}, row of {}: no mechanism is called '{mechanism}': did you mean {meant}?",
                    line.name
                );
                return Err(Usage(text));
            }
        }
    }
    Ok(())
}

/// Returns the plan of an experiment. A row that this furlong does not have, and for which the experiment gives a
/// reason, is left out. If the experiment gives none, as for a mistyped name, the run reports the row.
pub fn plan(
    environment: &RunEnvironment,
    mechanisms: &[MechanismEntry],
    experiment: &Experiment,
) -> anyhow::Result<Plan> {
    let measure = &experiment.measure;
    let mut cases: Vec<Case> = Vec::new();
    for line in &experiment.rows {
        let Some(Target::Row(row)) = &line.target else { continue };
        let entry = find(mechanisms, &row.mechanism, row.wait);
        if entry.is_some() || line.missing.is_none() {
            for &size_bytes in &measure.sizes_bytes {
                // The message of a notification has a fixed size.
                let own_bytes = entry.and_then(|entry| entry.capabilities.fixed_size_bytes);
                let size_bytes = own_bytes.unwrap_or(size_bytes);
                let case = measure.case(row, size_bytes);
                cases.extend(case.filter(|case| !cases.contains(case)));
            }
        }
    }
    let backing = |row: &ExperimentRow| match row.target {
        Some(Target::Backing(backing)) => Some(backing),
        _ => None,
    };
    let backings = experiment.rows.iter().filter_map(backing);
    let handovers: Vec<Handover> = backings
        .flat_map(|backing| {
            measure.sizes_bytes.iter().filter_map(move |size| measure.handover(backing, *size))
        })
        .collect();
    let starts = distinct(experiment.starts.iter().filter_map(|start| start.method));
    let meanings = experiment.meanings.iter().filter_map(|claim| experiment.meaning_probe(claim));
    let meanings = distinct(meanings);
    let amount = match &measure.work {
        Work::Exchange(exchange) => exchange.trial_amount(),
        Work::Handover { .. } => None,
    };
    let budget = if amount.is_some() { Duration::ZERO } else { ExchangeWork::TRIAL_WITHOUT_AMOUNT };
    // The published figures include the system calls of a bulk transfer. For an exchange, `furlong count` counts
    // them.
    let count = !handovers.is_empty();
    Ok(Plan {
        handovers,
        starts,
        meanings,
        amount,
        count,
        child: measure.child,
        ..environment.plan(cases, measure.trials, budget)?
    })
}

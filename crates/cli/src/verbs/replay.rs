//! `furlong replay`: repeats a published comparison, and prints the old and the new figures.

use crate::arguments::{Format, ReplayOptions, ReplayStyle, SavingOptions};
use crate::conclusion::{Demands, Results};
use crate::environment::RunEnvironment;
use crate::mechanisms::with_installed;
use crate::nearest::nearest;
use crate::output;
use furlong_analysis::{DecodedRun, Replay, published, read_experiment};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, role_boundary};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{
    Amount, Case, ChildStart, ExchangeWork, Experiment, ExperimentRow, Handover, Target, Work,
};
use furlong_os::file_system::read_text;
use furlong_render as render;
use furlong_stats::distinct;
use std::time::Duration;

/// The maximum size of an experiment file in bytes.
const LONGEST: u64 = 1 << 20;

/// Replays the requested experiments in turn, and prints each as soon as it ends.
pub fn replay(asked: &ReplayOptions) -> anyhow::Result<Outcome> {
    if asked.atlas {
        return super::atlas::atlas(asked);
    }
    let experiments = experiments(asked)?;
    if asked.list {
        let style = output::style();
        output::print(&if asked.experiments.is_empty() {
            render::experiment_list(&experiments, style)
        } else {
            render::experiments(&experiments, style)
        })?;
        return Ok(Outcome::Done);
    }
    if asked.style == ReplayStyle::Racehorse && asked.format != Format::Table {
        return Err(Usage("--style racehorse requires --format table".to_owned()).into());
    }
    asked.chart.check(asked.style != ReplayStyle::Furlong || asked.format != Format::Table)?;
    let changed: Vec<Experiment> =
        experiments.into_iter().map(|experiment| change(experiment, asked)).collect::<anyhow::Result<_>>()?;
    let rows =
        || changed.iter().flat_map(|experiment| &experiment.rows).filter_map(|row| row.target.as_ref());
    let mechanisms = with_installed(|name| {
        rows().any(|target| matches!(target, Target::Row(row) if row.mechanism == name))
    })?;
    prepare_boundaries(&changed);
    let environment = RunEnvironment::enter(&mechanisms, &asked.common)?;
    let saving = SavingOptions { no_save: asked.no_save, ..SavingOptions::default() };
    let mut outcome = Outcome::Done;
    let (mut replays, mut all) = (Vec::new(), Results::default());
    for experiment in &changed {
        let plan = plan(&environment, &mechanisms, experiment)?;
        let finished = environment.repeat(experiment, &plan, &saving)?;
        let Some(replay) = furlong_analysis::replay(&DecodedRun::of(&finished.run)) else { continue };
        if let Some(text) = at_once(&replay, asked) {
            output::print(&if replays.is_empty() { text } else { format!("\n{text}") })?;
        }
        let results = Results::from_replay(&replay);
        let strict = asked.strict.then_some(replay.run.noise.level);
        outcome = outcome.worse(finished.conclude_part(&results, Demands { require: asked.require, strict }));
        all = all.and(results);
        replays.push(replay);
        if matches!(outcome, Outcome::Interrupted(_)) {
            break;
        }
    }
    match asked.format {
        Format::Json => output::print(&render::replay_json(&replays))?,
        Format::Csv => output::print(&render::replay_csv(&replays))?,
        Format::Table | Format::Markdown => {}
    }
    Ok(all.conclude(outcome))
}

/// Creates the namespaces that boundaries between the processes of benchmarks need. A process can do so only before it starts its
/// first thread.
pub fn prepare_boundaries(experiments: &[Experiment]) {
    let targets =
        experiments.iter().flat_map(|experiment| &experiment.rows).filter_map(|row| row.target.as_ref());
    role_boundary::prepare(targets.filter_map(|target| match target {
        Target::Row(row) => Some(&row.conditions),
        Target::Backing(_) => None,
    }));
}

/// Returns the requested experiments.
///
/// # Errors
/// Returns a usage error if a name is unknown, or if a file cannot be read or is not a valid experiment.
pub fn experiments(asked: &ReplayOptions) -> anyhow::Result<Vec<Experiment>> {
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

/// Returns the experiment with the changes of the options, which are recorded with the run.
///
/// # Errors
/// Returns a usage error if an option has no meaning for this experiment.
pub fn change(mut experiment: Experiment, asked: &ReplayOptions) -> anyhow::Result<Experiment> {
    let name = experiment.name.clone();
    let has_subsystems = experiment.has_subsystems();
    let measure = &mut experiment.measure;
    measure.trials = asked.trials.unwrap_or(measure.trials);
    measure.place = asked.place.unwrap_or(measure.place);
    // With `--all`, an option that has no meaning for an experiment is ignored for it.
    let means_nothing = |option: &str, why: &str| {
        if asked.all { Ok(()) } else { Err(Usage(format!("{option}: {name} {why}"))) }
    };
    match (&mut measure.work, asked.total) {
        (Work::Exchange(exchange), Some(total)) if matches!(exchange.count, Amount::Bytes(_)) => {
            exchange.per_trial = Amount::Bytes(total.0 as u64);
        }
        (_, Some(_)) => means_nothing("--total", "has no total number of bytes")?,
        (_, None) => {}
    }
    match (&mut measure.work, asked.touch) {
        (Work::Handover { touch, .. }, Some(wanted)) => *touch = wanted,
        (_, Some(_)) => means_nothing("--touch", "has no bulk transfer")?,
        (_, None) => {}
    }
    let child = ChildStart {
        console: asked.console_mode.unwrap_or(measure.child.console),
        fresh_copy: asked.fresh_copy,
    };
    for (asked, option) in
        [(asked.console_mode.is_some(), "--console-mode"), (asked.fresh_copy, "--fresh-copy")]
    {
        if asked && !has_subsystems {
            means_nothing(option, "starts no subsystem program here (Windows only)")?;
        }
    }
    measure.child = child;
    Ok(experiment)
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
        amount,
        count,
        child: measure.child,
        ..environment.plan(cases, measure.trials, budget)?
    })
}

/// Returns the text to print when a replay ends; `None` in the formats that print all replays as one text.
fn at_once(replay: &Replay, asked: &ReplayOptions) -> Option<String> {
    match (asked.format, asked.style) {
        (Format::Table, ReplayStyle::Furlong) => Some(render::replay_table(replay, asked.chart.style())),
        (Format::Table, ReplayStyle::Racehorse) => Some(render::replay_racehorse(replay)),
        (Format::Markdown, _) => Some(render::replay_markdown(replay)),
        (Format::Json | Format::Csv, _) => None,
    }
}

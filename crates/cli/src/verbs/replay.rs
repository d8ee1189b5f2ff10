//! `furlong replay`: repeats a published comparison, and prints the old and the new figures.

use crate::arguments::{Format, ReplayOptions, ReplayStyle, SavingOptions};
use crate::conclusion::{Demands, Results};
use crate::environment::RunEnvironment;
use crate::experiments::{mechanisms, plan, requested};
use crate::output;
use furlong_analysis::{DecodedRun, Replay};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Amount, ChildStart, Experiment, Work};
use furlong_render as render;

/// Replays the requested experiments in turn, and prints each as soon as it ends.
pub fn replay(asked: &ReplayOptions) -> anyhow::Result<Outcome> {
    if asked.atlas {
        return super::atlas::atlas(asked);
    }
    let experiments = requested(asked)?;
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
    let mechanisms = mechanisms(&changed)?;
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

/// Returns the text to print when a replay ends; `None` in the formats that print all replays as one text.
fn at_once(replay: &Replay, asked: &ReplayOptions) -> Option<String> {
    match (asked.format, asked.style) {
        (Format::Table, ReplayStyle::Furlong) => Some(render::replay_table(replay, asked.chart.style())),
        (Format::Table, ReplayStyle::Racehorse) => Some(render::replay_racehorse(replay)),
        (Format::Markdown, _) => Some(render::replay_markdown(replay)),
        (Format::Json | Format::Csv, _) => None,
    }
}

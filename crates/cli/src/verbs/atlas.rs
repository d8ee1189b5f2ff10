//! `furlong replay --atlas`: repeats published comparisons in several settings, and explains their contradictions.

use crate::arguments::{Format, ReplayOptions, SavingOptions};
use crate::delivery::check_file;
use crate::environment::RunEnvironment;
use crate::experiments::{mechanisms, plan, requested};
use crate::output;
use crate::saved;
use crate::selection::rows;
use anyhow::Context;
use furlong_analysis::{Atlas, DecodedRun, MeasuredSetting, Setting, atlas as computed, estimate};
use furlong_bench::MechanismEntry;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing;
use furlong_model::{Experiment, Wait, WaitKind};
use furlong_render::{self as render, plain};
use furlong_report::atlas_page;
use furlong_stats::sort_by_key;
use std::time::{Duration, Instant};

/// The default time of all replays together.
const WITHIN: Duration = Duration::from_secs(300);

/// Replays the experiments in all settings that were not replayed yet, until the time is over, and prints the atlas.
///
/// # Errors
/// Returns an error if an experiment cannot be read, or if a run cannot start.
pub fn atlas(asked: &ReplayOptions) -> anyhow::Result<Outcome> {
    if asked.format == Format::Csv {
        return Err(
            Usage("--atlas has no CSV format: use --format json, markdown or table".to_owned()).into()
        );
    }
    if let Some(path) = &asked.output {
        check_file(path, "atlas.html")?;
        if path.extension().is_none_or(|extension| extension != "html" && extension != "htm") {
            return Err(Usage(format!(
                "-o {}: the atlas is written as an HTML page: specify a file that ends in .html",
                plain(&path.to_string_lossy())
            ))
            .into());
        }
    }
    let published = requested(asked)?;
    let mechanisms = mechanisms(&published)?;
    let mut wanted = settings(&published, &mechanisms);
    let mut measured = take_saved(&mut wanted)?;
    let environment = RunEnvironment::enter(&mechanisms, &asked.common)?;
    let (begin, within) = (Instant::now(), asked.within.map_or(WITHIN, |within| within.0));
    let (mut outcome, mut missing) = (Outcome::Done, 0);
    for (setting, experiment) in wanted {
        if matches!(outcome, Outcome::Interrupted(_)) || begin.elapsed() + estimate(&experiment) > within {
            missing += 1;
            continue;
        }
        let plan = plan(&environment, &mechanisms, &experiment)?;
        let finished = environment.repeat(&experiment, &plan, &SavingOptions::default())?;
        if let Some(signal) = finished.interrupted_by {
            outcome = Outcome::Interrupted(signal);
            missing += 1;
            continue;
        }
        let replay = furlong_analysis::replay(&DecodedRun::of(&finished.run));
        measured.extend(replay.map(|replay| MeasuredSetting { setting, replay }));
    }
    let place = |name: &str| published.iter().position(|experiment| experiment.name == name);
    sort_by_key(&mut measured, |replayed| (place(&replayed.replay.experiment), replayed.setting));
    let atlas = computed(&measured, missing);
    match &asked.output {
        Some(path) => {
            let page = atlas_page(&atlas).context("cannot generate the page")?;
            writing::replace(path, page.as_bytes())?;
            output::tell(format_args!("atlas written to {}", plain(&path.to_string_lossy())));
        }
        None => print(&atlas, asked.format)?,
    }
    Ok(outcome)
}

/// Returns every experiment in every setting that means something to it: first all as published, then all in the next setting.
fn settings(published: &[Experiment], mechanisms: &[MechanismEntry]) -> Vec<(Setting, Experiment)> {
    let wait = |mechanism: &str, kind: WaitKind| -> Option<Wait> {
        let of_mechanism = rows(mechanisms).filter(|(capabilities, _)| capabilities.name == mechanism);
        of_mechanism.map(|(_, wait)| wait).find(|wait| wait.kind() == kind)
    };
    let in_setting = |setting: Setting| {
        published.iter().filter_map(move |experiment| Some((setting, setting.apply(experiment, wait)?)))
    };
    Setting::ALL.into_iter().flat_map(in_setting).collect()
}

/// Takes the experiments that saved runs have replayed from `wanted`, and returns their newest replays.
fn take_saved(wanted: &mut Vec<(Setting, Experiment)>) -> anyhow::Result<Vec<MeasuredSetting>> {
    let mut measured = Vec::new();
    for run in saved::all()?.runs.iter().rev() {
        let Ok(records) = run.records() else { continue };
        let same = |(_, wanted): &(Setting, Experiment)| records.experiment.as_ref() == Some(wanted);
        let Some(at) = wanted.iter().position(same) else { continue };
        let replay = furlong_analysis::replay(&DecodedRun::of(&records)).filter(|replay| !replay.run.partial);
        if let Some(replay) = replay {
            let (setting, _) = wanted.remove(at);
            measured.push(MeasuredSetting { setting, replay });
        }
    }
    Ok(measured)
}

fn print(atlas: &Atlas, format: Format) -> anyhow::Result<()> {
    output::print(&match format {
        Format::Json => render::atlas_json(atlas),
        Format::Markdown => render::atlas_markdown(atlas),
        Format::Table | Format::Csv => render::atlas_table(atlas, output::style()),
    })
}

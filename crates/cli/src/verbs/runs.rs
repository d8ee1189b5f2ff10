//! `furlong runs`: lists, shows, removes and renames saved runs, without measuring.

use crate::arguments::{ListFormat, RunsOptions, RunsVerb};
use crate::saved::{SavedRun, SavedRuns};
use crate::{output, saved, saving};
use anyhow::Context;
use furlong_analysis::DecodedRun;
use furlong_console::exit::{Outcome, Usage};
use furlong_render::{ListedRun, plain, runs_json, runs_table, saved_run_table};
use furlong_stats::sort_by;
use std::fs;

/// Performs the requested action on saved runs.
pub fn runs(asked: &RunsOptions) -> anyhow::Result<Outcome> {
    match &asked.verb {
        RunsVerb::List { format } => list(*format)?,
        RunsVerb::Show { brief, runs } => show(*brief, runs)?,
        RunsVerb::Remove { runs } => remove(runs)?,
        RunsVerb::Rename { run, name } => rename(run, name)?,
    }
    Ok(Outcome::Done)
}

fn list(format: ListFormat) -> anyhow::Result<()> {
    let SavedRuns { runs, unreadable } = saved::all()?;
    let found: Vec<_> = runs.into_iter().filter_map(SavedRun::listed).collect();
    let files: Vec<_> = found.iter().map(|(_, _, run)| run.file().to_string_lossy()).collect();
    let listed: Vec<_> = found
        .iter()
        .zip(&files)
        .map(|((header, bytes, run), file)| ListedRun { run: &run.name, file, bytes: *bytes, header })
        .collect();
    output::print(&match format {
        ListFormat::Table => runs_table(&listed, output::style()),
        ListFormat::Json => runs_json(&listed),
    })?;
    saved::tell_unused(unreadable.iter().map(|run| (run.name.as_str(), run.reason.as_str())));
    Ok(())
}

fn show(is_brief: bool, words: &[String]) -> anyhow::Result<()> {
    let found = saved::find(words)?;
    let runs = saved::read_each(&found, |run| run)?;
    for (number, (name, records)) in runs.iter().enumerate() {
        let heading = match (number, runs.len()) {
            (_, 1) => String::new(),
            (0, _) => format!("{}: ", plain(name)),
            _ => format!("\n{}: ", plain(name)),
        };
        let text = saved_run_table(&DecodedRun::of(records), output::style(), is_brief);
        output::print(&(heading + &text))?;
    }
    Ok(())
}

/// Removes all named runs, or none if one of them does not exist.
fn remove(words: &[String]) -> anyhow::Result<()> {
    let mut found = saved::find(words)?;
    found.iter().try_for_each(|run| run.own_file().map(drop))?;
    sort_by(&mut found, |a, b| a.name.cmp(&b.name));
    found.dedup();
    for run in found {
        fs::remove_file(run.file()).with_context(|| format!("cannot remove {}", run.file().display()))?;
        output::tell(format_args!("removed: {}", run.file().display()));
    }
    Ok(())
}

fn rename(word: &str, name: &str) -> anyhow::Result<()> {
    let found = saved::find(&[word.to_owned()])?;
    let [run] = &found[..] else {
        let names: Vec<_> = found.iter().map(|run| plain(&run.name)).collect();
        let why = format!("'{}' matches several runs ({}); specify one", plain(word), names.join(", "));
        return Err(Usage(why).into());
    };
    let (from, to) = (run.own_file()?, saving::path_of("the name", name)?);
    match saving::rename_to_free(from, &to) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(Usage(format!(
            "{name}: {} already exists; 'furlong runs remove {name}' deletes it",
            to.display()
        ))
        .into()),
        renamed => {
            renamed.with_context(|| format!("cannot rename {} to {}", from.display(), to.display()))?;
            output::tell(format_args!("renamed: {} is {} now", plain(&run.name), to.display()));
            Ok(())
        }
    }
}

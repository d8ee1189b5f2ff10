//! `furlong adapter install` and `remove`: builds the bundled source of adapters in the user's data directory.

use super::folder;
use crate::arguments::{AdapterInstallOptions, AdapterNamesOptions};
use crate::mechanisms::{entries, rows_of};
use crate::output;
use anyhow::Context;
use furlong_adapter_files::{Manifest, sources};
use furlong_analysis::text::versions;
use furlong_console::exit::{Interruption, Outcome, Usage};
use furlong_console::writing::NewFiles;
use furlong_os::process::run_unless_ended;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Builds and installs the requested adapters in turn. A failure does not prevent the installation of the others.
pub fn install(options: &AdapterInstallOptions) -> anyhow::Result<Outcome> {
    let known = sources::manifests();
    let names = if options.all {
        known.iter().map(|manifest| manifest.name.clone()).collect()
    } else {
        options.names.clone()
    };
    for name in &names {
        if !known.iter().any(|manifest| manifest.name == *name) {
            let why = format!("unknown adapter {name}; run 'furlong adapter list' to see all adapters");
            return Err(Usage(why).into());
        }
    }
    let folder = folder()?;
    let mut outcome = Outcome::Done;
    for manifest in known.iter().filter(|manifest| names.contains(&manifest.name)) {
        if let Some(missing) = missing(manifest) {
            output::print(&format!("{}: not installed: it requires {missing}\n", manifest.name))?;
            outcome = outcome.worse(if options.all { Outcome::Done } else { Outcome::Missing });
            continue;
        }
        match install_one(manifest, &folder) {
            Ok(of_one) => outcome = outcome.worse(of_one),
            Err(error) if error.is::<Interruption>() => return Err(error),
            Err(error) => {
                output::print(&format!("{}: not installed: {error:#}\n", manifest.name))?;
                outcome = outcome.worse(Outcome::Failed);
            }
        }
    }
    Ok(outcome)
}

/// Returns the missing requirements of an adapter, and how to get them.
pub(super) fn missing(manifest: &Manifest) -> Option<String> {
    let missing = manifest.missing();
    let said: Vec<_> = missing.iter().map(|need| format!("{} ({})", need.command, need.get)).collect();
    (!said.is_empty()).then(|| said.join(" and "))
}

/// Builds an adapter in a temporary directory, and renames that to its final name when the build is done.
fn install_one(manifest: &Manifest, folder: &Path) -> anyhow::Result<Outcome> {
    let name = &manifest.name;
    let (begun, place) = (folder.join(format!(".{name}")), folder.join(name));
    remove_folder(&begun)?;
    let mut made = NewFiles::default();
    made.folder(folder)?;
    sources::shared_folders().into_iter().for_each(|shared| made.note(folder.join(shared)));
    made.note(begun.clone());
    sources::write(name, &format!(".{name}"), folder)
        .with_context(|| format!("cannot write its source into {}", begun.display()))?;
    build(manifest, &begun)?;
    remove_folder(&place)?;
    fs::rename(&begun, &place).with_context(|| format!("cannot move it into {}", place.display()))?;
    made.keep();
    output::print(&format!("{name}: installed in {}\n", place.display()))?;
    let manifest = Manifest::read(&place)?;
    let rows: Vec<_> = rows_of(manifest.clone()).collect();
    let mut outcome = Outcome::Done;
    for entry in entries(&rows)? {
        let name = entry.capabilities.name;
        let line = match entry.probe() {
            Ok(_) => {
                let versions =
                    entry.adapter().map_or_else(String::new, |adapter| versions(&adapter.versions));
                format!("  {name}: {} ({versions})\n", entry.capabilities.summary)
            }
            Err(why) => {
                outcome = Outcome::Failed;
                format!("  {name}: cannot run: {why}\n")
            }
        };
        output::print(&line)?;
    }
    Ok(outcome)
}

/// Runs the build commands of an adapter.
pub(super) fn build(manifest: &Manifest, folder: &Path) -> anyhow::Result<()> {
    for command in &manifest.build {
        let Some((program, arguments)) = command.split_first() else { continue };
        let line = command.join(" ");
        output::print(&format!("{}: {line}\n", manifest.name))?;
        let log = folder.join("build.log");
        let said = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut started = Command::new(program);
        started
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said);
        let status = run_unless_ended(&mut started).with_context(|| format!("cannot start {program}"))?;
        let status = status
            .map_err(|signal| anyhow::Error::from(Interruption::unfinished(signal)).context(line.clone()))?;
        if !status.success() {
            anyhow::bail!("{line} failed with {status}:\n{}", last_lines(&log));
        }
    }
    Ok(())
}

/// Returns the last lines of a build's output.
fn last_lines(log: &Path) -> String {
    const LINES: usize = 20;
    let mut bytes = Vec::new();
    // An unreadable log counts as empty.
    let _ = File::open(log).and_then(|mut log| log.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// Removes the named adapters.
pub fn remove(options: &AdapterNamesOptions) -> anyhow::Result<Outcome> {
    let folder = folder()?;
    for name in &options.names {
        let place = folder.join(name);
        if !furlong_adapter_files::manifest::is_name(name) || !place.is_dir() {
            return Err(Usage(format!("no adapter {name} is installed in {}", folder.display())).into());
        }
        remove_folder(&place)?;
        output::print(&format!("{name}: removed\n"))?;
    }
    Ok(Outcome::Done)
}

fn remove_folder(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

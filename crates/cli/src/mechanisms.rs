//! The mechanisms that a command may measure: the built-in ones, and the rows of adapters.

use crate::arguments::CaseOptions;
use anyhow::Context;
use fast_glob::glob_match;
use furlong_adapter_files::{Manifest, ManifestError, installed, manifest};
use furlong_bench::session::Session;
use furlong_bench::{ChildProgram, MechanismEntry, registry};
use furlong_console::data_folder;
use furlong_console::exit::Usage;
use furlong_model::mechanism_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

/// Returns the directory of installed adapters, each in a subdirectory with its name.
pub fn adapters_folder() -> Option<PathBuf> {
    Some(data_folder()?.join("adapters"))
}

/// Returns the installed adapters, by name.
///
/// # Errors
/// Returns an error if a manifest cannot be used.
pub fn installed() -> Result<Vec<Manifest>, ManifestError> {
    adapters_folder().map_or(Ok(Vec::new()), |folder| installed::all(&folder))
}

/// Returns the mechanisms that `options` ask for, and the options with the rows of the adapters that were named by
/// directory. Of the installed adapters, only the programs of requested rows are started.
///
/// # Errors
/// Returns an error if a manifest cannot be used, or if two rows have the same name.
pub fn mechanisms(options: &CaseOptions) -> anyhow::Result<(Vec<MechanismEntry>, CaseOptions)> {
    let mut options = options.clone();
    let mut wanted = Vec::new();
    for folder in &options.adapters {
        let manifest = Manifest::read(folder).map_err(|error| Usage(error.to_string()))?;
        options.rows.extend(manifest.rows.iter().map(|row| row.name.clone()));
        wanted.extend(rows_of(manifest));
    }
    let by_folder: Vec<String> = options.rows[options.rows.len() - wanted.len()..].to_vec();
    let typed = options.rows.clone();
    for (manifest, row) in installed_rows()? {
        let name = manifest.rows[row].name.clone();
        let by_name = is_named(&typed, &name);
        if !by_folder.contains(&name) && (options.all_adapters || by_name) {
            if options.all_adapters {
                options.rows.push(name);
            }
            wanted.push((manifest, row));
        }
    }
    Ok((with_rows(&wanted)?, options))
}

/// Returns whether one of these rows, as typed, may be of the mechanism `name`.
pub fn is_named(typed: &[String], name: &str) -> bool {
    typed.iter().any(|row| glob_match(mechanism_of(row), name))
}

/// Returns the built-in mechanisms, and the rows of installed adapters whose name is wanted.
///
/// # Errors
/// Returns the errors of [`mechanisms`].
pub fn with_installed(is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<MechanismEntry>> {
    let mut rows = installed_rows()?;
    rows.retain(|(manifest, row)| is_wanted(&manifest.rows[*row].name));
    with_rows(&rows)
}

/// Returns the rows of all installed adapters, each as its manifest and its index there.
fn installed_rows() -> Result<Vec<(Manifest, usize)>, ManifestError> {
    Ok(installed()?.into_iter().flat_map(rows_of).collect())
}

/// Returns the rows of a manifest, each as the manifest and its index there.
pub fn rows_of(manifest: Manifest) -> impl Iterator<Item = (Manifest, usize)> {
    (0..manifest.rows.len()).map(move |row| (manifest.clone(), row))
}

/// Returns the built-in mechanisms and these rows.
///
/// # Errors
/// Returns a usage error if two have the same name, before any program is started.
fn with_rows(rows: &[(Manifest, usize)]) -> anyhow::Result<Vec<MechanismEntry>> {
    let mut mechanisms = registry();
    let mut of_rows: BTreeMap<&str, &Path> = BTreeMap::new();
    for (manifest, row) in rows {
        let (name, folder) = (manifest.rows[*row].name.as_str(), manifest.folder.as_path());
        let shown = folder.join(manifest::FILE).display().to_string();
        let why = match of_rows.insert(name, folder) {
            Some(other) if other == folder => format!("{shown} is specified twice; specify it once"),
            Some(other) => format!(
                "benchmarks of {} and {shown}; rename one of them",
                other.join(manifest::FILE).display()
            ),
            None if mechanisms.iter().any(|known| known.capabilities.name == name) => {
                format!("a built-in mechanism and a benchmark of {shown}; rename the benchmark")
            }
            None => continue,
        };
        return Err(Usage(format!("two mechanisms are called {name}: {why}")).into());
    }
    mechanisms.extend(entries(rows)?);
    Ok(mechanisms)
}

/// Returns the entries of these rows. Two of their programs are queried at a time. A signal that asks this process to
/// exit ends the programs first.
///
/// # Errors
/// Returns an error if programs cannot be started, or if processes cannot be ended.
pub fn entries(rows: &[(Manifest, usize)]) -> anyhow::Result<Vec<MechanismEntry>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let session = Session::for_hello(ChildProgram::own().context("cannot find furlong's own binary")?)?;
    let entries = asked(rows, &session);
    session.release()?;
    Ok(entries)
}

fn asked(rows: &[(Manifest, usize)], session: &Session) -> Vec<MechanismEntry> {
    let ask = |(manifest, row): &(Manifest, usize)| {
        MechanismEntry::from_adapter(manifest, &manifest.rows[*row], session)
    };
    let ask_all = |rows: &[(Manifest, usize)]| rows.iter().map(ask).collect::<Vec<_>>();
    let (first, second) = rows.split_at(rows.len().div_ceil(2));
    if second.is_empty() {
        return ask_all(first);
    }
    thread::scope(|scope| {
        // If no thread can be started, this thread queries both halves.
        let beside = thread::Builder::new().spawn_scoped(scope, || ask_all(second));
        let mut entries = ask_all(first);
        entries.extend(beside.map_or_else(|_| ask_all(second), |thread| thread.join().unwrap_or_default()));
        entries
    })
}

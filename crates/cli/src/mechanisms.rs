//! The mechanisms that a command may measure: those that furlong has, and those that adapters carry.

use crate::arguments::CaseOptions;
use fast_glob::glob_match;
use furlong_adapters::{Manifest, ManifestError, installed};
use furlong_bench::{MechanismEntry, registry};
use furlong_console::data_folder;
use furlong_console::exit::Usage;
use std::path::PathBuf;
use std::thread;

/// Where installed adapters are, each in a folder of its name.
pub fn adapters_folder() -> Option<PathBuf> {
    Some(data_folder()?.join("adapters"))
}

/// The installed adapters, by name.
///
/// # Errors
/// A manifest that cannot be used.
pub fn installed() -> Result<Vec<Manifest>, ManifestError> {
    adapters_folder().map_or(Ok(Vec::new()), |folder| installed::all(&folder))
}

/// The mechanisms for what was asked, and what was asked with the rows of adapters that were asked for by their folder. Of
/// installed adapters those are started whose rows have a name that was asked for.
///
/// # Errors
/// A manifest that cannot be used, or names a row as another one is named.
pub fn mechanisms(options: &CaseOptions) -> anyhow::Result<(Vec<MechanismEntry>, CaseOptions)> {
    let mut options = options.clone();
    let mut wanted = Vec::new();
    for folder in &options.adapters {
        let manifest = Manifest::read(folder).map_err(|error| Usage(error.to_string()))?;
        options.rows.extend(manifest.rows.iter().map(|row| row.name.clone()));
        wanted.extend((0..manifest.rows.len()).map(|row| (manifest.clone(), row)));
    }
    for manifest in installed()? {
        for (index, row) in manifest.rows.iter().enumerate() {
            let typed = |typed: &String| {
                let name = typed.split_once('/').map_or(typed.as_str(), |(name, _)| name);
                glob_match(name, &row.name)
            };
            let by_folder =
                wanted.iter().any(|(other, row)| other.rows[*row].name == manifest.rows[index].name);
            if !by_folder && (options.all_adapters || options.rows.iter().any(typed)) {
                wanted.push((manifest.clone(), index));
            }
        }
        if options.all_adapters {
            options.rows.extend(manifest.rows.iter().map(|row| row.name.clone()));
        }
    }
    let mut mechanisms = registry();
    for entry in entries(&wanted) {
        let name = entry.capabilities.name;
        if mechanisms.iter().any(|other| other.capabilities.name == name) {
            return Err(
                Usage(format!("two mechanisms are called {name}: rename the row of the adapter")).into()
            );
        }
        mechanisms.push(entry);
    }
    Ok((mechanisms, options))
}

/// The entries of these rows of these manifests, whose programs are asked two at a time.
pub fn entries(rows: &[(Manifest, usize)]) -> Vec<MechanismEntry> {
    let ask =
        |(manifest, row): &(Manifest, usize)| MechanismEntry::of_adapter(manifest, &manifest.rows[*row]);
    let (first, second) = rows.split_at(rows.len().div_ceil(2));
    thread::scope(|scope| {
        let second = scope.spawn(|| second.iter().map(ask).collect::<Vec<_>>());
        let mut entries: Vec<_> = first.iter().map(ask).collect();
        entries.extend(second.join().unwrap_or_default());
        entries
    })
}

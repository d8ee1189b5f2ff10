//! Source of the adapters that are part of furlong. The program contains their files, so every installation has them.

use crate::manifest::{FILE, Manifest};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Every file of `adapters/`, with its text.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Directory of the templates for new adapters.
const TEMPLATES: &str = "templates";

/// Returns the manifests of all adapters that are part of furlong, in the order of their names.
pub fn manifests() -> Vec<Manifest> {
    let is_manifest = |name: &str| name.split_once('/').is_some_and(|(_, file)| file == FILE);
    let texts = FILES.iter().filter(|(name, _)| is_manifest(name));
    // A test reads every manifest, so no manifest is skipped here.
    texts.filter_map(|(_, text)| toml::from_str(text).ok()).collect()
}

/// Writes an adapter and the directories that several adapters share into `folder`. The directory of the adapter is
/// called `name`.
///
/// # Errors
/// Returns an error if a file or directory cannot be written.
pub fn write(adapter: &str, name: &str, folder: &Path) -> io::Result<()> {
    let shared = shared_folders();
    for (file, text) in FILES {
        match file.split_once('/') {
            Some((top, rest)) if top == adapter => write_file(&folder.join(name).join(rest), text)?,
            Some((top, _)) if shared.contains(top) => write_file(&folder.join(file), text)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the directories that several adapters share.
pub fn shared_folders() -> BTreeSet<&'static str> {
    let manifests = manifests();
    let is_shared = |top: &str| top != TEMPLATES && manifests.iter().all(|manifest| manifest.name != top);
    FILES.iter().filter_map(|(file, _)| Some(file.split_once('/')?.0)).filter(|top| is_shared(top)).collect()
}

/// Returns the languages for which a template exists.
pub fn languages() -> Vec<&'static str> {
    let mut languages: Vec<_> = templates().map(|(language, _, _)| language).collect();
    languages.dedup();
    languages
}

/// Writes a new adapter called `name` into `folder`, from the template of a language. It also writes the files that
/// furlong's own adapters in that language share: those named after the protocol, and C++ headers.
///
/// # Errors
/// Returns an error if a file or directory cannot be written.
pub fn write_template(language: &str, name: &str, folder: &Path) -> io::Result<()> {
    for (_, file, text) in templates().filter(|(of, _, _)| *of == language) {
        write_file(&folder.join(file), &text.replace("NAME", name))?;
    }
    for (file, text) in FILES {
        let is_of_language = |top: &str| top == if language == "java" { "jvm" } else { language };
        let shared =
            file.split_once('/').filter(|(top, file)| is_of_language(top) && is_shared_with_new(file));
        if let Some((_, file)) = shared {
            write_file(&folder.join(file), text)?;
        }
    }
    Ok(())
}

/// Whether a file implements the protocol: `protocol.py`, `ProtocolJson.java`, `adapter.hpp`.
fn is_shared_with_new(file: &str) -> bool {
    file.to_ascii_lowercase().starts_with("protocol") || file.ends_with(".hpp")
}

/// Returns every file of the templates: its language, its name in the new directory, and its text.
fn templates() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FILES.iter().filter_map(|(file, text)| {
        let (language, file) = file.strip_prefix(TEMPLATES)?.strip_prefix('/')?.split_once('/')?;
        Some((language, file, *text))
    })
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    // Installed adapters share some of these files. The rename prevents a full disk from truncating them.
    let beside = path.with_added_extension("new");
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_has_a_manifest_that_can_be_used_and_rows_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = BTreeSet::new();
        for (file, _) in FILES.iter().filter(|(name, _)| name.ends_with(FILE) && !name.starts_with(TEMPLATES))
        {
            let name = file.split_once('/').unwrap().0;
            write(name, name, folder.path()).unwrap();
            let manifest = Manifest::read(&folder.path().join(name)).unwrap();
            assert_eq!(manifest.name, name, "{file}");
            for row in &manifest.rows {
                assert!(names.insert(row.name.clone()), "two rows are called {}", row.name);
                assert!(!row.expectation.is_empty(), "{}: what is to be expected?", row.name);
            }
        }
        assert_eq!(
            manifests().len(),
            fs::read_dir(folder.path())
                .unwrap()
                .flatten()
                .filter(|entry| entry.path().join(FILE).is_file())
                .count()
        );
    }

    #[test]
    fn a_template_becomes_an_adapter_of_the_name_that_was_asked_for() {
        for language in languages() {
            let folder = tempfile::tempdir().unwrap();
            write_template(language, "mine", folder.path()).unwrap();
            let manifest = Manifest::read(folder.path()).unwrap();
            assert_eq!(
                (manifest.name.as_str(), manifest.rows[0].name.as_str()),
                ("mine", "mine"),
                "{language}"
            );
            let files = fs::read_dir(folder.path()).unwrap().flatten();
            let shared = files.filter(|entry| is_shared_with_new(&entry.file_name().to_string_lossy()));
            assert!(shared.count() > 0, "{language}: the protocol is not there");
        }
    }
}

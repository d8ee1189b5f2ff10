//! The folder of installed adapters: each has one of its own, with its name.

use crate::manifest::{FILE, Manifest, ManifestError};
use std::fs;
use std::path::{Path, PathBuf};

/// The installed adapters, by name; a folder without a manifest is none.
///
/// # Errors
/// A manifest that cannot be used.
pub fn all(folder: &Path) -> Result<Vec<Manifest>, ManifestError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // One that is being installed has a name that begins with a dot.
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    folders.retain(|folder| folder.join(FILE).is_file() && !is_hidden(folder));
    folders.sort();
    folders.iter().map(|folder| Manifest::read(folder)).collect()
}

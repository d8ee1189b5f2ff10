//! Installed adapters. Each adapter has its own directory, named after the adapter.

use crate::manifest::{FILE, Manifest, ManifestError};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the installed adapters in the order of their names. It ignores a directory without a manifest.
///
/// # Errors
/// Returns an error if the directory cannot be read or a manifest is not usable. If `lstat` on the directory fails,
/// it returns no adapters instead of an error.
pub fn all(folder: &Path) -> Result<Vec<Manifest>, ManifestError> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(Vec::new());
    }
    let unreadable = |error| ManifestError::Unreadable { path: folder.to_owned(), error };
    let entries =
        fs::read_dir(folder).map_err(unreadable)?.map(|entry| Ok(entry.map_err(unreadable)?.path()));
    let mut folders: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
    // The installer gives an unfinished adapter a name that begins with a dot.
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let has_none = |folder: &Path| match fs::metadata(folder.join(FILE)) {
        Ok(file) => !file.is_file(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    folders.retain(|folder| !is_hidden(folder) && !has_none(folder));
    folders.sort();
    folders.iter().map(|folder| Manifest::read(folder)).collect()
}

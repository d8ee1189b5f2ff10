//! Keeping a run: one file of JSON lines in the user's data folder, a line as each thing happens.

use crate::arguments::SavingOptions;
use crate::output;
use anyhow::{Context, ensure};
use furlong_console::exit::Usage;
use furlong_console::{DATA_FOLDER_VARIABLES, data_folder};
use furlong_model::{Record, RunHeader};
use furlong_os::file_system::names;
use std::fs::{File, OpenOptions, create_dir_all, hard_link, remove_file, rename};
use std::io::{ErrorKind, Seek, Write, copy};
use std::path::{Path, PathBuf};

/// Where records go, and the first thing that went wrong with that.
pub struct Store {
    path: PathBuf,
    file: Option<File>,
    /// Bytes that were appended.
    appended: u64,
    trouble: Option<anyhow::Error>,
    /// The file of another run, whose place this one takes once it is complete.
    replaces: Option<PathBuf>,
}

/// The folder of saved runs.
pub fn folder() -> Option<PathBuf> {
    Some(data_folder()?.join("runs"))
}

/// Whether a run can be saved under this name.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

/// The file of the run of this name, which was given by an option or as an argument.
///
/// # Errors
/// That it is no name, or that there is no folder for runs.
pub fn path_of(given_by: &str, name: &str) -> anyhow::Result<PathBuf> {
    if !is_name(name) {
        let rule = "use letters, digits, '.', '_' and '-', and no '.' first";
        return Err(Usage(format!("{given_by} '{name}': {rule}")).into());
    }
    let folder = folder().ok_or_else(|| {
        Usage(format!("{given_by} needs a data folder: set {DATA_FOLDER_VARIABLES} to an absolute path"))
    })?;
    Ok(folder.join(format!("{name}.jsonl")))
}

impl Store {
    /// A new file for the run with this header, unless it is not to be saved.
    pub fn of(saving: &SavingOptions, header: &RunHeader) -> anyhow::Result<Option<Store>> {
        match &saving.name.save {
            Some(name) if saving.name.replace => Store::in_place_of(name, header).map(Some),
            Some(name) => Store::named(name).map(Some),
            None if saving.no_save => Ok(None),
            None => Ok(folder()
                .map(|folder| Store::dated(header).unwrap_or_else(|error| Store::failed(folder, error)))),
        }
    }

    /// A new file under the given name. An existing one is never overwritten.
    fn named(name: &str) -> anyhow::Result<Store> {
        let path = path_of("--save", name)?;
        create_folder_of(&path)?;
        match create(&path) {
            Ok(file) => Ok(Store { path, file: Some(file), appended: 0, trouble: None, replaces: None }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Usage(format!(
                "--save {name}: {} is there already; --replace replaces it, 'furlong runs remove {name}' deletes it, and \
                 'furlong runs rename {name} OTHER' keeps it",
                path.display()
            ))
            .into()),
            Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
        }
    }

    /// A new file, which gets this name or replaces the run of this name once it is complete. The name is not looked up
    /// before, because another furlong may take it during the run.
    fn in_place_of(name: &str, header: &RunHeader) -> anyhow::Result<Store> {
        let replaces = Some(path_of("--save", name)?);
        Ok(Store { replaces, ..Store::dated(header).with_context(|| format!("--save {name}"))? })
    }

    /// A new file named after the time of the run.
    fn dated(header: &RunHeader) -> anyhow::Result<Store> {
        let name = format!("run-{}-{:08x}", header.started_unix_s, header.seed as u32);
        let (path, file) = create_numbered(&path_of("the run's name", &name)?)?;
        Ok(Store { path, file: Some(file), appended: 0, trouble: None, replaces: None })
    }

    /// No file: a run that was not asked to be saved is measured all the same, and says so in the end.
    fn failed(path: PathBuf, error: anyhow::Error) -> Store {
        let trouble = Some(error.context("the run is not saved"));
        Store { path, file: None, appended: 0, trouble, replaces: None }
    }

    /// Appends a record. After the first failure nothing more is written: a file with a hole would mislead.
    pub fn append(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let line = record.to_line().map_err(std::io::Error::from);
        match line.and_then(|line| file.write_all(&line).map(|()| line.len() as u64)) {
            Ok(length) => self.appended += length,
            Err(error) => {
                let what = format!("the run is not complete in {}", self.path.display());
                self.trouble = Some(anyhow::Error::from(error).context(what));
                self.file = None;
            }
        }
    }

    /// Removes the file of a run in which nothing was measured: as `@last` it would hide the last run with figures.
    pub fn discard(self) {
        let is_ours = self.file.as_ref().is_some_and(|file| names(&self.path, file));
        if is_ours && remove_file(&self.path).is_ok() {
            output::tell(format_args!("nothing was measured, so nothing is saved"));
        }
    }

    /// Returns the path of the saved run; `complete` says whether it was not interrupted.
    ///
    /// # Errors
    /// Returns the first error of writing, that another process wrote to the file, or that the run cannot get its name.
    pub fn finish(self, complete: bool) -> anyhow::Result<PathBuf> {
        if let Some(error) = self.trouble {
            return Err(error);
        }
        if let Some(file) = &self.file {
            check_length(&self.path, file, self.appended)?;
        }
        let path = match &self.file {
            Some(file) if !names(&self.path, file) => restored(&self.path, file)?,
            _ => self.path,
        };
        let Some(name) = self.replaces else { return Ok(path) };
        if complete {
            rename(&path, &name)
                .with_context(|| format!("cannot replace {} by {}", name.display(), path.display()))?;
            return Ok(name);
        }
        // A link never replaces a run that has the name.
        if hard_link(&path, &name).and_then(|()| remove_file(&path)).is_ok() {
            return Ok(name);
        }
        output::tell(format_args!("{} is not replaced: this run is not complete", name.display()));
        Ok(path)
    }
}

/// Checks that an open file has as many bytes as were appended. If not, another process changed it, and it may be unreadable.
fn check_length(path: &Path, file: &File, appended: u64) -> anyhow::Result<()> {
    let path = path.display();
    let length = file.metadata().with_context(|| format!("cannot check {path}"))?.len();
    ensure!(
        length == appended,
        "another process changed {path} during the run: it has {length} bytes, and furlong wrote {appended}. Measure again"
    );
    Ok(())
}

/// Creates the file of a run. Its lock tells readers until it is closed that more records follow.
fn create(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create_new(true).open(path)?;
    // Some file systems have no locks.
    let _ = file.try_lock();
    Ok(file)
}

/// Creates the file of a run at this path or, if it is taken, at the path with the first free number.
fn create_numbered(path: &Path) -> anyhow::Result<(PathBuf, File)> {
    create_folder_of(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (mut number, mut at) = (1, path.to_owned());
    loop {
        match create(&at) {
            Ok(file) => return Ok((at, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", at.display())),
        }
        at = path.with_file_name(format!("{stem}-{number}.jsonl"));
    }
}

fn create_folder_of(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Writes an open file again whose path was removed or replaced during the run, and returns the new path.
fn restored(path: &Path, mut file: &File) -> anyhow::Result<PathBuf> {
    let lost = || format!("{} was removed or replaced while the run was measured", path.display());
    let (at, mut again) = create_numbered(path).with_context(lost)?;
    file.rewind().and_then(|()| copy(&mut file, &mut again)).with_context(lost)?;
    output::tell(format_args!("furlong: {}, so the run is written again", lost()));
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_name_get_numbers_without_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs/run.jsonl");
        let made: Vec<_> = (0..12).map(|_| create_numbered(&path).unwrap().0).collect();
        assert_eq!(made[11], path.with_file_name("run-12.jsonl"));
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(create_numbered(&folder.path().join("file/run.jsonl")).is_err());
    }
}

//! Keeping a run: one file of JSON lines in the user's data folder, a line as each thing happens.

use crate::arguments::SavingOptions;
use crate::output;
use anyhow::Context;
use furlong_console::exit::Usage;
use furlong_console::{DATA_FOLDER_VARIABLES, data_folder};
use furlong_model::{Record, RunHeader};
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write;
use std::path::PathBuf;

/// Where records go, and the first thing that went wrong with that.
pub struct Store {
    path: PathBuf,
    file: Option<File>,
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
        let folder = path.parent().unwrap_or(&path);
        create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            // Until it is closed: readers then know that more comes. Some file systems have no locks.
            Ok(file) => {
                let _ = file.try_lock();
                Ok(Store { path, file: Some(file), trouble: None, replaces: None })
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(Usage(format!(
                "--save {name}: {} is there already; --replace replaces it, 'furlong runs remove {name}' deletes it, and \
                 'furlong runs rename {name} OTHER' keeps it",
                path.display()
            ))
            .into()),
            Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
        }
    }

    /// A new file, which replaces the run of this name once it is complete: until then, and if it never is, that run stays.
    fn in_place_of(name: &str, header: &RunHeader) -> anyhow::Result<Store> {
        let path = path_of("--save", name)?;
        if path.symlink_metadata().is_err() {
            return Store::named(name);
        }
        let new =
            Store::dated(header).with_context(|| format!("cannot save a run beside {}", path.display()))?;
        Ok(Store { replaces: Some(path), ..new })
    }

    /// A new file named after the time of the run.
    fn dated(header: &RunHeader) -> anyhow::Result<Store> {
        let name = format!("run-{}-{:08x}", header.started_unix_s, header.seed as u32);
        // Runs with the same seed may begin in the same second.
        let others = (2..=9).map(|number| format!("{name}-{number}"));
        others.fold(Store::named(&name), |made, name| made.or_else(|_| Store::named(&name)))
    }

    /// No file: a run that was not asked to be saved is measured all the same, and says so in the end.
    fn failed(path: PathBuf, error: anyhow::Error) -> Store {
        Store { path, file: None, trouble: Some(error.context("the run is not saved")), replaces: None }
    }

    /// Appends a record. After the first failure nothing more is written: a file with a hole would mislead.
    pub fn append(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let line = record.to_line().map_err(std::io::Error::from);
        if let Err(error) = line.and_then(|line| file.write_all(&line)) {
            let what = format!("the run is not complete in {}", self.path.display());
            self.trouble = Some(anyhow::Error::from(error).context(what));
            self.file = None;
        }
    }

    /// Removes the file of a run in which nothing was measured: as `@last` it would hide the last run with figures.
    pub fn discard(self) {
        if self.file.is_some() && std::fs::remove_file(&self.path).is_ok() {
            output::tell(format_args!("nothing was measured, so nothing is saved"));
        }
    }

    /// Where the run was saved; `complete` says whether it was not interrupted.
    ///
    /// # Errors
    /// What went wrong, if not all of it could be.
    pub fn finish(self, complete: bool) -> anyhow::Result<PathBuf> {
        match (self.trouble, self.replaces) {
            (Some(error), _) => Err(error),
            (None, None) => Ok(self.path),
            (None, Some(replaced)) if complete => {
                std::fs::rename(&self.path, &replaced).with_context(|| {
                    format!("cannot replace {} by {}", replaced.display(), self.path.display())
                })?;
                Ok(replaced)
            }
            (None, Some(replaced)) => {
                output::tell(format_args!(
                    "{} is not replaced: this run is not complete",
                    replaced.display()
                ));
                Ok(self.path)
            }
        }
    }
}

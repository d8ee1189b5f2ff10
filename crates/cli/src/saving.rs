//! Keeping a run: one file of JSON lines in the user's data folder, a line as each thing happens.

use crate::arguments::SavingOptions;
use anyhow::Context;
use furlong_console::data_folder;
use furlong_console::exit::Usage;
use furlong_model::{Record, RunHeader};
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write;
use std::path::PathBuf;

/// Where records go, and the first thing that went wrong with that.
pub struct Store {
    path: PathBuf,
    file: Option<File>,
    trouble: Option<std::io::Error>,
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

impl Store {
    /// A new file for the run with this header, unless it is not to be saved.
    pub fn of(saving: &SavingOptions, header: &RunHeader) -> anyhow::Result<Option<Store>> {
        match &saving.save {
            Some(name) => Store::named(name).map(Some),
            None if saving.no_save => Ok(None),
            None => Ok(Store::dated(header)),
        }
    }

    /// A new file under the given name. An existing one is never overwritten.
    fn named(name: &str) -> anyhow::Result<Store> {
        if !is_name(name) {
            let rule = "use letters, digits, '.', '_' and '-', and no '.' first";
            return Err(Usage(format!("--save '{name}': {rule}")).into());
        }
        let folder = folder().ok_or_else(|| {
            Usage("--save needs a data folder: set XDG_DATA_HOME or HOME to an absolute path".into())
        })?;
        create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(format!("{name}.jsonl"));
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => Ok(Store { path, file: Some(file), trouble: None }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Usage(format!("--save {name}: {} is there already", path.display())).into())
            }
            Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
        }
    }

    /// A new file named after the time of the run, if there is a folder that can be written to; a run that was
    /// not asked to be saved does not fail for it.
    fn dated(header: &RunHeader) -> Option<Store> {
        let name = format!("run-{}-{:08x}", header.started_unix_s, header.seed as u32);
        // Runs with the same seed may begin in the same second.
        let others = (2..=9).map(|number| format!("{name}-{number}"));
        [name.clone()].into_iter().chain(others).find_map(|name| Store::named(&name).ok())
    }

    /// Appends a record. After the first failure nothing more is written: a file with a hole would mislead.
    pub fn append(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let line = serde_json::to_vec(record).map_err(std::io::Error::from).map(|mut line| {
            line.push(b'\n');
            line
        });
        if let Err(error) = line.and_then(|line| file.write_all(&line)) {
            self.trouble = Some(error);
            self.file = None;
        }
    }

    /// Where the run was saved.
    ///
    /// # Errors
    /// What went wrong, if not all of it could be.
    pub fn finish(self) -> anyhow::Result<PathBuf> {
        match self.trouble {
            None => Ok(self.path),
            Some(error) => {
                Err(error).with_context(|| format!("the run is not complete in {}", self.path.display()))
            }
        }
    }
}

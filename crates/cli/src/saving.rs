//! Saving of a run: one file of JSON lines in the user's data directory. Each record is appended as it is created.

use crate::arguments::SavingOptions;
use crate::output;
use anyhow::{Context, anyhow};
use furlong_console::exit::Usage;
use furlong_console::{DATA_FOLDER_VARIABLES, data_folder};
use furlong_model::{Record, RunHeader};
use furlong_os::file_system::names;
use std::fs::{File, OpenOptions, create_dir_all, hard_link, remove_file, rename};
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The file of a run in progress, and the first error of writing it.
pub struct Store {
    path: PathBuf,
    file: Option<File>,
    /// The content that this process has appended.
    appended: Content,
    trouble: Option<anyhow::Error>,
    /// The file of another run, which this run replaces once it is complete.
    replaces: Option<PathBuf>,
}

/// Returns the directory of saved runs.
pub fn folder() -> Option<PathBuf> {
    Some(data_folder()?.join("runs"))
}

/// Returns whether a run can be saved under this name.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

/// Returns the file of the run with this name, which came from the option or argument `given_by`.
///
/// # Errors
/// Returns a usage error if the name is not valid, or if there is no data directory.
pub fn path_of(given_by: &str, name: &str) -> anyhow::Result<PathBuf> {
    if !is_name(name) {
        let rule = "use only letters, digits, '.', '_' and '-'; the first character must not be '.'";
        return Err(Usage(format!("{given_by} '{name}': {rule}")).into());
    }
    let folder = folder().ok_or_else(|| {
        Usage(format!("{given_by} needs a data directory: set {DATA_FOLDER_VARIABLES} to an absolute path"))
    })?;
    Ok(folder.join(format!("{name}.jsonl")))
}

/// Returns the file for a run that is to be saved under this name.
fn path_to_save(name: &str) -> anyhow::Result<PathBuf> {
    let path = path_of("--save", name)?;
    if path.is_dir() {
        let shown = path.display();
        let reason = format!("--save {name}: {shown} is a directory: remove it, or choose another name");
        return Err(Usage(reason).into());
    }
    Ok(path)
}

fn not_begun(name: &str) -> String {
    format!("--save {name}: the run cannot be saved, so nothing is measured")
}

impl Store {
    /// Creates the run's file with this header; `None` if the run is not to be saved.
    ///
    /// # Errors
    /// Returns why a run that the user wants to save under a name cannot be saved, so that it is not measured for
    /// nothing.
    pub fn of(saving: &SavingOptions, header: &RunHeader) -> anyhow::Result<Option<Store>> {
        match &saving.name.save {
            Some(name) if saving.name.replace => Store::in_place_of(name, header).map(Some),
            Some(name) => Store::named(name, header).map(Some),
            None if saving.no_save => Ok(None),
            None => Ok(folder()
                .map(|folder| Store::dated(header).unwrap_or_else(|error| Store::failed(folder, error)))),
        }
    }

    /// Creates a file under this name. An existing file is never overwritten.
    fn named(name: &str, header: &RunHeader) -> anyhow::Result<Store> {
        let path = path_to_save(name)?;
        create_folder_of(&path)?;
        match create(&path) {
            Ok(file) => Store::begun(path, file, header).with_context(|| not_begun(name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Usage(format!(
                "--save {name}: {} already exists; --replace replaces it, 'furlong runs remove {name}' deletes it, and \
                 'furlong runs rename {name} OTHER' keeps it",
                path.display()
            ))
            .into()),
            Err(error) => {
                let cannot = Err(error).with_context(|| format!("cannot create {}", path.display()));
                cannot.with_context(|| not_begun(name))
            }
        }
    }

    /// Creates a file that, once the run is complete, gets this name or replaces the run with this name. The name is
    /// not checked before the run, because another furlong may use it during the run.
    fn in_place_of(name: &str, header: &RunHeader) -> anyhow::Result<Store> {
        let replaces = Some(path_to_save(name)?);
        Ok(Store { replaces, ..Store::dated(header).with_context(|| not_begun(name))? })
    }

    /// Creates a file named after the start time of the run.
    fn dated(header: &RunHeader) -> anyhow::Result<Store> {
        let name = format!("run-{}-{:08x}", header.started_unix_s, header.seed as u32);
        let (path, file) = create_numbered(&path_of("the run's name", &name)?)?;
        Store::begun(path, file, header)
    }

    /// Writes the header to a new file. If that fails, the file is removed, because it would block the name for the
    /// next run.
    fn begun(path: PathBuf, file: File, header: &RunHeader) -> anyhow::Result<Store> {
        let mut store =
            Store { path, file: Some(file), appended: Content::default(), trouble: None, replaces: None };
        store.append(&Record::Run(header.clone()));
        let Some(error) = store.trouble else { return Ok(store) };
        // If the file cannot be removed, the name stays in use, and the next run reports that.
        let _ = remove_file(&store.path);
        let path = store.path.display();
        Err(anyhow!(
            "cannot write {path}: {}; free some space there, or set {DATA_FOLDER_VARIABLES}",
            error.root_cause()
        ))
    }

    /// Creates a store without a file. A run without `--save` is measured even if it cannot be saved; the error is
    /// reported at its end.
    fn failed(path: PathBuf, error: anyhow::Error) -> Store {
        let trouble = Some(error.context("the run is not saved"));
        Store { path, file: None, appended: Content::default(), trouble, replaces: None }
    }

    /// Appends a record. After the first failure nothing more is written, because a file with a gap would mislead.
    pub fn append(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let line = record.to_line().map_err(std::io::Error::from);
        match line.and_then(|line| file.write_all(&line).map(|()| line)) {
            Ok(line) => self.appended.add(&line),
            Err(error) => {
                let what = format!("the run is not complete in {}", self.path.display());
                self.trouble = Some(anyhow::Error::from(error).context(what));
                self.file = None;
            }
        }
    }

    /// Removes the file of a run without measurements, which as `@last` would hide the last run with figures.
    pub fn discard(self) {
        let is_ours = self.file.as_ref().is_some_and(|file| names(&self.path, file));
        if is_ours && remove_file(&self.path).is_ok() {
            output::tell(format_args!("nothing was measured, so no run is saved"));
        }
    }

    /// Writes the run with these records to a new file if another process has removed, replaced or changed its file.
    pub fn restore(&mut self, records: &[Record]) {
        let Some(file) = &mut self.file else { return };
        let what = match names(&self.path, file) {
            false => "removed or replaced",
            // A file that this process cannot read now may stay unreadable.
            true if !Content::of(file).is_ok_and(|content| content.is(&self.appended)) => "changed",
            true => return,
        };
        let lost =
            format!("{} was {what} by another process while the run was measured", self.path.display());
        match written(&self.path, records) {
            Ok((path, again)) => {
                let shown = path.display();
                output::tell(format_args!("furlong: {lost}, so the run is saved in a new file: {shown}"));
                (self.path, self.file) = (path, Some(again));
            }
            Err(error) => (self.trouble, self.file) = (Some(error.context(lost)), None),
        }
    }

    /// Closes the file and returns the path of the saved run; `complete` is whether the run was not interrupted.
    ///
    /// # Errors
    /// Returns the first error of writing, or why the file cannot be renamed.
    pub fn finish(self, complete: bool) -> anyhow::Result<PathBuf> {
        if let Some(error) = self.trouble {
            return Err(error);
        }
        let path = self.path;
        let Some(name) = self.replaces else { return Ok(path) };
        if complete {
            rename(&path, &name)
                .with_context(|| format!("cannot replace {} with {}", name.display(), path.display()))?;
            return Ok(name);
        }
        // A hard link never replaces an existing run with this name.
        if rename_to_free(&path, &name).is_ok() {
            return Ok(name);
        }
        output::tell(format_args!("{} was not replaced: this run is not complete", name.display()));
        Ok(path)
    }
}

/// The length and the hash of a file's bytes, because a run may have 100 MB.
#[derive(Default, Clone)]
struct Content {
    length: u64,
    hash: DefaultHasher,
}

impl Content {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hash.write(bytes);
    }

    /// Reads the content of an open file.
    fn of(mut file: &File) -> std::io::Result<Content> {
        let (mut content, mut part) = (Content::default(), vec![0; 1 << 16]);
        file.rewind()?;
        loop {
            match file.read(&mut part)? {
                0 => return Ok(content),
                length => content.add(&part[..length]),
            }
        }
    }

    fn is(&self, other: &Content) -> bool {
        (self.length, self.hash.finish()) == (other.length, other.hash.finish())
    }
}

/// Renames a file to a name that is not in use.
///
/// # Errors
/// Returns `AlreadyExists` if the name is in use; a plain rename would replace that file.
pub fn rename_to_free(from: &Path, to: &Path) -> std::io::Result<()> {
    match hard_link(from, to) {
        Ok(()) => remove_file(from),
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => Err(error),
        // Some file systems have no hard links. There, an empty file keeps the name until the rename replaces it.
        Err(_) => {
            File::create_new(to)?;
            // If the placeholder cannot be removed, it is empty and does no harm.
            rename(from, to).inspect_err(|_| drop(remove_file(to)))
        }
    }
}

/// Creates the file of a run. Until the file is closed, its lock tells readers that more records follow.
fn create(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create_new(true).open(path)?;
    // Some file systems have no locks.
    let _ = file.try_lock();
    Ok(file)
}

/// Creates the file of a run at this path, or at the path with the first free number if the path is in use.
fn create_numbered(path: &Path) -> anyhow::Result<(PathBuf, File)> {
    create_folder_of(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (mut number, mut at) = (1, path.to_owned());
    loop {
        match create(&at) {
            Ok(file) => return Ok((at, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error).with_context(|| format!("cannot create {}", at.display())),
        }
        at = path.with_file_name(format!("{stem}-{number}.jsonl"));
    }
}

fn create_folder_of(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Writes all records to a new file, at this path if it is free, and returns its path.
fn written(path: &Path, records: &[Record]) -> anyhow::Result<(PathBuf, File)> {
    let (at, file) = create_numbered(path)?;
    let write = || -> std::io::Result<()> {
        let mut writer = BufWriter::new(&file);
        for record in records {
            writer.write_all(&record.to_line().map_err(std::io::Error::from)?)?;
        }
        writer.flush()
    };
    write().with_context(|| format!("cannot write {}", at.display()))?;
    Ok((at, file))
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

    #[test]
    fn content_is_told_from_other_content_of_the_same_length() {
        let mut file = tempfile::tempfile().unwrap();
        let mut appended = Content::default();
        for part in [&b"one line\n"[..], b"", &[7; 100_000], b"end"] {
            file.write_all(part).unwrap();
            appended.add(part);
        }
        assert!(Content::of(&file).unwrap().is(&appended));
        file.rewind().unwrap();
        file.write_all(b"#").unwrap();
        assert!(!Content::of(&file).unwrap().is(&appended));
    }
}

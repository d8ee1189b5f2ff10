//! Atomic writing of a file: a reader never sees a part of it.

use crate::exit::{Interruption, Usage};
use anyhow::Context;
use furlong_os::file_system::{open_own_file, own_descriptor, sync_folder};
use furlong_os::shutdown::NotedRequests;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The maximum number of links that are followed from a path to its file, as in Linux.
const MOST_LINKS: u32 = 40;

/// The number of names that are tried for the temporary file in the same directory.
const ATTEMPTS: u32 = 100;

/// The prefix and suffix of the temporary file's name. Between them are the PID, a hyphen and the attempt.
const BEGINNING: &str = ".furlong-";
const ENDING: &str = ".tmp";

/// Writes a file like [`replace`], and creates its directory if it does not exist.
///
/// # Errors
/// Returns an error if the directory cannot be created, and the errors of [`replace`].
pub fn replace_with_folder(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    replace(path, bytes)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces the file at `path` by `bytes`, and removes temporary files of killed writers from its directory.
///
/// # Errors
/// Returns the step that failed, or [`Stopped`] if a signal arrived. If the rename has not happened, the temporary
/// file is removed and the file at `path` is unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    replace_by(path, |file| Ok(file.write_all(bytes)?))
}

/// Replaces the file at `path` like [`replace`], by the bytes that the closure writes. A signal ends the next write to the file.
///
/// # Errors
/// Returns the errors of the closure and of [`replace`].
pub fn replace_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // A link stays. The file that it points to is replaced.
    let path = &followed(path);
    let cannot = || format!("cannot write {}", path.display());
    if let Some(stream) = stream(path) {
        let mut stream = BufWriter::new(stream.with_context(cannot)?);
        let written = write(&mut stream).and_then(|()| Ok(stream.flush()?));
        return written.map_err(|error| explained(error, cannot()));
    }
    let folder = folder_of(path);
    remove_left(folder);
    // Notes signals: their default action would end this process before the temporary file is removed.
    let requests = NotedRequests::new().context("cannot install signal handlers")?;
    let (beside, file) = file_in(folder)?;
    let filled = fill(StoppedFile { file: &file, requests: &requests }, path, write);
    let interrupted = requests.first().map(|signal| Interruption::unfinished(signal).into());
    let written = interrupted.map_or(filled, Err).and_then(|()| Ok(fs::rename(&beside, path)?));
    if written.is_err() {
        // The temporary file belongs to this process alone. It may no longer exist if its directory was removed.
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| Ok(sync_folder(folder)?)).map_err(|error| explained(error, cannot()))?;
    requests.into_first().map_or(Ok(()), |signal| Err(Interruption::unfinished(signal).into()))
}

/// Returns the path behind all links; the file need not exist yet. Links in /proc that stand for an open file, as for
/// `/dev/stdout`, are not followed: the path that such a file may have is not the path that the user named.
fn followed(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let (Ok(folder), Some(name)) = (fs::canonicalize(folder_of(&at)), at.file_name()) else { break };
        at = folder.join(name);
        match fs::read_link(&at) {
            Ok(to) if !is_of_process(&at) => at = folder.join(to),
            _ => break,
        }
    }
    at
}

/// Returns whether a path leads into the kernel's description of processes, where links stand for open files.
fn is_of_process(path: &Path) -> bool {
    cfg!(target_os = "linux") && path.starts_with("/proc")
}

/// Returns a writer if `path` names a stream instead of a plain file: an open file in /proc, a pipe or a device.
fn stream(path: &Path) -> Option<std::io::Result<File>> {
    if is_of_process(path) {
        return own_descriptor(path).or_else(|| Some(OpenOptions::new().append(true).open(path)));
    }
    let is_stream = fs::metadata(path).is_ok_and(|there| !there.is_file());
    is_stream.then(|| OpenOptions::new().write(true).open(path))
}

/// Removes temporary files that killed writers have left: unlocked files of this user whose name has furlong's prefix
/// and suffix.
fn remove_left(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = |name: &str| {
            let numbers = name.strip_prefix(BEGINNING).and_then(|rest| rest.strip_suffix(ENDING));
            numbers.is_some_and(|numbers| numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
        };
        if entry.file_name().to_str().is_some_and(is_ours)
            && open_own_file(&entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // Another writer may have removed it in the meantime.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the error with the file that cannot be written, unless it is about the content.
fn explained(error: anyhow::Error, cannot: String) -> anyhow::Error {
    if error.is::<Usage>() { error } else { error.context(cannot) }
}

/// A file to which nothing is written after a signal.
struct StoppedFile<'a> {
    file: &'a File,
    requests: &'a NotedRequests,
}

impl Write for StoppedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.requests.first().is_some() {
            return Err(std::io::Error::other("interrupted"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes the bytes of the closure, with the permissions of the file that is replaced.
fn fill(
    stopped: StoppedFile<'_>,
    replaced: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let file = stopped.file;
    let mut buffer = BufWriter::new(stopped);
    write(&mut buffer)?;
    buffer.flush()?;
    if let Ok(there) = fs::metadata(replaced) {
        file.set_permissions(there.permissions())?;
    }
    // A full disk may be reported only now.
    Ok(file.sync_all()?)
}

/// Creates a temporary file in the directory of its final path, because a rename needs the same file system.
fn file_in(folder: &Path) -> anyhow::Result<(PathBuf, File)> {
    let mut attempts = 0;
    loop {
        let beside = folder.join(format!("{BEGINNING}{}-{attempts}{ENDING}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => {
                // On a file system without locks, another writer may remove the file as if its own writer had been
                // killed.
                let _ = file.try_lock();
                return Ok((beside, file));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < ATTEMPTS => attempts += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot write into {}", folder.display()));
            }
        }
    }
}

/// Files and directories that a command creates. They are removed on drop, unless the command keeps them.
#[derive(Debug, Default)]
pub struct NewFiles {
    /// Created paths, parents first, each with whether its content is removed as well.
    made: Vec<(PathBuf, bool)>,
}

impl NewFiles {
    /// Creates a directory and its missing parents. The directory may already exist.
    ///
    /// # Errors
    /// Returns an error that names the directory that cannot be created.
    pub fn folder(&mut self, path: &Path) -> anyhow::Result<()> {
        let missing =
            path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        for folder in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs::create_dir(folder) {
                // Another process may create it at the same time.
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(error)
                        .with_context(|| format!("cannot create the directory {}", folder.display()));
                }
                Err(_) => {}
                Ok(()) => self.made.push((folder.to_owned(), false)),
            }
        }
        Ok(())
    }

    /// Notes a directory that the caller is about to create with all its content, unless it already exists.
    pub fn note(&mut self, folder: PathBuf) {
        if folder.symlink_metadata().is_err() {
            self.made.push((folder, true));
        }
    }

    /// Creates a file with these bytes. The file must not exist.
    ///
    /// # Errors
    /// Returns why the file cannot be written.
    pub fn file(&mut self, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", path.display());
        let mut file = File::create_new(path).with_context(cannot)?;
        self.made.push((path.to_owned(), false));
        file.write_all(bytes).with_context(cannot)
    }

    /// Keeps all files and directories.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for (path, with_content) in self.made.drain(..).rev() {
            let is_folder = path.symlink_metadata().is_ok_and(|there| there.is_dir());
            // The command has already reported its failure, and another command may use the directory by now.
            let _ = match (is_folder, with_content) {
                (true, true) => fs::remove_dir_all(&path),
                (true, false) => fs::remove_dir(&path),
                (false, _) => fs::remove_file(&path),
            };
        }
    }
}

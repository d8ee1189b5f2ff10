//! Writing a file as a whole or not at all: a reader never sees half of it.

use crate::exit::Stopped;
use anyhow::Context;
use furlong_os::file_system::{open_own_file, own_descriptor, sync_folder};
use furlong_os::shutdown::NotedRequests;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Links that are followed from a path to its file, as in Linux.
const MOST_LINKS: u32 = 40;

/// Names that are tried for the file beside it.
const ATTEMPTS: u32 = 100;

/// How its name begins and ends; between are the number of the process, a hyphen and the attempt.
const BEGINNING: &str = ".furlong-";
const ENDING: &str = ".tmp";

/// The same as [`replace`], in a folder that is made if it is not there.
///
/// # Errors
/// As there, and that the folder cannot be made.
pub fn replace_with_folder(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    replace(path, bytes)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Puts `bytes` at `path`, in the place of what was there. What an earlier one left that was killed here is removed.
///
/// # Errors
/// What went wrong with which file. Then nothing is left, and what was at `path` is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // What a link points to is replaced, and not the link.
    let path = &followed(path);
    let cannot = || format!("cannot write {}", path.display());
    if let Some(stream) = stream(path) {
        return stream.and_then(|mut stream| stream.write_all(bytes)).with_context(cannot);
    }
    let folder = folder_of(path);
    remove_left(folder);
    // A signal would end this process before the file beside is removed.
    let requests = NotedRequests::new().context("cannot listen to signals")?;
    let (beside, file) = file_in(folder)?;
    let written = fill(&file, path, bytes).map_err(anyhow::Error::from);
    let written =
        written.and_then(|()| requests.first().map_or(Ok(()), |signal| Err(Stopped(signal).into())));
    let written = written.and_then(|()| Ok(fs::rename(&beside, path)?));
    if written.is_err() {
        // It is ours alone, and may be gone with its folder.
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| Ok(sync_folder(folder)?)).with_context(cannot)?;
    requests.into_first().map_or(Ok(()), |signal| Err(Stopped(signal).into()))
}

/// The path behind all links, where there need not be a file yet. It ends in /proc where what is there stands for an open file,
/// as for `/dev/stdout`: the name that this file has, if it has one, is not what was named.
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

/// Whether a path leads into the kernel's description of processes, where links stand for open files.
fn is_of_process(path: &Path) -> bool {
    cfg!(target_os = "linux") && path.starts_with("/proc")
}

/// What takes bytes as they come, if that is what is there: an open file, a pipe or a device.
fn stream(path: &Path) -> Option<std::io::Result<File>> {
    if is_of_process(path) {
        return own_descriptor(path).or_else(|| Some(OpenOptions::new().append(true).open(path)));
    }
    let is_stream = fs::metadata(path).is_ok_and(|there| !there.is_file());
    is_stream.then(|| OpenOptions::new().write(true).open(path))
}

/// Removes what writers have left that were killed: files of this user with a name of ours that nobody has locked.
fn remove_left(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = |name: &str| {
            let numbers = name.strip_prefix(BEGINNING).and_then(|rest| rest.strip_suffix(ENDING));
            numbers.is_some_and(|numbers| numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
        };
        if entry.file_name().to_str().is_some_and(is_ours)
            && open_own_file(&entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            // Another writer may have removed it just now.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes all of it, with the rights of the file that it replaces.
fn fill(mut file: &File, replaced: &Path, bytes: &[u8]) -> std::io::Result<()> {
    file.write_all(bytes)?;
    if let Ok(there) = fs::metadata(replaced) {
        file.set_permissions(there.permissions())?;
    }
    // A full disk may say so only now.
    file.sync_all()
}

/// A new file in the folder of the one that it is to become.
fn file_in(folder: &Path) -> anyhow::Result<(PathBuf, File)> {
    let mut attempts = 0;
    loop {
        let beside = folder.join(format!("{BEGINNING}{}-{attempts}{ENDING}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => {
                // Where a file system has no locks, what is left of a killed writer is removed the sooner.
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

/// Files and folders that a command makes. What it made is removed again, unless it is kept in the end.
#[derive(Debug, Default)]
pub struct NewFiles {
    /// The outer ones first; whether all that is in a folder goes with it.
    made: Vec<(PathBuf, bool)>,
}

impl NewFiles {
    /// Makes a folder, with those that it lies in. There may be one already.
    ///
    /// # Errors
    /// Returns which folder cannot be made.
    pub fn folder(&mut self, path: &Path) -> anyhow::Result<()> {
        let missing =
            path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        for folder in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs::create_dir(folder) {
                // Another process may make it just now.
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(error)
                        .with_context(|| format!("cannot make the folder {}", folder.display()));
                }
                Err(_) => {}
                Ok(()) => self.made.push((folder.to_owned(), false)),
            }
        }
        Ok(())
    }

    /// Notes a folder that is about to be made with all that will be in it, unless it is there already.
    pub fn note(&mut self, folder: PathBuf) {
        if folder.symlink_metadata().is_err() {
            self.made.push((folder, true));
        }
    }

    /// Writes a file of which there must be none.
    ///
    /// # Errors
    /// Returns why it cannot be written.
    pub fn file(&mut self, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", path.display());
        let mut file = File::create_new(path).with_context(cannot)?;
        self.made.push((path.to_owned(), false));
        file.write_all(bytes).with_context(cannot)
    }

    /// Keeps all of it.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for (path, with_content) in self.made.drain(..).rev() {
            let is_folder = path.symlink_metadata().is_ok_and(|there| there.is_dir());
            // The failure of the command is reported already, and a folder may have become that of another one.
            let _ = match (is_folder, with_content) {
                (true, true) => fs::remove_dir_all(&path),
                (true, false) => fs::remove_dir(&path),
                (false, _) => fs::remove_file(&path),
            };
        }
    }
}

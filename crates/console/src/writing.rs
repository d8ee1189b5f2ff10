//! Writing a file as a whole or not at all: a reader never sees half of it.

use anyhow::Context;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Names that are tried for the file beside it.
const ATTEMPTS: u32 = 100;

/// Puts `bytes` at `path`, in the place of what was there. The folder is made if it is not there.
///
/// # Errors
/// What went wrong with which file. Then nothing is left, and what was at `path` is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // A device or a pipe takes bytes as they come, and a link to it must not be replaced.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let write = || OpenOptions::new().write(true).open(path)?.write_all(bytes);
        return write().with_context(|| format!("cannot write {}", path.display()));
    }
    // What a link points to is replaced, and not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let (beside, file) = file_in(folder)?;
    let written = fill(file, path, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It is ours alone, and may be gone with its folder.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes all of it, with the rights of the file that it replaces.
fn fill(mut file: File, replaced: &Path, bytes: &[u8]) -> std::io::Result<()> {
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
        let beside = folder.join(format!(".furlong-{}-{attempts}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < ATTEMPTS => attempts += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot write into {}", folder.display()));
            }
        }
    }
}

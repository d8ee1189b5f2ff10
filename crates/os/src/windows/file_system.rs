//! Which file system a folder lies in, and files and folders that are one user's own.

use crate::windows::return_value::{check, wide};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::ptr::null_mut;
use windows_sys::Win32::Storage::FileSystem::{GetVolumeInformationW, GetVolumePathNameW};

/// Makes a folder. Who may look into it is inherited from the one that it lies in; that for temporary files is its user's
/// own.
///
/// # Errors
/// `AlreadyExists` if there is one.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().create(path)
}

/// Makes a file, to be written.
///
/// # Errors
/// `AlreadyExists` if there is one.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens what a user names, to be read.
///
/// # Errors
/// That it cannot be opened.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a plain file in a folder that others may have written to.
///
/// # Errors
/// That there is none: `InvalidInput` if something else has its name.
pub fn open_own_file(path: &Path) -> io::Result<File> {
    let described = std::fs::symlink_metadata(path)?;
    if described.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
}

/// Nothing: no path stands for an open handle.
pub fn own_descriptor(_path: &Path) -> Option<io::Result<File>> {
    None
}

/// Nothing: NTFS keeps names in its own journal, and a folder cannot be flushed by an ordinary user.
///
/// # Errors
/// None.
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether `path` names this open file, by its times and length: Rust's library has no stable call for its number.
pub fn names(path: &Path, file: &File) -> bool {
    let described = |at: &Metadata| Some((at.created().ok()?, at.modified().ok()?, at.len()));
    matches!((path.symlink_metadata(), file.metadata()), (Ok(there), Ok(open)) if described(&there) == described(&open))
}

/// Whether what is described may be this user's: the folder for temporary files is its own, so that all in it is.
pub fn is_own(_described: &Metadata) -> bool {
    true
}

/// The name of the file system that `folder` lies in, as in `NTFS`.
///
/// # Errors
/// If there is no such folder.
pub fn kind(folder: &Path) -> io::Result<String> {
    let (mut volume, mut name) = ([0u16; 512], [0u16; 64]);
    let folder = wide(folder);
    // SAFETY: the path ends with a zero; at most so many units are written as there is room for, zero included.
    unsafe {
        check(GetVolumePathNameW(folder.as_ptr(), volume.as_mut_ptr(), volume.len() as u32))?;
        check(GetVolumeInformationW(
            volume.as_ptr(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            null_mut(),
            name.as_mut_ptr(),
            name.len() as u32,
        ))?;
    }
    Ok(String::from_utf16_lossy(name.split(|unit| *unit == 0).next().unwrap_or_default()))
}

/// Whether what lies in such a file system lies in memory and nowhere else: Windows brings none that does.
pub fn is_memory(_kind: &str) -> bool {
    false
}

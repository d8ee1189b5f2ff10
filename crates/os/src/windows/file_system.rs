//! File systems of directories, and files and directories that belong to one user.

use crate::windows::return_value::{check, wide};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::ptr::null_mut;
use windows_sys::Win32::Storage::FileSystem::{GetVolumeInformationW, GetVolumePathNameW};

/// Creates a directory, which inherits its access rights from its parent. The directory for temporary files is private to its
/// user.
///
/// # Errors
/// Returns `AlreadyExists` if the path exists.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().create(path)
}

/// Creates a file for writing.
///
/// # Errors
/// Returns `AlreadyExists` if the path exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file that a user names, for reading.
///
/// # Errors
/// Returns an error if it cannot be opened.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a plain file for reading, in a directory that others may have written to.
///
/// # Errors
/// Returns an error if there is no such file: `InvalidInput` if the path names another kind of object.
pub fn open_own_file(path: &Path) -> io::Result<File> {
    let described = std::fs::symlink_metadata(path)?;
    if described.is_file() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Returns `None`, because on Windows no path names an open handle.
pub fn own_descriptor(_path: &Path) -> Option<io::Result<File>> {
    None
}

/// Does nothing: NTFS keeps names in its own journal, and an ordinary user cannot flush a directory.
///
/// # Errors
/// Never returns an error.
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether `path` names this open file, by its times and length: Rust's library has no stable call for its number.
pub fn names(path: &Path, file: &File) -> bool {
    let described = |at: &Metadata| Some((at.created().ok()?, at.modified().ok()?, at.len()));
    matches!((path.symlink_metadata(), file.metadata()), (Ok(there), Ok(open)) if described(&there) == described(&open))
}

/// Returns `true`, because the directory for temporary files belongs to this user, with all files in it.
pub fn is_own(_described: &Metadata) -> bool {
    true
}

/// Returns the name of the directory's file system, for example `NTFS`.
///
/// # Errors
/// Returns an error if there is no such directory.
pub fn kind(folder: &Path) -> io::Result<String> {
    let (mut volume, mut name) = ([0u16; 512], [0u16; 64]);
    let folder = wide(folder);
    // SAFETY: the path ends with a zero; Windows writes no more units than fit in the buffers, including the zero.
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

/// Returns whether a file system of this kind keeps its files only in memory: none of Windows does.
pub fn is_memory(_kind: &str) -> bool {
    false
}

//! File systems of directories, and files and directories that belong to one user.

use crate::error::check;
use crate::linux::handle::{own, set_non_blocking};
use crate::linux::identity;
use std::ffi::CString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Creates a directory that only this user can access.
///
/// # Errors
/// Returns `AlreadyExists` if the path exists.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates a file for writing that only this user can access.
///
/// # Errors
/// Returns `AlreadyExists` if the path exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file that a user names, for reading. A FIFO without a writer is empty, instead of blocking.
///
/// # Errors
/// Returns an error if it cannot be opened.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    set_non_blocking(file.as_fd(), false)?;
    Ok(file)
}

/// Opens a plain file of this user for reading, in a directory that others may have written to: it follows no link and never
/// blocks.
///
/// # Errors
/// Returns an error if there is no such file: `InvalidInput` if the path names another kind of object, or a file of another user.
pub fn open_own_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let described = file.metadata()?;
    if described.is_file() && is_own(&described) {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file of this user"))
}

/// Returns a duplicate of the descriptor of this process that a path without links names, such as `/proc/7/fd/1`. It shares the
/// position in the file, which a second open of the file does not. `None` for any other path.
pub fn own_descriptor(path: &Path) -> Option<io::Result<File>> {
    let folder = std::fs::canonicalize("/proc/self").ok()?.join("fd");
    let number: RawFd = path.strip_prefix(folder).ok()?.to_str()?.parse().ok()?;
    // SAFETY: F_DUPFD_CLOEXEC takes a plain integer, also one that is no open descriptor.
    let duplicate = check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) });
    // SAFETY: the new descriptor has no other owner.
    Some(duplicate.map(|number| File::from(unsafe { own(number) })))
}

/// Makes sure that created, changed or removed names in this directory survive a loss of power.
///
/// # Errors
/// Returns an error if the directory cannot be opened or its disk fails to write.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns whether `path` names this open file, and no other one.
pub fn names(path: &Path, file: &File) -> bool {
    let number = |described: &Metadata| (described.dev(), described.ino());
    matches!((path.symlink_metadata(), file.metadata()), (Ok(there), Ok(open)) if number(&there) == number(&open))
}

/// Returns whether the described file belongs to the user of this process.
pub fn is_own(described: &Metadata) -> bool {
    described.uid() == identity::user()
}

/// The kernel's numbers of file systems, with the names under which they are mounted. ext2 and ext3 have the number of ext4,
/// because its driver also serves them.
const KINDS: [(u32, &str); 17] = [
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x0000_ef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x794c_7630, "overlay"),
    (0xf2f5_2010, "f2fs"),
    (0x2fc1_2fc1, "zfs"),
    (0x0000_4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs3"),
    (0xca45_1a4e, "bcachefs"),
    (0x6573_5546, "fuse"),
    (0x0000_6969, "nfs"),
    (0x0102_1997, "9p"),
    (0xfe53_4d42, "cifs"),
    (0x1980_0202, "mqueue"),
];

/// Returns the name of the directory's file system, for example `ext4`; its number in hexadecimal if this module has no name for
/// it.
///
/// # Errors
/// Returns an error if the directory does not exist or may not be looked up.
pub fn kind(folder: &Path) -> io::Result<String> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    let mut status = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `path` is NUL-terminated, and the kernel fills one statfs, for which zeroes are a valid value.
    let status = unsafe {
        check(libc::statfs(path.as_ptr(), status.as_mut_ptr()))?;
        status.assume_init()
    };
    Ok(kind_named(&status))
}

fn kind_named(status: &libc::statfs) -> String {
    // All the kernel's numbers have 32 bits; the type of the field differs between architectures.
    let number = status.f_type as u32;
    let known = KINDS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("file system {number:#x}"), |(_, name)| (*name).to_owned())
}

/// Returns the name of the file system of an open file, like [`kind`].
///
/// # Errors
/// Returns an error if it may not be looked up.
pub fn kind_of_open(file: BorrowedFd<'_>) -> io::Result<String> {
    let mut status = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the kernel fills one statfs, for which zeroes are a valid value.
    let status = unsafe {
        check(libc::fstatfs(file.as_raw_fd(), status.as_mut_ptr()))?;
        status.assume_init()
    };
    Ok(kind_named(&status))
}

/// Returns whether a file system of this kind keeps its files only in memory.
pub fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_system::read_text;

    #[test]
    fn nothing_that_is_read_is_waited_for_or_has_no_end() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let name = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: `name` is NUL-terminated.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(read_text(&fifo, 10).unwrap(), "");
        assert_eq!(open_own_file(&fifo).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read_text("/dev/zero".as_ref(), 10).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "0123456789").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_text(&link, 10).unwrap(), "0123456789");
        assert!(open_own_file(&file).is_ok() && open_own_file(&link).is_err());
    }

    #[test]
    fn memory_is_told_from_other_file_systems() {
        assert!(is_memory(&kind("/dev/shm".as_ref()).unwrap()));
        assert!(!is_memory(&kind("/proc".as_ref()).unwrap()));
        assert_eq!(kind("/no/such/folder".as_ref()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

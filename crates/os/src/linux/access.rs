//! Owner of a file and rights of this process, without opening the file: opening a device can change it.

use crate::error::check;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Owner and mode of a file, as its file system reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// Permission bits, as in `0o660`.
    pub mode: u32,
    /// UID of the owner.
    pub user: u32,
    /// GID of the group.
    pub group: u32,
    /// Whether it is a character device.
    pub is_character_device: bool,
}

/// Returns the ownership of the file at `path`; follows links.
///
/// # Errors
/// Returns an error if the file does not exist, or if a directory of the path may not be searched.
pub fn ownership(path: &Path) -> io::Result<Ownership> {
    let file = fs::metadata(path)?;
    Ok(Ownership {
        mode: file.mode() & 0o7777,
        user: file.uid(),
        group: file.gid(),
        is_character_device: file.file_type().is_char_device(),
    })
}

/// Returns whether the effective user may read and write the file; `false` also if it does not exist.
pub fn may_read_and_write(path: &Path) -> bool {
    may(path, libc::R_OK | libc::W_OK)
}

/// Returns whether the effective user may execute the file; `false` also if it is a directory or does not exist.
pub fn may_execute(path: &Path) -> bool {
    path.is_file() && may(path, libc::X_OK)
}

fn may(path: &Path, rights: i32) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path is NUL-terminated, and nothing is written.
    check(unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), rights, libc::AT_EACCESS) }).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::identity;

    #[test]
    fn rights_are_those_of_the_file() {
        assert!(may_read_and_write("/dev/null".as_ref()));
        for none in ["/dev/no such device", "", "/dev/null\0"] {
            assert!(!may_read_and_write(none.as_ref()), "{none}");
        }
        // Root may read and write files that no other user may.
        assert_eq!(may_read_and_write("/etc/passwd".as_ref()), identity::user() == 0);
        assert!(may_execute("/bin/sh".as_ref()) && !may_execute("/etc/passwd".as_ref()));
        assert!(!may_execute("/".as_ref()) && !may_execute("/bin/no such program".as_ref()));
    }

    #[test]
    fn an_owner_is_that_of_the_file() {
        let null = ownership("/dev/null".as_ref()).unwrap();
        assert!(null.is_character_device && null.mode & 0o600 == 0o600, "{null:?}");
        let file = ownership("/etc/passwd".as_ref()).unwrap();
        assert_eq!(file, Ownership { mode: 0o644, user: 0, group: 0, is_character_device: false });
        assert!(ownership("/dev/no such device".as_ref()).is_err());
    }
}

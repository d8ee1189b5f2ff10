//! What this process may do with a file, without opening it: opening a device can change it.

use crate::error::check;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether its mode lets the effective user read and write the file; `false` also where there is none.
pub fn may_read_and_write(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let rights = libc::R_OK | libc::W_OK;
    // SAFETY: the path is NUL-terminated, and nothing is written.
    check(unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), rights, libc::AT_EACCESS) }).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity;

    #[test]
    fn rights_are_those_of_the_file() {
        assert!(may_read_and_write("/dev/null".as_ref()));
        for none in ["/dev/no such device", "", "/dev/null\0"] {
            assert!(!may_read_and_write(none.as_ref()), "{none}");
        }
        // Root may read and write what nobody else may.
        assert_eq!(may_read_and_write("/etc/passwd".as_ref()), identity::user() == 0);
    }
}

//! Landlock: a process forbids itself access to files, and to other processes, for the rest of its life.

use crate::error::{Context, check};
use crate::linux::handle::own;
use crate::linux::seccomp::set_no_new_privileges;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::ptr;

/// Attributes of a ruleset (`linux/landlock.h`): rights that are forbidden except by a rule.
#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scopes: u64,
}

/// Rule for all files beneath a directory.
#[repr(C, packed)]
struct BeneathDirectory {
    allowed: u64,
    directory: RawFd,
}

/// Flag of `landlock_create_ruleset` that returns the version of the interface.
const VERSION: u32 = 1;
/// Kind of a rule for a directory.
const BENEATH: libc::c_int = 1;
/// Rights to files that each version of the interface knows, from version 1 on.
const FILE_RIGHTS: [u32; 5] = [13, 14, 15, 15, 16];
/// First version with rights to TCP ports, and both rights.
const NETWORK: (i64, u64) = (4, 0b11);
/// First version that separates abstract sockets and signals, and both scopes.
const SCOPES: (i64, u64) = (6, 0b11);

/// Forbids this process everything that the kernel's Landlock knows, except access to files beneath `directory`. Descriptors that
/// are open stay usable. The process must have one thread.
///
/// # Errors
/// Returns `Unsupported` if the kernel has no Landlock or it is switched off.
pub fn allow_only(directory: &Path) -> io::Result<()> {
    // SAFETY: with this flag, the kernel reads no attributes.
    let version = check(unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<Ruleset>(), 0_usize, VERSION)
    })
    .map_err(|error| {
        io::Error::new(io::ErrorKind::Unsupported, format!("landlock_create_ruleset: {error}"))
    })?;
    let since = |(first, rights): (i64, u64)| if version >= first { rights } else { 0 };
    let known = FILE_RIGHTS[(version.max(1) as usize - 1).min(FILE_RIGHTS.len() - 1)];
    let attributes = Ruleset { files: (1 << known) - 1, network: since(NETWORK), scopes: since(SCOPES) };
    // SAFETY: the kernel reads the structure, whose size it gets. Fields that it does not know are zero.
    let ruleset = check(unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size_of::<Ruleset>(), 0)
    })
    // SAFETY: the new descriptor has no other owner.
    .map(|number| unsafe { own(number as RawFd) })
    .context(|| "landlock_create_ruleset")?;
    let opened = File::open(directory).context(|| format!("open {}", directory.display()))?;
    let rule = BeneathDirectory { allowed: attributes.files, directory: opened.as_raw_fd() };
    // SAFETY: the kernel reads the rule; both descriptors are open.
    check(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), BENEATH, &raw const rule, 0)
    })
    .context(|| "landlock_add_rule")?;
    set_no_new_privileges()?;
    // SAFETY: plain integers; the descriptor is open.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
        .map(drop)
        .context(|| "landlock_restrict_self")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::attempt::attempt;
    use furlong_testing::skip;

    #[test]
    fn only_the_directory_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        std::fs::write(&inside, "text").unwrap();
        let denied =
            |path: &Path| std::fs::read(path).is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
        let done = attempt(|| {
            allow_only(folder.path())?;
            assert!(!denied(&inside) && denied(Path::new("/proc/self/stat")));
            Ok(())
        });
        match done {
            Err(error) if error.to_string().starts_with("landlock_create_ruleset") => skip!("needs Landlock"),
            done => done.unwrap(),
        }
    }
}

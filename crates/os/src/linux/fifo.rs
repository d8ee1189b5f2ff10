//! Named pipes.

use crate::error::{Context, check};
use crate::linux::handle::{own, set_non_blocking};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Creates a FIFO at `path`, opens both ends and removes the name again.
pub fn fifo(path: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    create(path)?;
    let ends = open(path);
    std::fs::remove_file(path)?;
    ends
}

/// Creates a FIFO at `path`, which must not exist yet and is not removed.
pub fn create(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `name` is NUL-terminated.
    check(unsafe { libc::mkfifo(name.as_ptr(), 0o600) })
        .map(drop)
        .context(|| format!("mkfifo {}", path.display()))
}

/// Opens both ends of an existing FIFO: the reading end, then the writing one.
pub fn open(path: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    open_ends(&name).context(|| format!("open FIFO {}", path.display()))
}

/// Opens the reading end first and without blocking, because no writer can exist yet to wait for.
fn open_ends(name: &CString) -> io::Result<(OwnedFd, OwnedFd)> {
    let open = |flags| {
        // SAFETY: `name` is NUL-terminated, and the new descriptor has no other owner.
        check(unsafe { libc::open(name.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NOFOLLOW) })
            .map(|number| unsafe { own(number) })
    };
    let reader = open(libc::O_RDONLY | libc::O_NONBLOCK)?;
    let writer = open(libc::O_WRONLY)?;
    set_non_blocking(reader.as_fd(), false)?;
    Ok((reader, writer))
}

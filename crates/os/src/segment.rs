//! Objects that memory can be mapped from: POSIX shared memory, memfd, plain files.

use crate::{descriptor::own, error::{check, check_number, Context}};
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A POSIX shared memory object of `len` bytes whose name is gone again when this returns.
pub fn posix_shm(name: &str, len: usize) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: `path` is NUL-terminated, and the new number is owned by nobody.
    let fd = check(unsafe { libc::shm_open(path.as_ptr(), flags, 0o600) })
        .map(|number| unsafe { own(number) })
        .context(|| format!("shm_open /{name}"))?;
    // SAFETY: as above.
    check(unsafe { libc::shm_unlink(path.as_ptr()) }).context(|| format!("shm_unlink /{name}"))?;
    reserve(fd, len).context(|| format!("reserve {len} bytes in /dev/shm"))
}

/// An anonymous memory object of `len` bytes; `name` shows in /proc alone.
pub fn memfd(name: &str, len: usize) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: `name` is NUL-terminated, and the new number is owned by nobody.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .context(|| "memfd_create")?;
    reserve(fd, len).context(|| format!("reserve {len} bytes in a memfd"))
}

/// A new file of `len` bytes in `folder`, whose name is gone again when this returns.
pub fn file(folder: &Path, name: &str, len: usize) -> io::Result<OwnedFd> {
    let path = folder.join(name);
    let fd: OwnedFd = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&path)
        .context(|| format!("create {}", path.display()))?
        .into();
    std::fs::remove_file(&path).context(|| format!("remove {}", path.display()))?;
    reserve(fd, len).context(|| format!("reserve {len} bytes in {}", folder.display()))
}

/// Takes the space now. A file that is only lengthened kills whoever touches it once the disk is full.
fn reserve(fd: OwnedFd, len: usize) -> io::Result<OwnedFd> {
    let len = libc::off_t::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: no memory is involved.
    check_number(unsafe { libc::posix_fallocate(fd.as_fd().as_raw_fd(), 0, len) })?;
    Ok(fd)
}

/// How long the object is.
pub(crate) fn size_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel fills one stat, for which zeroes are a valid value.
    let status = unsafe {
        check(libc::fstat(fd.as_raw_fd(), status.as_mut_ptr()))?;
        status.assume_init()
    };
    Ok(status.st_size as u64)
}

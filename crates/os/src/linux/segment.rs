//! Objects that can be mapped as memory: POSIX shared memory, memfd, plain files.

use crate::error::{Context, check, check_number};
use crate::linux::available_memory::available_bytes;
use crate::linux::file_system::{is_memory, kind_of_open};
use crate::linux::handle::{own, write};
use crate::linux::limited::LimitContext;
use crate::linux::page_kind::{self, NOT_IN_EFFECT};
use furlong_model::PageKind;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Creates a POSIX shared memory object of `len` bytes, and removes its name before it returns.
pub fn posix_shm(name: &str, len: usize) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    let fd = shm_open(name, libc::O_CREAT | libc::O_EXCL)?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::shm_unlink(path.as_ptr()) }).context(|| format!("shm_unlink /{name}"))?;
    reserve(fd, len).context(|| "reserve memory in /dev/shm")
}

/// Creates a POSIX shared memory object of `len` bytes, which exists until it is [removed](remove_posix_shm).
pub fn named_posix_shm(name: &str, len: usize) -> io::Result<OwnedFd> {
    let fd = shm_open(name, libc::O_CREAT | libc::O_EXCL)?;
    reserve(fd, len).context(|| "reserve memory in /dev/shm")
}

/// Opens an existing POSIX shared memory object by its name.
pub fn open_posix_shm(name: &str) -> io::Result<OwnedFd> {
    shm_open(name, 0)
}

fn shm_open(name: &str, flags: libc::c_int) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    let flags = libc::O_RDWR | libc::O_CLOEXEC | flags;
    // SAFETY: `path` is NUL-terminated, and the new descriptor has no other owner.
    check(unsafe { libc::shm_open(path.as_ptr(), flags, 0o600) })
        .map(|number| unsafe { own(number) })
        .context(|| format!("shm_open /{name}"))
}

/// Removes a POSIX shared memory object by its name, if it exists.
pub fn remove_posix_shm(name: &str) {
    if let Ok(path) = CString::new(format!("/{name}")) {
        // SAFETY: `path` is NUL-terminated.
        unsafe { libc::shm_unlink(path.as_ptr()) };
    }
}

/// Creates a memory object of `len` bytes for mapping, without a name that can be opened; `name` is shown to an observer of the
/// process. Without memfds, the object is a file in the directory for temporary files.
///
/// # Errors
/// Returns an error if neither is available.
pub fn anonymous_object(name: &str, len: usize) -> io::Result<OwnedFd> {
    memfd(name, len).or_else(|error| match error.kind() {
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => temporary_file(name, len),
        _ => Err(error),
    })
}

/// Checks whether [`anonymous_object`] returns memory.
///
/// # Errors
/// Returns the reason if there are no memfds.
pub fn has_anonymous_objects() -> io::Result<()> {
    memfd("furlong-probe", 1).map(drop)
}

/// Creates a file of `len` bytes without a name in the directory for temporary files.
fn temporary_file(name: &str, len: usize) -> io::Result<OwnedFd> {
    let folder = std::env::temp_dir();
    nameless_file(None, &folder, len).or_else(|_| {
        let name = format!("{name}-{:016x}", crate::linux::identity::random()?);
        unnamed_file(&folder, &name, len)
    })
}

/// Creates an object for writing as a file, without a name that can be opened; `name` is shown to an observer of the process.
///
/// # Errors
/// Returns the errors of [`anonymous_object`].
pub fn text_object(name: &str) -> io::Result<OwnedFd> {
    anonymous_object(name, 1)
}

/// Creates an anonymous memory object of `len` bytes; `name` is shown only in /proc.
pub fn memfd(name: &str, len: usize) -> io::Result<OwnedFd> {
    let fd = empty_memfd(name, 0).context(|| "memfd_create")?;
    reserve(fd, len).context(|| "reserve memory in a memfd")
}

/// Creates an anonymous memory object of at least `len` bytes, in pages of this kind if one is requested.
///
/// # Errors
/// Returns [`NOT_IN_EFFECT`] if the kernel has no such pages.
pub fn backed_memfd(name: &str, len: usize, kind: Option<PageKind>) -> io::Result<OwnedFd> {
    let len = page_kind::rounded(len, kind)?;
    match kind {
        Some(PageKind::Huge) => huge_memfd(name, len).context(|| NOT_IN_EFFECT),
        _ => memfd(name, len),
    }
}

/// Creates an empty anonymous memory object, with `flags` in addition to close-on-exec.
fn empty_memfd(name: &str, flags: libc::c_uint) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: `name` is NUL-terminated, and the new descriptor has no other owner.
    check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | flags) })
        .map(|number| unsafe { own(number) })
}

/// Creates an anonymous memory object of `len` bytes that never grows: writes beyond its end fail.
pub fn bounded_object(name: &str, len: usize) -> io::Result<OwnedFd> {
    let fd = empty_memfd(name, libc::MFD_ALLOW_SEALING).context(|| "memfd_create")?;
    File::from(fd.try_clone()?).set_len(len as u64).limited("file")?;
    let seals = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: F_ADD_SEALS takes a plain integer.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) }).context(|| "seal a memfd")?;
    Ok(fd)
}

/// Creates a memory object with these bytes that is immutable: neither its content nor its length can change.
#[inline]
pub fn sealed_object(bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = object_with(bytes)?;
    // SAFETY: F_ADD_SEALS takes a plain integer.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, ALL_SEALS) })?;
    Ok(fd)
}

/// Creates a memory object with these bytes.
#[inline]
pub fn object_with(bytes: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a NUL-terminated literal, and the new descriptor has no other owner.
    let fd = check(unsafe {
        libc::memfd_create(c"message".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING)
    })
    .map(|number| unsafe { own(number) })?;
    let mut written = 0;
    while written < bytes.len() {
        written += write(fd.as_fd(), &bytes[written..])?;
    }
    Ok(fd)
}

/// Returns the length of an immutable memory object, in bytes.
///
/// # Errors
/// Returns `PermissionDenied` if a process can change the object: it must not be mapped, and may change while it is read.
#[inline]
pub fn sealed_bytes(fd: BorrowedFd<'_>) -> io::Result<usize> {
    // SAFETY: F_GET_SEALS takes nothing and gives a plain integer.
    let seals = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) })?;
    if seals & ALL_SEALS != ALL_SEALS {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the object is not sealed"));
    }
    length(fd)
}

/// Returns the length of a memory object through `lseek`, as for any file.
#[inline]
pub fn length(fd: BorrowedFd<'_>) -> io::Result<usize> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::lseek(fd.as_raw_fd(), 0, libc::SEEK_END) }).map(|length| length as usize)
}

/// Seals that make an object immutable.
const ALL_SEALS: libc::c_int =
    libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;

/// Creates a file of `len` bytes in `folder`, and removes its name before it returns.
pub fn unnamed_file(folder: &Path, name: &str, len: usize) -> io::Result<OwnedFd> {
    let path = folder.join(name);
    let fd = open_file(&path, true)?;
    std::fs::remove_file(&path).context(|| format!("remove {}", path.display()))?;
    reserve(fd, len).context(|| format!("reserve room in {}", folder.display()))
}

/// Creates a file of `len` bytes at `path`, which must not exist yet and is not removed.
pub fn named_file(path: &Path, len: usize) -> io::Result<OwnedFd> {
    reserve(open_file(path, true)?, len).context(|| format!("reserve room for {}", path.display()))
}

/// Opens a file for reading and writing; a `new` one must not exist yet.
pub fn open_file(path: &Path, new: bool) -> io::Result<OwnedFd> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(new)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map(OwnedFd::from)
        .context(|| format!("{} {}", if new { "create" } else { "open" }, path.display()))
}

/// Creates a file of `len` bytes in the directory `path` that never has a name; a relative `path` starts at `base`.
///
/// # Errors
/// Returns `Unsupported` if the file system does not support such files; `StorageFull` if it has no room.
pub fn nameless_file(base: Option<BorrowedFd<'_>>, path: &Path, len: usize) -> io::Result<OwnedFd> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let base = base.map_or(libc::AT_FDCWD, |base| base.as_raw_fd());
    let flags = libc::O_RDWR | libc::O_TMPFILE | libc::O_CLOEXEC;
    // SAFETY: `name` is NUL-terminated, and the new descriptor has no other owner.
    let fd = check(unsafe { libc::openat(base, name.as_ptr(), flags, 0o600) })
        .map(|number| unsafe { own(number) })
        .context(|| format!("create a nameless file (O_TMPFILE) in {}", path.display()))?;
    reserve(fd, len).context(|| format!("reserve room in {}", path.display()))
}

/// Returns the text that a process has written into a memory object, up to `most` bytes. Text that cannot be read counts as not
/// written.
pub fn written_text(object: BorrowedFd<'_>, most: u64) -> String {
    let mut text = String::new();
    if let Ok(object) = object.try_clone_to_owned() {
        let mut file = File::from(object);
        let _ = file.rewind().and_then(|()| file.take(most).read_to_string(&mut text));
    }
    text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
}

/// Creates an anonymous memory object of `len` bytes in huge pages, a multiple of their size. None of its pages exists yet;
/// mapping it reserves all of them.
///
/// # Errors
/// Returns `NotFound` if the kernel has no huge pages.
pub fn huge_memfd(name: &str, len: usize) -> io::Result<OwnedFd> {
    let fd = empty_memfd(name, libc::MFD_HUGETLB).context(|| "memfd_create with MFD_HUGETLB")?;
    let wanted = libc::off_t::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), wanted) })
        .limited("file")
        .context(|| format!("give {len} bytes to a memfd"))?;
    Ok(fd)
}

/// Checks whether this user may create files in `folder`.
pub fn can_create_in(folder: &Path) -> io::Result<()> {
    let name = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: `name` is NUL-terminated.
    check(unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) }).map(drop)
}

/// Allocates the space now, because otherwise access to a page of the file kills the process once the disk is full.
fn reserve(fd: OwnedFd, len: usize) -> io::Result<OwnedFd> {
    let wanted = libc::off_t::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // Checked first, because the kernel would fill the file system before the call fails.
    if let Some(free) = free_bytes(fd.as_fd()).filter(|free| *free < len as u64) {
        return Err(io::Error::from_raw_os_error(libc::ENOSPC))
            .context(|| format!("{len} bytes are needed, {free} are free"));
    }
    ensure_memory(fd.as_fd(), len)?;
    // SAFETY: no memory is involved.
    let reserved = check_number(unsafe { libc::posix_fallocate(fd.as_raw_fd(), 0, wanted) });
    // If the kernel or a filter has no such call, the space is allocated by writing.
    let reserved = reserved.or_else(|error| match error.kind() {
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => fill(fd.as_fd(), len),
        _ => Err(error),
    });
    reserved.limited("file").context(|| match free_bytes(fd.as_fd()) {
        Some(free) => format!("{len} bytes are needed, {free} are free"),
        None => format!("{len} bytes are needed"),
    })?;
    Ok(fd)
}

/// Refuses a size for which there is no memory: the kernel would kill processes to find it, this one or others.
fn ensure_memory(fd: BorrowedFd<'_>, len: usize) -> io::Result<()> {
    /// Smaller objects are not checked, because the check takes a moment.
    const LARGE: usize = 1 << 20;
    if len < LARGE || !is_memory(&kind_of_open(fd)?) {
        return Ok(());
    }
    match available_bytes() {
        Some(available) if available < len as u64 => Err(io::Error::from_raw_os_error(libc::ENOMEM))
            .context(|| format!("{len} bytes of memory are needed, {available} are available")),
        _ => Ok(()),
    }
}

/// Writes zeroes over the first `len` bytes.
fn fill(fd: BorrowedFd<'_>, len: usize) -> io::Result<()> {
    static ZEROES: [u8; 1 << 16] = [0; 1 << 16];
    let file = File::from(fd.try_clone_to_owned()?);
    let mut at = 0;
    while at < len {
        let part = &ZEROES[..ZEROES.len().min(len - at)];
        file.write_all_at(part, at as u64)?;
        at += part.len();
    }
    Ok(())
}

/// Returns the free bytes of the object's file system.
fn free_bytes(fd: BorrowedFd<'_>) -> Option<u64> {
    let mut status = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the kernel fills one statvfs, for which zeroes are a valid value.
    let status = unsafe {
        check(libc::fstatvfs(fd.as_raw_fd(), status.as_mut_ptr())).ok()?;
        status.assume_init()
    };
    // A file system without a size, for example that of a memfd, reports no free bytes.
    (status.f_blocks > 0).then_some(status.f_bavail * status.f_frsize)
}

/// Returns the length of the object, in bytes.
pub(crate) fn size_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel fills one stat, for which zeroes are a valid value.
    let status = unsafe {
        check(libc::fstat(fd.as_raw_fd(), status.as_mut_ptr()))?;
        status.assume_init()
    };
    Ok(status.st_size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_by_writing_where_there_is_no_call_for_it() {
        let fd = empty_memfd("filled", 0).unwrap();
        fill(fd.as_fd(), (1 << 16) + 5).unwrap();
        assert_eq!(size_bytes(fd.as_fd()).unwrap(), (1 << 16) + 5);
    }

    #[test]
    fn a_temporary_file_has_no_name_and_takes_bytes() {
        let fd = temporary_file("furlong-segment-test", 100).unwrap();
        assert_eq!(size_bytes(fd.as_fd()).unwrap(), 100);
        let named = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let named = named.filter(|entry| entry.file_name().to_string_lossy().contains("segment-test"));
        assert_eq!(named.count(), 0);
    }
}

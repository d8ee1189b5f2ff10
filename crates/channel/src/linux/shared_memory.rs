//! The memory that both ends share: a memfd that is sealed against shrinking.

use crate::error::{Error, Result};
use crate::linux::return_value::{self, own};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A memory object that can be mapped.
pub(crate) type Object<'a> = BorrowedFd<'a>;

/// Creates anonymous memory of `len` bytes, zeroed and sealed so that its size cannot change.
pub(crate) fn new(len: usize) -> io::Result<OwnedFd> {
    let memory = new_unsealed(len)?;
    seal(memory.as_fd(), SEALS)?;
    Ok(memory)
}

/// Seals memory against size changes and against new writable mappings. Existing mappings stay writable.
#[cfg(feature = "broadcast")]
pub(crate) fn seal_for_readers(memory: Object<'_>) -> io::Result<()> {
    seal(memory, SEALS | libc::F_SEAL_FUTURE_WRITE)
}

/// Adds seals, including the one that forbids further seals.
fn seal(memory: Object<'_>, seals: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory of ours is involved.
    return_value::check(unsafe {
        libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals | libc::F_SEAL_SEAL)
    })
    .map(drop)
}

/// Creates anonymous memory of `len` bytes, zeroed, that the caller can seal.
pub(crate) fn new_unsealed(len: usize) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is NUL-terminated.
    let memory = own(return_value::check(unsafe { libc::memfd_create(c"furlong-channel".as_ptr(), flags) })?);
    let len = libc::off_t::try_from(len).map_err(io::Error::other)?;
    // SAFETY: no memory of ours is involved.
    return_value::check(unsafe { libc::ftruncate(memory.as_raw_fd(), len) })?;
    Ok(memory)
}

/// With these seals every mapped byte stays accessible. An access beyond the end of a shrunken file would raise SIGBUS.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Checks that a descriptor from another process is memory of exactly `len` bytes, sealed against size changes.
pub(crate) fn check(memory: Object<'_>, len: usize) -> Result<()> {
    check_without(memory, len, libc::F_SEAL_WRITE | libc::F_SEAL_FUTURE_WRITE)
}

/// Checks the size and the seals of memory that this process only reads.
#[cfg(feature = "broadcast")]
pub(crate) fn check_readable(memory: Object<'_>, len: usize) -> Result<()> {
    check_without(memory, len, 0)
}

fn check_without(memory: Object<'_>, len: usize, unwanted: libc::c_int) -> Result<()> {
    let number = memory.as_raw_fd();
    // SAFETY: no memory of ours is involved.
    let seals = unsafe { libc::fcntl(number, libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS || seals & unwanted != 0 {
        return Err(Error::Corrupt("the memory lacks the required seals"));
    }
    // Pages of other file systems may run out at any access.
    let mut system = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: there is room for the answer, and it is read only where the call has written it.
    let kind = unsafe {
        return_value::check(libc::fstatfs(number, system.as_mut_ptr()))?;
        system.assume_init().f_type
    };
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as above.
    let size = unsafe {
        return_value::check(libc::fstat(number, status.as_mut_ptr()))?;
        status.assume_init().st_size
    };
    if kind != libc::TMPFS_MAGIC || usize::try_from(size) != Ok(len) {
        return Err(Error::Corrupt("the memory has the wrong size or kind"));
    }
    Ok(())
}

/// Maps `len` bytes of memory that is at least as long, and allocates all pages at once.
pub(crate) fn map(memory: Object<'_>, len: usize) -> io::Result<*mut u8> {
    map_with(memory, len, libc::PROT_READ | libc::PROT_WRITE)
}

/// Maps `len` bytes of memory that is at least as long, read-only.
#[cfg(feature = "broadcast")]
pub(crate) fn map_for_reading(memory: Object<'_>, len: usize) -> io::Result<*mut u8> {
    map_with(memory, len, libc::PROT_READ)
}

fn map_with(memory: Object<'_>, len: usize, access: libc::c_int) -> io::Result<*mut u8> {
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: the kernel chooses the address, so nothing of ours is replaced.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, memory.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Removes a mapping.
///
/// # Safety
/// The mapping was made by [`map`] or `map_for_reading` with this length, and nothing uses it any more.
pub(crate) unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::munmap(start.cast(), len) };
}

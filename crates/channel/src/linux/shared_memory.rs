//! Memory that both ends share: a memfd that is sealed against shrinking.

use crate::error::{Error, Result};
use crate::linux::return_value::{self, own};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// What memory is mapped from.
pub(crate) type Object<'a> = BorrowedFd<'a>;

/// Anonymous memory of `len` bytes, zeroed, whose size nobody can change any more.
pub(crate) fn new(len: usize) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is NUL-terminated.
    let memory = own(return_value::check(unsafe { libc::memfd_create(c"furlong-channel".as_ptr(), flags) })?);
    let len = libc::off_t::try_from(len).map_err(io::Error::other)?;
    // SAFETY: no memory of ours is involved.
    return_value::check(unsafe { libc::ftruncate(memory.as_raw_fd(), len) })?;
    // SAFETY: as above.
    return_value::check(unsafe {
        libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, SEALS | libc::F_SEAL_SEAL)
    })?;
    Ok(memory)
}

/// Who holds these can touch every byte for ever: what lies beyond the end of a file kills who touches it.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Whether a descriptor that came from another process is memory of exactly `len` bytes that stays so.
pub(crate) fn check(memory: Object<'_>, len: usize) -> Result<()> {
    let number = memory.as_raw_fd();
    // SAFETY: no memory of ours is involved.
    let seals = unsafe { libc::fcntl(number, libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS || seals & (libc::F_SEAL_WRITE | libc::F_SEAL_FUTURE_WRITE) != 0 {
        return Err(Error::Corrupt("the memory is not sealed as it must be"));
    }
    // Pages of other kinds may run out at any touch.
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
        return Err(Error::Corrupt("the memory has another size or kind"));
    }
    Ok(())
}

/// Maps `len` bytes of memory that is at least so long, and takes all pages at once.
pub(crate) fn map(memory: Object<'_>, len: usize) -> io::Result<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: the kernel chooses the address, so nothing of ours is replaced.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, memory.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Gives a mapping back.
///
/// # Safety
/// It was made by [`map`] with this length, and nobody uses it any more.
pub(crate) unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::munmap(start.cast(), len) };
}

//! Handles, which are file descriptors on Linux: reading, writing, passing on.

use crate::error::{Context, check, retry};
use crate::handle::AsHandle;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};

pub use std::os::fd::{BorrowedFd as BorrowedHandle, OwnedFd as Handle, RawFd as RawHandle};

impl<T: AsFd + ?Sized> AsHandle for T {
    #[inline]
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.as_fd()
    }
}

/// Returns the number of a handle.
#[inline]
pub(crate) fn number(handle: BorrowedHandle<'_>) -> RawHandle {
    handle.as_raw_fd()
}

/// Makes one `read` call. 0 is the end: all writers have closed their end.
#[inline]
pub fn read(fd: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes into a buffer that we hold exclusively.
    retry(|| unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) })
        .map(|count| count as usize)
}

/// Makes one `write` call, which may write fewer bytes.
#[inline]
pub fn write(fd: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel only reads `bytes`.
    retry(|| unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
        .map(|count| count as usize)
}

/// Makes one `close` call. Dropping a handle may make another call, because the standard library can check whether the handle is
/// open.
#[inline]
pub fn close(handle: Handle) {
    // SAFETY: the number was owned by the handle, which is given up.
    unsafe { libc::close(handle.into_raw_fd()) };
}

/// Sets whether calls return `WouldBlock` instead of waiting.
pub fn set_non_blocking(fd: BorrowedHandle<'_>, non_blocking: bool) -> io::Result<()> {
    // SAFETY: F_GETFL and F_SETFL take and give plain integers.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    let wanted = if non_blocking { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, wanted) }).map(drop)
}

/// Returns the inherited descriptor with this number as a handle, which is closed on exec from now on.
///
/// # Errors
/// Returns `InvalidInput` if no such descriptor is open.
pub fn inherit(number: RawHandle) -> io::Result<Handle> {
    // SAFETY: F_SETFD takes a plain integer; on a closed number it fails with EBADF.
    check(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) }).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} is not open"))
    })?;
    // SAFETY: the descriptor is open, and the order that named it gives it to us alone.
    Ok(unsafe { Handle::from_raw_fd(number) })
}

/// Opens /dev/null. If it does not exist, for example in a bare chroot, opens an empty memory object instead. A reader of the
/// object gets the end of the file, and the object stores written data until it is closed.
pub fn open_null() -> io::Result<File> {
    let opened = OpenOptions::new().read(true).write(true).open("/dev/null").context(|| "open /dev/null");
    opened.or_else(|error| {
        // SAFETY: the name is a NUL-terminated literal, and the new descriptor has no other owner.
        let object = check(unsafe { libc::memfd_create(c"null".as_ptr(), libc::MFD_CLOEXEC) });
        // SAFETY: as above.
        object.map(|number| File::from(unsafe { own(number) })).map_err(|_| error)
    })
}

/// Closes every descriptor above 2 except those in `keep`. For a fresh child only, because it ignores the owners of the
/// descriptors.
pub(crate) fn close_all_but(keep: &mut [RawHandle]) {
    keep.sort_unstable();
    let mut from: libc::c_uint = 3;
    for &number in keep.iter().filter(|number| **number > 2) {
        let number = number as libc::c_uint;
        if number > from {
            close_range(from, number - 1);
        }
        from = number + 1;
    }
    close_range(from, libc::c_uint::MAX);
}

/// Closes the descriptors `first..=last`, also if the kernel (before 5.9) or a filter does not provide `close_range`.
fn close_range(first: libc::c_uint, last: libc::c_uint) {
    // SAFETY: only numbers are passed; called in a fresh child, whose owners of these descriptors never run.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    // SAFETY: no memory is involved.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) }.clamp(256, 1 << 20) as libc::c_uint;
    for number in first..=last.min(limit) {
        // SAFETY: as above.
        unsafe { libc::close(number as RawHandle) };
    }
}

/// Keeps the descriptor open on exec. For a fresh child only.
pub(crate) fn keep_on_exec(number: RawHandle) {
    // SAFETY: F_SETFD takes a plain integer.
    unsafe { libc::fcntl(number, libc::F_SETFD, 0) };
}

/// Returns the owner of a descriptor that a system call has just created.
///
/// # Safety
/// `number` must be open and have no other owner.
pub(crate) unsafe fn own(number: RawHandle) -> Handle {
    // SAFETY: the caller's promise.
    unsafe { Handle::from_raw_fd(number) }
}

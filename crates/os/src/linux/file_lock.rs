//! Locks on files: `flock`, which an open file holds, and `fcntl`, which a process holds on bytes of a file.

use crate::error::{Context, check, retry};
use crate::linux::handle::own;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Opens the file of a descriptor again, so that each open file has separate locks.
pub fn open_again(file: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: `path` is NUL-terminated, and the new descriptor has no other owner.
    check(unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .context(|| "open a file again through /proc")
}

/// Locks the file exclusively for its open file; waits for the lock.
#[inline]
pub fn flock(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    retry(|| unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) }).map(drop)
}

/// Releases the lock of the open file.
#[inline]
pub fn flock_release(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) }).map(drop)
}

/// Locks one byte of the file exclusively for this process; waits for the lock.
///
/// # Errors
/// Returns `Deadlock` if this process would wait for one that waits for it.
#[inline]
pub fn lock_byte(file: BorrowedFd<'_>, at: i64) -> io::Result<()> {
    byte(file, at, libc::F_WRLCK)
}

/// Releases the lock of one byte.
#[inline]
pub fn unlock_byte(file: BorrowedFd<'_>, at: i64) -> io::Result<()> {
    byte(file, at, libc::F_UNLCK)
}

#[inline]
fn byte(file: BorrowedFd<'_>, at: i64, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: zeroes are a valid flock.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = at;
    lock.l_len = 1;
    // SAFETY: the kernel reads one flock.
    retry(|| unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLKW, &raw const lock) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::segment::unnamed_file;
    use crate::linux::test_child::TestChild;
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Checks that a child that requests a lock of this process gets it once it is released, and not before.
    fn is_handed_over(inherit: &[i32], take: impl Fn(), release: impl Fn()) {
        let child = TestChild::new(inherit, take);
        let released = AtomicBool::new(false);
        child.play(|| {
            // Released in the second millisecond, and only once: a child that did not wait is done before that.
            if !released.swap(true, Ordering::Relaxed) {
                release();
            }
        });
        assert!(released.load(Ordering::Relaxed), "it had the lock while we held it");
        child.end();
    }

    #[test]
    fn locks_are_waited_for() {
        let first = unnamed_file(&std::env::temp_dir(), "furlong-lock-test", 1).unwrap();
        let second = open_again(first.as_fd()).unwrap();
        let inherit = [first.as_raw_fd(), second.as_raw_fd()];
        flock(first.as_fd()).unwrap();
        is_handed_over(&inherit, || flock(second.as_fd()).unwrap(), || flock_release(first.as_fd()).unwrap());
        lock_byte(first.as_fd(), 1).unwrap();
        is_handed_over(
            &inherit,
            || lock_byte(first.as_fd(), 1).unwrap(),
            || unlock_byte(first.as_fd(), 1).unwrap(),
        );
    }
}

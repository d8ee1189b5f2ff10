//! Notification of writes to a file.

use crate::error::{check, retry};
use crate::linux::handle::own;
use crate::linux::limited::LimitContext;
use crate::linux::socket_diagnosis::device_number;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Creates a queue of events about writes to `file`.
pub fn watch_writes(file: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: plain integers in and out; the new descriptor has no other owner.
    let queue = check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .limited("inotify_init1")?;
    // The path goes through /proc, because the file may no longer have a name.
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::inotify_add_watch(queue.as_raw_fd(), path.as_ptr(), libc::IN_MODIFY) })
        .limited("inotify_add_watch")?;
    Ok(queue)
}

/// Writes a byte to the beginning of a file.
#[inline]
pub fn touch(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the kernel reads one byte.
    retry(|| unsafe { libc::pwrite(file.as_raw_fd(), c"w".as_ptr().cast(), 1, 0) }).map(drop)
}

/// Takes one event, and waits for it.
///
/// # Errors
/// Returns `UnexpectedEof` if no event can follow, because the file has no name and no process has it open.
#[inline]
pub fn take(queue: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: zeroes are a valid event.
    let mut event: libc::inotify_event = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the bytes of one event, and any bit pattern is valid for its fields.
    retry(|| unsafe {
        let to = (&raw mut event).cast();
        libc::read(queue.as_raw_fd(), to, size_of::<libc::inotify_event>())
    })?;
    if event.mask & libc::IN_IGNORED != 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Returns device, as in `st_dev`, and inode of each file or directory whose changes are queued to a descriptor of a process.
///
/// # Errors
/// Returns an error if the descriptor does not exist, or this user may not inspect the process.
pub fn watched(pid: i32, descriptor: i32) -> io::Result<Vec<(u64, u64)>> {
    Ok(std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}"))?
        .lines()
        .filter_map(watch)
        .collect())
}

/// Returns the file of a line such as `inotify wd:1 ino:2a sdev:100003 mask:2`, if writes to it are queued.
fn watch(line: &str) -> Option<(u64, u64)> {
    let fact = |name| {
        let value = line.split_whitespace().find_map(|fact| fact.strip_prefix(name));
        u64::from_str_radix(value?, 16).ok()
    };
    let (inode, device, mask) = (fact("ino:")?, fact("sdev:")?, fact("mask:")?);
    (mask & u64::from(libc::IN_MODIFY) != 0).then(|| (device_number(device as u32), inode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::file_status::file_status;
    use crate::linux::handle::set_non_blocking;
    use crate::linux::segment::unnamed_file;
    use std::os::fd::AsFd;
    use std::time::Duration;

    #[test]
    fn a_write_is_told_once() {
        let file = unnamed_file(&std::env::temp_dir(), "furlong-inotify-test", 1).unwrap();
        let queue = watch_writes(file.as_fd()).unwrap();
        set_non_blocking(queue.as_fd(), true).unwrap();
        assert_eq!(take(queue.as_fd()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        touch(file.as_fd()).unwrap();
        take(queue.as_fd()).unwrap();
        assert_eq!(take(queue.as_fd()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let status = file_status(format!("/proc/self/fd/{}", file.as_raw_fd()).as_ref()).unwrap();
        let found = watched(std::process::id() as i32, queue.as_raw_fd()).unwrap();
        assert_eq!(found, [(status.device, status.inode)]);
        assert_eq!(watch("inotify wd:1 ino:2a sdev:3 mask:100"), None);
        drop(file);
        // A child of a concurrent test may have it open for a moment.
        let ends = std::iter::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(1));
            take(queue.as_fd()).unwrap_err().kind()
        });
        let end = ends.take(10_000).find(|kind| *kind != io::ErrorKind::WouldBlock);
        assert_eq!(end, Some(io::ErrorKind::UnexpectedEof));
    }
}

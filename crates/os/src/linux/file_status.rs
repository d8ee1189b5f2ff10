//! Status of a file at a path, without opening it and without a request to the server of a network file system, which may not
//! answer.

use crate::error::check;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say everything")]
pub enum FileKind {
    Fifo,
    Socket,
    Regular,
    Directory,
    Other,
}

/// Status of a file, as `statx` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    #[expect(missing_docs, reason = "the name says everything")]
    pub kind: FileKind,
    /// Device number of its file system, as in `st_dev`.
    pub device: u64,
    /// Number within its file system.
    pub inode: u64,
    /// Permission bits, as in `0o660`. In /proc/PID/fd, `0o400` and `0o200` of a link show how its file was opened.
    pub mode: u32,
    /// Whether it belongs to the effective user of this process.
    pub is_own: bool,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Bytes that its file system has allocated, of memory or of a disk.
    pub allocated_bytes: u64,
    /// Creation time as Unix time in seconds; `None` if the file system does not store it.
    pub created_unix_s: Option<i64>,
    /// Time of the last access, modification and change as Unix time in nanoseconds, if the three are equal.
    pub untouched_since_unix_ns: Option<i128>,
}

/// Returns the status of the file at `path`; follows links.
///
/// # Errors
/// Returns an error if there is no such file, or this process may not search a directory of the path.
pub fn file_status(path: &Path) -> io::Result<FileStatus> {
    status(path, 0)
}

/// Returns the status of the file at `path`, or of the link if it is one.
///
/// # Errors
/// Returns an error if there is no such file, or this process may not search a directory of the path.
pub fn link_status(path: &Path) -> io::Result<FileStatus> {
    status(path, libc::AT_SYMLINK_NOFOLLOW)
}

/// Returns a device number, as in `st_dev`, from its two parts.
pub fn device(major: u64, minor: u64) -> u64 {
    libc::makedev(major as u32, minor as u32)
}

fn status(path: &Path, flags: libc::c_int) -> io::Result<FileStatus> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let flags = flags | libc::AT_STATX_DONT_SYNC | libc::AT_NO_AUTOMOUNT;
    let mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    // SAFETY: zeroes are a valid statx, the path is NUL-terminated, and the kernel fills one statx.
    let status = unsafe {
        let mut status: libc::statx = std::mem::zeroed();
        check(libc::statx(libc::AT_FDCWD, path.as_ptr(), flags, mask, &raw mut status))?;
        status
    };
    let ns = |time: libc::statx_timestamp| i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    let times = [status.stx_atime, status.stx_mtime, status.stx_ctime].map(ns);
    let kind = match u32::from(status.stx_mode) & libc::S_IFMT {
        libc::S_IFIFO => FileKind::Fifo,
        libc::S_IFSOCK => FileKind::Socket,
        libc::S_IFREG => FileKind::Regular,
        libc::S_IFDIR => FileKind::Directory,
        _ => FileKind::Other,
    };
    Ok(FileStatus {
        kind,
        device: libc::makedev(status.stx_dev_major, status.stx_dev_minor),
        inode: status.stx_ino,
        mode: u32::from(status.stx_mode) & 0o7777,
        // SAFETY: no memory is involved.
        is_own: status.stx_uid == unsafe { libc::geteuid() },
        size_bytes: status.stx_size,
        allocated_bytes: status.stx_blocks * 512,
        created_unix_s: (status.stx_mask & libc::STATX_BTIME != 0).then_some(status.stx_btime.tv_sec),
        untouched_since_unix_ns: (times[0] > 0 && times == [times[0]; 3]).then_some(times[0]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::pipe::pipe;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn status_is_that_of_stat() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        let (ours, expected) = (file_status(&path).unwrap(), std::fs::metadata(&path).unwrap());
        assert_eq!((ours.kind, ours.device, ours.inode), (FileKind::Regular, expected.dev(), expected.ino()));
        assert_eq!((ours.size_bytes, ours.allocated_bytes), (10_000, expected.blocks() * 512));
        assert!(ours.is_own);
        assert_eq!(file_status(folder.path()).unwrap().kind, FileKind::Directory);
        assert!(file_status(&folder.path().join("none")).is_err());
    }

    #[test]
    fn link_of_a_descriptor_shows_how_its_file_was_opened() {
        let (reader, writer) = pipe().unwrap();
        let path = |end: &std::os::fd::OwnedFd| format!("/proc/self/fd/{}", end.as_raw_fd());
        for (end, mode) in [(&reader, 0o400), (&writer, 0o200)] {
            assert_eq!(link_status(path(end).as_ref()).unwrap().mode & 0o600, mode);
            assert_eq!(file_status(path(end).as_ref()).unwrap().kind, FileKind::Fifo);
        }
        let [one, other] = [&reader, &writer].map(|end| file_status(path(end).as_ref()).unwrap());
        assert_eq!((one.device, one.inode), (other.device, other.inode));
    }
}

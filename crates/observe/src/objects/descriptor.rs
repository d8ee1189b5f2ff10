//! The IPC object behind a descriptor of a process.

use super::sockets::Sockets;
use crate::identity::{Access, ObjectId, ObjectKind};
use furlong_os::linux::file_status::{FileKind, FileStatus, file_status, link_status};
use furlong_os::linux::file_system;
use furlong_os::other_process::descriptors;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Use of an IPC object by one process, through a descriptor or a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectUse {
    /// Identity of the object.
    pub id: ObjectId,
    /// Name that the kernel prints for it, if it has one: a path, or the name of a memfd. It may contain any character.
    pub name: Option<String>,
    /// Use that the process makes of it.
    pub access: Access,
    /// Inode of the process's end, if the object is a socket.
    pub end: Option<u64>,
    /// Number of the descriptor; `None` for a mapping.
    pub descriptor: Option<i32>,
    /// Path in /proc that leads to the object.
    pub path: PathBuf,
    /// Offset of the end of a mapping in the object, in bytes; 0 for a descriptor.
    pub mapped_bytes: u64,
}

/// Returns the IPC object behind a descriptor. Returns `None` if the descriptor does not exist, is not IPC, is a socket that
/// `sockets` does not contain, or if this user may not inspect the process.
pub fn resolve(pid: i32, descriptor: i32, sockets: &Sockets) -> Option<ObjectUse> {
    let path = PathBuf::from(format!("/proc/{pid}/fd/{descriptor}"));
    let link = fs::read_link(&path).ok()?;
    let link = link.to_string_lossy();
    let (id, name, end) = identify(pid, descriptor, &path, &link, sockets)?;
    let access = match end {
        Some(end) => sockets.access(end),
        None => access(&path)?,
    };
    Some(ObjectUse { id, name, access, end, descriptor: Some(descriptor), path, mapped_bytes: 0 })
}

/// Returns the IPC objects behind all descriptors of a process.
///
/// # Errors
/// Returns an error if there is no such process, or this user may not inspect it.
pub fn resolve_all(pid: i32, sockets: &Sockets) -> io::Result<Vec<ObjectUse>> {
    Ok(descriptors(pid)?.into_iter().filter_map(|number| resolve(pid, number, sockets)).collect())
}

/// Returns the use that the mode of the link permits.
fn access(path: &Path) -> Option<Access> {
    match link_status(path).ok()?.mode & 0o600 {
        0o400 => Some(Access::Reads),
        0o200 => Some(Access::Writes),
        _ => Some(Access::ReadsAndWrites),
    }
}

/// Returns identity and name, and for a socket the inode of this end.
fn identify(
    pid: i32,
    descriptor: i32,
    path: &Path,
    link: &str,
    sockets: &Sockets,
) -> Option<(ObjectId, Option<String>, Option<u64>)> {
    let numbered = |kind, number| Some((ObjectId { kind, device: 0, number }, None, None));
    if let Some(inode) = inode_in(link, "pipe:[") {
        return numbered(ObjectKind::Pipe, inode);
    }
    if let Some(inode) = inode_in(link, "socket:[") {
        let id = sockets.link(inode)?;
        return Some((id, sockets.name(id), Some(inode)));
    }
    if let Some(kind) = link.strip_prefix("anon_inode:") {
        let unshared = u64::from(pid.unsigned_abs()) << 32 | u64::from(descriptor.unsigned_abs());
        return match kind {
            "[eventfd]" => numbered(ObjectKind::Eventfd, counter_fact(pid, descriptor, "eventfd-id")?),
            "[signalfd]" => numbered(ObjectKind::Signalfd, unshared),
            "[eventpoll]" => numbered(ObjectKind::Epoll, unshared),
            "[io_uring]" => numbered(ObjectKind::IoUring, unshared),
            _ => None,
        };
    }
    // Links such as `net:[4026531833]` lead to no file that links processes.
    let status = link.starts_with('/').then(|| file_status(path).ok())??;
    let (kind, name) = kind_of_file(path, link, &status)?;
    Some((ObjectId { kind, device: status.device, number: status.inode }, Some(name), None))
}

/// Returns the kind of the file behind a descriptor, and its name.
fn kind_of_file(path: &Path, link: &str, status: &FileStatus) -> Option<(ObjectKind, String)> {
    /// Size that the kernel reports of every POSIX queue (`FILENT_SIZE` of ipc/mqueue.c).
    const QUEUE_FILE_BYTES: u64 = 80;
    match status.kind {
        FileKind::Fifo => Some((ObjectKind::Fifo, link.to_owned())),
        FileKind::Regular => kind_by_name(link).or_else(|| {
            let may_be_queue = status.size_bytes == QUEUE_FILE_BYTES;
            let is_queue = may_be_queue && file_system::kind(path).is_ok_and(|kind| kind == "mqueue");
            // mq_open shows a path from the root of the queues' file system, and open one from its mount point.
            is_queue.then(|| Some((ObjectKind::PosixMq, link[link.rfind('/')?..].to_owned())))?
        }),
        _ => None,
    }
}

/// Returns the kind of memory that the kernel's name of a file reveals, and the name that its creator used.
pub fn kind_by_name(link: &str) -> Option<(ObjectKind, String)> {
    if let Some(name) = link.strip_prefix("/memfd:") {
        let name = name.strip_suffix(" (deleted)").unwrap_or(name);
        return Some((ObjectKind::Memfd, name.to_owned()));
    }
    let name = link.strip_prefix("/dev/shm/")?;
    Some(match name.strip_prefix("sem.") {
        Some(name) => (ObjectKind::PosixSem, format!("/{name}")),
        None => (ObjectKind::PosixShm, format!("/{name}")),
    })
}

fn inode_in(link: &str, before: &str) -> Option<u64> {
    link.strip_prefix(before)?.strip_suffix(']')?.parse().ok()
}

/// Returns a number from /proc/PID/fdinfo.
pub fn counter_fact(pid: i32, descriptor: i32, name: &str) -> Option<u64> {
    let facts = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let value = facts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim();
    // The kernel prints the count of an eventfd in hexadecimal, without a prefix.
    if name == "eventfd-count" { u64::from_str_radix(value, 16).ok() } else { value.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_memory_are_those_of_their_creators() {
        let found = |link| kind_by_name(link).map(|(kind, name)| (kind.name(), name));
        let expected = |kind: &str, name: &str| Some((kind.to_owned(), name.to_owned()));
        assert_eq!(found("/memfd:frames (deleted)"), expected("memfd", "frames"));
        assert_eq!(found("/dev/shm/sem.lock"), expected("posix-sem", "/lock"));
        assert_eq!(found("/dev/shm/ring (deleted)"), expected("posix-shm", "/ring (deleted)"));
        assert_eq!(found("/home/memfd:x"), None);
    }

    #[test]
    fn inode_is_read_from_a_whole_link_only() {
        assert_eq!(inode_in("pipe:[123]", "pipe:["), Some(123));
        for link in ["pipe:[]", "pipe:[12", "/pipe:[12]", "socket:[12]"] {
            assert_eq!(inode_in(link, "pipe:["), None, "{link}");
        }
    }
}

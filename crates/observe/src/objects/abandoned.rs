//! FIFOs and socket files that no process has open, in the directories in which programs create them.

use super::mounts::mount_points;
use super::object::Object;
use super::sockets::{Socket, Sockets};
use crate::identity::{ObjectId, ObjectKind};
use furlong_os::linux::file_status::{FileKind, link_status};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Searched directories. /run contains those of users ($XDG_RUNTIME_DIR).
const FOLDERS: [&str; 4] = ["/tmp", "/run", "/var/tmp", "/dev/shm"];
/// Levels of directories below these.
const DEPTH: usize = 3;
/// Number of entries after which the search ends.
pub const MOST_ENTRIES: usize = 100_000;

/// Returns all FIFOs, and the socket files to which no socket of this network namespace is bound. Also returns whether the search
/// ended early.
pub fn files(sockets: &Sockets) -> (Vec<Object>, bool) {
    let bound: HashSet<_> = sockets.iter().filter_map(bound_file).collect();
    // A file system in user space or of another machine may not answer.
    let foreign: HashSet<_> = mount_points(|kind| kind != "tmpfs").into_iter().collect();
    let (mut found, mut entries) = (Vec::new(), 0);
    let mut folders: Vec<_> = FOLDERS.map(|folder| (PathBuf::from(folder), 0)).into();
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            entries += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if entries > MOST_ENTRIES {
                return (found, true);
            }
            if kind.is_dir() {
                let is_searched = depth < DEPTH && !foreign.contains(&entry.path());
                folders.extend(is_searched.then(|| (entry.path(), depth + 1)));
            } else if !kind.is_file() && !kind.is_symlink() {
                found.extend(object(&entry.path(), &bound));
            }
        }
    }
    (found, false)
}

/// Returns device and inode of the file to which a socket is bound; of the inode the lower 32 bits.
fn bound_file(socket: &Socket) -> Option<(u64, u32)> {
    match socket {
        Socket::Unix(socket) => socket.file,
        Socket::Internet(..) => None,
    }
}

/// Returns the object of a FIFO or of an unbound socket file.
fn object(path: &Path, bound: &HashSet<(u64, u32)>) -> Option<Object> {
    let status = link_status(path).ok()?;
    let kind = match status.kind {
        FileKind::Fifo => ObjectKind::Fifo,
        FileKind::Socket if !bound.contains(&(status.device, status.inode as u32)) => ObjectKind::Unix,
        _ => return None,
    };
    let id = ObjectId { kind, device: status.device, number: status.inode };
    let name = Some(path.to_string_lossy().into_owned());
    Some(Object { name, created_unix_s: status.created_unix_s, is_own: status.is_own, ..Object::new(id) })
}

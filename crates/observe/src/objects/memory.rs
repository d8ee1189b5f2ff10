//! Shared memory that is a file: POSIX shared memory and semaphores, memfds, anonymous shared memory and mapped files.

use super::descriptor::kind_by_name;
use super::object::{Amount, AmountUnit, Object};
use crate::identity::{Access, ObjectId, ObjectKind};
use furlong_os::linux::file_status::{FileKind, FileStatus, file_status};
use std::fs;
use std::path::Path;

/// Directory of POSIX shared memory, and of named semaphores.
const FOLDER: &str = "/dev/shm";

/// Returns the POSIX shared memory and semaphores that have a name.
pub fn named() -> Vec<Object> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let object = |path: &Path| {
        let status = file_status(path).ok().filter(|status| status.kind == FileKind::Regular)?;
        let (kind, name) = kind_by_name(&path.to_string_lossy())?;
        let id = ObjectId { kind, device: status.device, number: status.inode };
        let mut object = Object { name: Some(name), is_own: status.is_own, ..Object::new(id) };
        set_status(&mut object, &status);
        Some(object)
    };
    entries.filter_map(|entry| object(&entry.path())).collect()
}

/// Completes memory that a process maps or has open.
pub fn complete(object: &mut Object) {
    let is_same = |status: &FileStatus| (status.device, status.inode) == (object.id.device, object.id.number);
    let mut paths = object.uses.iter().map(|(_, found)| found.path.as_path());
    if let Some(status) = paths.find_map(|path| file_status(path).ok().filter(is_same)) {
        set_status(object, &status);
    } else if object.size.is_empty() {
        // Only a privileged user may follow /proc/PID/map_files.
        let mapped = object.uses.iter().map(|(_, found)| found.mapped_bytes).max();
        object.size = mapped.map(|bytes| Amount::new(bytes, AmountUnit::Bytes)).into_iter().collect();
    }
}

fn set_status(object: &mut Object, status: &FileStatus) {
    object.size = vec![Amount::new(status.size_bytes, AmountUnit::Bytes)];
    object.created_unix_s = status.created_unix_s;
    // Blocks of other files are on a disk, and a semaphore has no content but its value.
    if !matches!(object.id.kind, ObjectKind::FileShm | ObjectKind::PosixSem) {
        object.content = vec![Amount::new(status.allocated_bytes, AmountUnit::Bytes)];
    }
}

/// Returns whether a mapped file passes data between processes: one of them may write it. Programs and fonts are only read.
pub fn is_written(object: &Object) -> bool {
    object.holders.iter().any(|holder| holder.access == Access::Maps)
}

//! POSIX message queues: those that processes have open, and the names in their file system.

use super::mounts::mount_points;
use super::object::{Amount, AmountUnit, Object};
use crate::identity::{ObjectId, ObjectKind};
use furlong_os::AsHandle;
use furlong_os::linux::file_status::file_status;
use furlong_os::linux::posix_queue;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the directories at which a file system of queues is mounted. Without one, queues that no process has open are invisible.
pub fn folders() -> Vec<PathBuf> {
    mount_points(|kind| kind == "mqueue")
}

/// Returns the queues that have a name.
pub fn named() -> Vec<Object> {
    let files = folders().into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let object = |path: PathBuf| {
        let status = file_status(&path).ok()?;
        let id = ObjectId { kind: ObjectKind::PosixMq, device: status.device, number: status.inode };
        let name = format!("/{}", path.file_name()?.to_string_lossy());
        let mut object = Object { name: Some(name), is_own: status.is_own, ..Object::new(id) };
        read_content(&mut object, &path);
        Some(object)
    };
    files.filter_map(|entry| object(entry.path())).collect()
}

/// Completes a queue that a process has open.
pub fn complete(object: &mut Object) {
    let paths: Vec<_> = object.uses.iter().map(|(_, found)| found.path.clone()).collect();
    let status = paths.iter().find_map(|path| file_status(path).ok());
    object.created_unix_s = status.and_then(|status| status.created_unix_s);
    for path in paths {
        if object.content.is_empty() {
            read_content(object, &path);
        }
    }
}

/// Reads the number and size of waiting messages. Opening a queue to read its state has no effect on its processes.
fn read_content(object: &mut Object, path: &Path) {
    let Ok(mut file) = File::open(path) else { return };
    let mut text = String::new();
    // The kernel prints `QSIZE:12 NOTIFY:0 SIGNO:0 NOTIFY_PID:0`.
    let bytes = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| text.strip_prefix("QSIZE:")?.split_whitespace().next()?.parse::<u64>().ok());
    let messages = posix_queue::waiting(file.as_handle()).ok();
    let shape = posix_queue::shape(file.as_handle()).ok();
    let amounts = |messages: Option<u64>, bytes: Option<u64>| {
        let messages = messages.map(|value| Amount::new(value, AmountUnit::Messages));
        let bytes = bytes.map(|value| Amount::new(value, AmountUnit::Bytes));
        messages.into_iter().chain(bytes).collect()
    };
    object.content = amounts(messages.map(|messages| messages as u64), bytes);
    object.size = amounts(
        shape.map(|(depth, _)| depth as u64),
        shape.map(|(depth, size_bytes)| depth.saturating_mul(size_bytes) as u64),
    );
}

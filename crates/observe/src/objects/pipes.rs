//! Content, size and age of pipes and FIFOs.

use super::object::{Amount, AmountUnit, Object};
use crate::identity::ObjectKind;
use furlong_os::AsHandle;
use furlong_os::facts::kernel_version;
use furlong_os::identity::is_administrator;
use furlong_os::linux::file_status::file_status;
use furlong_os::linux::{pidfd, pipe};
use std::fs;

/// Since this version, the kernel changes no time of an anonymous pipe after its creation.
const KEEPS_TIMES: (u32, u32) = (6, 15);

/// Completes a pipe or FIFO.
pub fn complete(object: &mut Object) {
    let status = object.uses.iter().find_map(|(_, found)| file_status(&found.path).ok());
    if let Some(status) = status {
        let keeps_times = || kernel_version().is_some_and(|version| version >= KEEPS_TIMES);
        object.created_unix_s = match object.id.kind {
            ObjectKind::Pipe if keeps_times() => {
                status.untouched_since_unix_ns.and_then(|ns| i64::try_from(ns / 1_000_000_000).ok())
            }
            _ => status.created_unix_s,
        };
    }
    if may_duplicate()
        && let Some((waiting, capacity)) =
            object.uses.iter().find_map(|(pid, found)| look(*pid, found.descriptor?))
    {
        object.content = vec![Amount::new(waiting, AmountUnit::Bytes)];
        object.size = vec![Amount::new(capacity, AmountUnit::Bytes)];
    }
}

/// Returns the bytes in a pipe and its capacity.
///
/// Opening /proc/PID/fd/N would add a reader or a writer, which the other end could notice. `pidfd_getfd` instead adds a reference
/// to the open file for a few microseconds, which changes neither count. If the holder closes its end within that time, the other
/// end notices at the end of that time.
fn look(pid: i32, descriptor: i32) -> Option<(u64, u64)> {
    let process = pidfd::open(pid).ok()?;
    let end = pidfd::take_descriptor(process.as_handle(), descriptor).ok()?;
    Some((pipe::waiting_bytes(end.as_handle()).ok()?, pipe::size_bytes(end.as_handle()).ok()?))
}

/// Returns whether this user may duplicate descriptors of other processes. Yama would log each attempt that it refuses.
pub fn may_duplicate() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    is_administrator() || scope.map_or(true, |scope| scope.trim() == "0")
}

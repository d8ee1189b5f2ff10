//! The processes of this machine with the IPC objects that they use.

use super::descriptor::{ObjectUse, resolve_all};
use super::mapping::shared_mappings;
use super::sockets::Sockets;
use crate::identity::{ObjectId, ObjectKind};
use furlong_os::linux::open_file::compare_open_files;
use furlong_os::other_process::{name, processes};
use serde::Serialize;
use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A process that this user may inspect.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Process {
    pub pid: i32,
    /// Name of its program, as far as the kernel keeps it.
    pub command: String,
    pub uses: Vec<ObjectUse>,
}

/// Processes that could not be inspected completely, as numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Visibility {
    /// Processes whose descriptors this user may not read.
    pub hidden_processes: usize,
    /// Processes in other IPC namespaces. Their System V objects are not listed.
    pub in_other_ipc_namespaces: usize,
    /// Processes in other network namespaces. Their sockets are not listed.
    pub in_other_network_namespaces: usize,
    /// Whether there may be processes that /proc does not list: outside this PID namespace, or because of its option `hidepid`.
    pub unlisted_processes: bool,
}

/// All processes that this user may inspect.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Census {
    pub processes: Vec<Process>,
    pub visibility: Visibility,
}

impl Census {
    /// Inspects all processes. A process that exits in the meantime is omitted.
    ///
    /// # Errors
    /// Returns an error if /proc cannot be read.
    pub fn read(sockets: &Sockets) -> io::Result<Census> {
        let mut census = Census::default();
        let own = ["ipc", "net"].map(|kind| namespace("self", kind));
        let first = PathBuf::from("pid:[4026531836]");
        let is_first = namespace("self", "pid").is_none_or(|own| own == first);
        census.visibility.unlisted_processes = !is_first || !Path::new("/proc/1").exists();
        for pid in processes()?.into_iter().filter(|pid| has_memory(*pid)) {
            let mut uses = match uses_of_process(pid, sockets) {
                Ok(uses) => uses,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    census.visibility.hidden_processes += 1;
                    continue;
                }
                Err(_) => continue,
            };
            let its = ["ipc", "net"].map(|kind| namespace(&pid.to_string(), kind));
            let [other_ipc, other_network] = [0, 1].map(|at| its[at].is_some() && its[at] != own[at]);
            census.visibility.in_other_ipc_namespaces += usize::from(other_ipc);
            census.visibility.in_other_network_namespaces += usize::from(other_network);
            // IDs of segments are unique within an IPC namespace only.
            uses.retain(|found| found.id.kind != ObjectKind::SysvShm || !other_ipc);
            census.processes.push(Process { pid, command: name(pid), uses });
        }
        merge_shared_files(&mut census.processes);
        Ok(census)
    }
}

fn uses_of_process(pid: i32, sockets: &Sockets) -> io::Result<Vec<ObjectUse>> {
    let mut uses = resolve_all(pid, sockets)?;
    uses.extend(shared_mappings(pid)?);
    Ok(uses)
}

/// Returns the namespace of a process, for example `ipc:[4026531839]`.
fn namespace(pid: &str, kind: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()
}

/// Returns whether a process has memory. Kernel threads and zombies have none, and hold no objects.
fn has_memory(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/statm")).is_ok_and(|sizes| !sizes.starts_with("0 "))
}

/// Gives each file that has no number, such as that of epoll, one identity in all processes that share it. Only the kernel can
/// compare such files; if it refuses, they stay separate.
fn merge_shared_files(processes: &mut [Process]) {
    let mut known = Vec::<(i32, i32, ObjectId)>::new();
    for process in processes {
        let pid = process.pid;
        for found in &mut process.uses {
            let is_numbered =
                !matches!(found.id.kind, ObjectKind::Signalfd | ObjectKind::Epoll | ObjectKind::IoUring);
            let Some(descriptor) = found.descriptor.filter(|_| !is_numbered) else { continue };
            // A process that exits in the meantime may cause a wrong place, but no wrong match.
            let place = known.binary_search_by(|(other, its, _)| {
                compare_open_files((*other, *its), (pid, descriptor)).unwrap_or(Ordering::Less)
            });
            match place {
                Ok(at) => found.id = known[at].2,
                Err(at) => known.insert(at, (pid, descriptor, found.id)),
            }
        }
    }
}

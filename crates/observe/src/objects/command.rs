//! `furlong ipc`: selects objects, and prints them.

use super::abandoned::MOST_ENTRIES;
use super::inventory::Inventory;
use super::object::Object;
use super::processes::Visibility;
use super::table::document;
use crate::identity::ObjectKind;
use crate::options::IpcOptions;
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_console::{ListFormat, output};
use furlong_os::identity::is_administrator;
use furlong_os::linux::file_status::file_status;
use furlong_os::other_process::descriptors;
use furlong_render::words::count;
use furlong_render::{Style, document_text};
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Version of the JSON; it changes when a field changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// The selected objects as JSON.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    objects: &'a [&'a Object],
    /// Objects of the requested kinds and processes that only one process uses.
    omitted: usize,
    #[serde(flatten)]
    visibility: Visibility,
    notes: &'a [String],
}

/// Prints the selected objects.
///
/// # Errors
/// Returns `Usage` if a process does not exist, `CannotHere` if this user may not inspect it, and an error of `io` without /proc.
pub fn ipc(options: &IpcOptions, style: Style) -> anyhow::Result<Outcome> {
    let inventory = Inventory::read()?;
    check_pids(&options.pids, &inventory)?;
    let of_kind = |object: &&Object| options.kinds.is_empty() || options.kinds.contains(&object.id.kind);
    let of_pids = |object: &&Object| {
        options.pids.is_empty() || object.pids().iter().any(|pid| options.pids.contains(pid))
    };
    let candidates = inventory.objects.iter().filter(of_kind).filter(of_pids);
    let (mut selected, others): (Vec<_>, Vec<_>) =
        candidates.partition(|object| options.all || object.is_orphan() || object.is_link());
    let omitted = if options.orphans { 0 } else { others.len() };
    selected.retain(|object| !options.orphans || object.is_orphan());
    let notes = notes(&inventory, options, omitted);
    let text = match options.format {
        ListFormat::Json => {
            let visibility = inventory.visibility;
            let report = Report { schema: SCHEMA, objects: &selected, omitted, visibility, notes: &notes };
            serde_json::to_string_pretty(&report)? + "\n"
        }
        ListFormat::Table => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
            document_text(&document(&selected, notes, now, style.width), style)
        }
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

/// Checks that all requested processes were inspected.
fn check_pids(pids: &[i32], inventory: &Inventory) -> anyhow::Result<()> {
    for pid in pids.iter().filter(|pid| !inventory.inspected.contains(pid)) {
        if file_status(Path::new(&format!("/proc/{pid}"))).is_err() {
            return Err(
                Usage(format!("there is no process {pid}: 'ps -e' lists processes with their PIDs")).into()
            );
        }
        let is_refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if descriptors(*pid).is_err_and(is_refused) {
            let reason = format!("process {pid} belongs to another user or is protected");
            return Err(CannotHere::new(reason, "run furlong ipc as root").into());
        }
    }
    Ok(())
}

/// Returns a sentence for each gap of the inventory, with a remedy.
fn notes(inventory: &Inventory, options: &IpcOptions, omitted: usize) -> Vec<String> {
    let Visibility {
        hidden_processes,
        in_other_ipc_namespaces,
        in_other_network_namespaces,
        unlisted_processes,
    } = inventory.visibility;
    let hidden_remedy = match is_administrator() {
        true => "They are protected from this root user, for example by a container or a security module.",
        false => "Run as root to inspect them.",
    };
    let lists = |kinds: &[ObjectKind]| {
        options.kinds.is_empty() || options.kinds.iter().any(|kind| kinds.contains(kind))
    };
    let mut notes = Vec::new();
    let mut add = |applies: bool, note: String| notes.extend(applies.then_some(note));
    add(
        omitted > 0,
        format!("{} that link no two processes are omitted: --all lists them.", count(omitted, "object")),
    );
    add(
        hidden_processes > 0,
        format!(
            "{} could not be inspected: holders are incomplete, and an object marked 'orphan?' may have a holder among them. \
             {hidden_remedy}",
            count(hidden_processes, "process")
        ),
    );
    add(
        in_other_ipc_namespaces > 0 && lists(&[ObjectKind::SysvMq, ObjectKind::SysvShm, ObjectKind::SysvSem]),
        format!(
            "{} in other IPC namespaces: their System V objects are not listed. Run 'nsenter -t PID -i furlong ipc'.",
            count(in_other_ipc_namespaces, "process")
        ),
    );
    add(
        in_other_network_namespaces > 0 && lists(&[ObjectKind::Unix, ObjectKind::Tcp, ObjectKind::Udp]),
        format!(
            "{} in other network namespaces: their sockets are not listed. Run 'nsenter -t PID -n furlong ipc'.",
            count(in_other_network_namespaces, "process")
        ),
    );
    add(
        unlisted_processes,
        "/proc may not list all processes (PID namespace or hidepid): an object marked 'orphan?' may have a holder among the \
         others. Run on the host as root."
            .to_owned(),
    );
    add(
        inventory.hides_queues && lists(&[ObjectKind::PosixMq]),
        "POSIX queues that no process has open are not listed, because their file system is not mounted. Run \
         'mkdir -p /dev/mqueue && mount -t mqueue none /dev/mqueue'."
            .to_owned(),
    );
    add(
        inventory.hides_files && lists(&[ObjectKind::Fifo, ObjectKind::Unix]),
        format!(
            "The search for FIFOs and socket files without a process ended after {MOST_ENTRIES} files: /tmp, /run, /var/tmp or \
             /dev/shm contains more."
        ),
    );
    add(
        inventory.hides_pipe_content && inventory.objects.iter().any(Object::is_pipe),
        "The content of pipes is not listed, because kernel.yama.ptrace_scope forbids it. Run as root."
            .to_owned(),
    );
    for (kind, reason) in &inventory.unreadable {
        add(lists(&[*kind]), format!("Objects of kind {} are not listed: {reason}.", kind.name()));
    }
    notes
}

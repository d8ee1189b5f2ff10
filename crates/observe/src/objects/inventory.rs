//! All IPC objects of this machine with their holders.

use super::object::{Amount, AmountUnit, Object, ObjectState};
use super::processes::{Census, Visibility};
use super::sockets::Sockets;
use super::{abandoned, connections, descriptor, memory, pipes, posix_queues, sysv};
use crate::identity::{Holder, ObjectId, ObjectKind};
use furlong_os::identity::is_administrator;
use std::collections::BTreeMap;
use std::io;

/// The IPC objects that existed while they were read, sorted by kind, holders and name.
#[derive(Debug)]
pub struct Inventory {
    #[expect(missing_docs, reason = "the name says everything")]
    pub objects: Vec<Object>,
    /// PIDs of the processes that were inspected.
    pub inspected: Vec<i32>,
    /// Number of processes that could not be inspected completely.
    pub visibility: Visibility,
    /// Kinds of sockets that the kernel could not report, with the reason.
    pub unreadable: Vec<(ObjectKind, String)>,
    /// Whether POSIX queues are invisible if no process has them open, because their file system is not mounted.
    pub hides_queues: bool,
    /// Whether the search for FIFOs and socket files ended early.
    pub hides_files: bool,
    /// Whether this user may not read the content of pipes of other processes.
    pub hides_pipe_content: bool,
}

impl Inventory {
    /// Reads all objects. Objects and processes that vanish in the meantime are omitted.
    ///
    /// # Errors
    /// Returns an error if /proc cannot be read.
    pub fn read() -> io::Result<Inventory> {
        let sockets = Sockets::read();
        let census = Census::read(&sockets)?;
        let mut objects = BTreeMap::<ObjectId, Object>::new();
        let (files, ended_early) = abandoned::files(&sockets);
        let named = [sysv::all(), posix_queues::named(), memory::named(), files];
        objects.extend(named.into_iter().flatten().map(|object| (object.id, object)));
        for process in &census.processes {
            for found in &process.uses {
                let object = objects.entry(found.id).or_insert_with(|| Object::new(found.id));
                object.name = object.name.take().or_else(|| found.name.clone());
                let (pid, command) = (process.pid, process.command.clone());
                object.add_holder(Holder { pid, command, access: found.access, end: found.end });
                object.uses.push((pid, found.clone()));
            }
        }
        // The kernel reports sockets without their holders.
        for id in sockets.iter().filter_map(|socket| sockets.link(socket.inode())) {
            objects.entry(id).or_insert_with(|| Object::new(id));
        }
        let mut objects: Vec<_> = objects.into_values().collect();
        for object in &mut objects {
            complete(object, &sockets, census.visibility);
        }
        objects.retain(|object| object.id.kind != ObjectKind::FileShm || memory::is_written(object));
        objects.sort_by_cached_key(|object| {
            (object.id.kind, object.is_orphan(), object.pids(), object.name.clone())
        });
        Ok(Inventory {
            objects,
            inspected: census.processes.iter().map(|process| process.pid).collect(),
            visibility: census.visibility,
            unreadable: sockets.unreadable,
            hides_queues: posix_queues::folders().is_empty(),
            hides_files: ended_early,
            hides_pipe_content: !pipes::may_duplicate(),
        })
    }
}

/// Reads what the uses of an object do not reveal.
fn complete(object: &mut Object, sockets: &Sockets, visibility: Visibility) {
    // A file without a socket has a device.
    let is_socket = object.id.device == 0;
    match object.id.kind {
        ObjectKind::Pipe | ObjectKind::Fifo => pipes::complete(object),
        ObjectKind::Unix | ObjectKind::Tcp | ObjectKind::Udp if is_socket => {
            connections::complete(object, sockets)
        }
        ObjectKind::PosixMq => posix_queues::complete(object),
        ObjectKind::PosixShm
        | ObjectKind::PosixSem
        | ObjectKind::Memfd
        | ObjectKind::AnonShm
        | ObjectKind::FileShm => {
            memory::complete(object);
        }
        ObjectKind::Eventfd => {
            let count = object
                .uses
                .iter()
                .find_map(|(pid, found)| descriptor::counter_fact(*pid, found.descriptor?, "eventfd-count"));
            object.content = count.map(|count| Amount::new(count, AmountUnit::Count)).into_iter().collect();
        }
        _ => {}
    }
    object.holders.sort();
    if !object.is_sysv() {
        object.state = state(object, visibility);
    }
}

/// Returns the state of an object whose holders are all processes that have it open.
fn state(object: &Object, visibility: Visibility) -> ObjectState {
    let is_socket = matches!(object.id.kind, ObjectKind::Unix | ObjectKind::Tcp | ObjectKind::Udp);
    let may_be_bound_elsewhere = is_socket && visibility.in_other_network_namespaces > 0;
    let may_be_held =
        visibility.hidden_processes > 0 || visibility.unlisted_processes || may_be_bound_elsewhere;
    match () {
        () if !object.holders.is_empty() => ObjectState::InUse,
        // A socket without a visible holder is in flight between processes, or belongs to the kernel.
        () if is_socket && object.id.device == 0 => ObjectState::Unknown,
        () if !may_be_held => ObjectState::Orphan,
        // Files of other users usually have hidden holders.
        () if object.is_own || is_administrator() => ObjectState::NoVisibleHolder,
        () => ObjectState::Unknown,
    }
}

//! An IPC object with everything that the kernel reports about it.

use super::descriptor::ObjectUse;
use crate::identity::{Holder, ObjectId, ObjectKind};
use serde::Serialize;
use std::collections::BTreeSet;

/// Unit of an [`Amount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AmountUnit {
    /// Bytes of messages or memory.
    Bytes,
    /// Bytes of kernel memory: messages with the kernel's overhead.
    KernelBytes,
    /// Messages that no process has received.
    Messages,
    /// Connections that no process has accepted.
    Connections,
    /// Semaphores of a set.
    Semaphores,
    /// Processes that wait for a semaphore of a set.
    Waiters,
    /// Value of a counter.
    Count,
}

/// Number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Amount {
    pub value: u64,
    pub unit: AmountUnit,
}

impl Amount {
    #[expect(missing_docs, reason = "the name says everything")]
    pub fn new(value: u64, unit: AmountUnit) -> Amount {
        Amount { value, unit }
    }
}

/// Whether processes use an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectState {
    /// A process holds it, or a process that used it last is alive.
    InUse,
    /// No process holds it.
    Orphan,
    /// The kernel records only its last users, and these have exited.
    UsersExited,
    /// No visible process holds it, but a hidden one may.
    NoVisibleHolder,
    /// The kernel does not record holders, or this user may not see them.
    Unknown,
}

/// Socket of a connection, or a sender to a receiver of datagrams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct SocketEnd {
    pub inode: u64,
    pub address: Option<String>,
    /// Bytes that can be received at this end, of UNIX datagrams those of the next one.
    pub receive_queue_bytes: u64,
    /// Bytes that were sent from this end and not received, or with TCP not acknowledged. UNIX sockets count kernel memory.
    pub send_queue_bytes: u64,
}

/// IPC object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Identity of the object.
    #[serde(flatten)]
    pub id: ObjectId,
    /// Path, address, or key of System V. It may contain any character.
    pub name: Option<String>,
    /// Processes that hold it, sorted.
    pub holders: Vec<Holder>,
    /// Whether processes use it.
    pub state: ObjectState,
    /// Content: waiting messages and bytes, allocated memory, or the value of a counter. Empty if it is unknown.
    pub content: Vec<Amount>,
    /// Size of memory, or limit of the content. Empty if it is unknown.
    pub size: Vec<Amount>,
    /// Creation time as Unix time in seconds, of System V objects the time of the last IPC_SET; `None` if the kernel does not
    /// store it.
    pub created_unix_s: Option<i64>,
    /// Sockets of a connection, or a receiver and its senders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<SocketEnd>,
    /// Whether its file belongs to the effective user.
    #[serde(skip)]
    pub is_own: bool,
    /// Uses by which more about the object can be read.
    #[serde(skip)]
    pub uses: Vec<(i32, ObjectUse)>,
}

impl Object {
    /// Creates an object of which nothing but its identity is known.
    pub fn new(id: ObjectId) -> Object {
        Object {
            id,
            name: None,
            holders: Vec::new(),
            state: ObjectState::Unknown,
            content: Vec::new(),
            size: Vec::new(),
            created_unix_s: None,
            ends: Vec::new(),
            is_own: false,
            uses: Vec::new(),
        }
    }

    /// Adds a holder, once per process and end, with the access of all its uses. Last uses stay separate.
    pub fn add_holder(&mut self, new: Holder) {
        let may_merge = |known: &Holder| known.access == new.access || !new.access.is_last_use();
        let same = |known: &&mut Holder| known.pid == new.pid && known.end == new.end && may_merge(known);
        match self.holders.iter_mut().find(same) {
            Some(known) => known.access = known.access.and(new.access),
            None => self.holders.push(new),
        }
    }

    /// Returns the PIDs of its holders.
    pub fn pids(&self) -> BTreeSet<i32> {
        self.holders.iter().map(|holder| holder.pid).collect()
    }

    /// Returns whether it links two processes. A connection with an end that no visible process holds does.
    pub fn is_link(&self) -> bool {
        let has_holder = |end: &SocketEnd| self.holders.iter().any(|holder| holder.end == Some(end.inode));
        let held_ends = self.ends.iter().filter(|end| has_holder(end)).count();
        self.pids().len() > 1 || (held_ends > 0 && held_ends < self.ends.len())
    }

    /// Returns whether it is a pipe, with or without a name.
    pub fn is_pipe(&self) -> bool {
        matches!(self.id.kind, ObjectKind::Pipe | ObjectKind::Fifo)
    }

    /// Returns whether it is an object of System V.
    pub fn is_sysv(&self) -> bool {
        matches!(self.id.kind, ObjectKind::SysvMq | ObjectKind::SysvShm | ObjectKind::SysvSem)
    }

    /// Returns whether no process uses it any more, as far as that can be seen.
    pub fn is_orphan(&self) -> bool {
        matches!(self.state, ObjectState::Orphan | ObjectState::UsersExited | ObjectState::NoVisibleHolder)
    }
}

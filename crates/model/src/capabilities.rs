//! The capabilities of a mechanism. Every field is a claim, and the conformance suite tests every claim.

use crate::{Call, Calls, Wait};
use serde::{Deserialize, Serialize};

/// The properties that a mechanism claims on every machine. A mechanism declares them as a constant. Records contain
/// the [owned](OwnedCapabilities) form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities<Text = &'static str, Waits = &'static [Wait], C = Calls> {
    /// Kebab-case name that never changes: the first half of a benchmark's name.
    pub name: Text,
    /// Description in one line.
    pub summary: Text,
    /// The kind of mechanism.
    pub family: Family,
    /// The wait strategies that it supports, the default first.
    pub waits: Waits,
    /// Whether two sent messages arrive as two, for all sizes.
    pub boundaries: bool,
    /// The only size that it can carry, if its size is fixed: 0, 4 or 8 bytes for notifications.
    pub fixed_size_bytes: Option<usize>,
    /// The system calls of one message.
    pub calls: C,
    /// The buffer between the roles whose size can be changed.
    pub buffer: KernelBuffer,
    /// The number of copies of each byte.
    pub copies: Copies,
    /// Behaviour of a sender if there is no room.
    pub when_full: WhenFull,
    /// Behaviour of a process after the other end exits.
    pub peer_death: PeerDeath,
    /// What two processes must share to use it.
    pub reach: Reach,
    /// How long the kernel keeps the object.
    pub lifetime: Lifetime,
    /// How the two processes must be started.
    pub start: Start,
    /// Whether several processes may use one end.
    #[serde(default)]
    pub sharing: Sharing,
}

/// Capabilities that are created at run time: combined from several entries, or read.
pub type OwnedCapabilities = Capabilities<String, Vec<Wait>, Calls<Vec<Call<String>>>>;

impl<Text, Waits, C> Capabilities<Text, Waits, C> {
    /// Converts texts, wait strategies and calls.
    fn kept<T, W, D>(
        self,
        text: impl Fn(Text) -> T,
        waits_kept: impl FnOnce(Waits) -> W,
        calls_kept: impl FnOnce(C) -> D,
    ) -> Capabilities<T, W, D> {
        let Capabilities {
            name,
            summary,
            family,
            waits,
            boundaries,
            fixed_size_bytes,
            calls,
            buffer,
            copies,
            when_full,
            peer_death,
            reach,
            lifetime,
            start,
            sharing,
        } = self;
        Capabilities {
            name: text(name),
            summary: text(summary),
            family,
            waits: waits_kept(waits),
            boundaries,
            fixed_size_bytes,
            calls: calls_kept(calls),
            buffer,
            copies,
            when_full,
            peer_death,
            reach,
            lifetime,
            start,
            sharing,
        }
    }
}

impl Capabilities {
    /// The claims of most mechanisms: whole messages of any size, two copies of each byte, blocking calls, a sender that
    /// waits for room, and a descriptor that fresh processes inherit.
    pub const DEFAULT: Capabilities = Capabilities {
        name: "",
        summary: "",
        family: Family::Adapter,
        waits: &[Wait::Block],
        boundaries: true,
        fixed_size_bytes: None,
        calls: Calls::NONE,
        buffer: KernelBuffer::None,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Noticed,
        reach: Reach::Descriptor,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
        sharing: Sharing::OneEach,
    };

    /// Returns the capabilities of most libraries, which use a path in a file system.
    pub const fn library(summary: &'static str) -> Capabilities {
        Capabilities { summary, reach: Reach::FileSystem, ..Capabilities::DEFAULT }
    }

    /// Returns an owned copy.
    pub fn owned(&self) -> OwnedCapabilities {
        self.kept(str::to_owned, <[Wait]>::to_vec, Calls::owned)
    }

    /// Returns whether a process can wait for one of several links.
    pub const fn can_be_watched(&self) -> bool {
        let mut place = 0;
        while place < self.waits.len() {
            if matches!(self.waits[place], Wait::Poll) {
                return true;
            }
            place += 1;
        }
        false
    }

    /// Returns whether an end can ask for a message without waiting for it, with this wait strategy.
    pub fn can_try_to_receive(&self, wait: Wait) -> bool {
        let reads_memory = matches!(self.family, Family::Memory | Family::Library | Family::RemoteMemory);
        wait.needs_non_blocking() || self.can_be_watched() || reads_memory
    }

    /// Returns whether the mechanism only wakes the other process and carries no data.
    pub fn notifies_only(&self) -> bool {
        self.fixed_size_bytes.is_some()
    }
}

impl OwnedCapabilities {
    /// Returns a copy that lives as long as this process, like the capabilities of built-in mechanisms.
    pub fn leak(self) -> Capabilities {
        self.kept(|text| &*text.leak(), |waits| &*waits.leak(), Calls::leak)
    }
}

/// The kind of mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// The measurement loop without a mechanism.
    Floor,
    /// A byte stream through the kernel without a socket.
    Pipe,
    /// A socket.
    Socket,
    /// A message queue in the kernel.
    Queue,
    /// Memory that both processes map.
    Memory,
    /// A wake-up with almost no data.
    Notification,
    /// Memory of the other process, accessed with a system call.
    RemoteMemory,
    /// Requests in a ring that a process shares with the kernel.
    IoUring,
    /// Memory that both processes map, used through a library that implements a protocol and checks the other process.
    Library,
    /// Another program that carries messages, through the adapter protocol.
    Adapter,
    /// Two programs that do not use furlong. Their messages are not visible.
    Programs,
}

/// A buffer between the roles, in the kernel or in shared memory, whose size a process can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelBuffer {
    /// No such buffer.
    None,
    /// The pages of a pipe.
    Pipe,
    /// A socket's send and receive buffers.
    Socket,
    /// The rings of a library in memory that both processes map.
    Ring,
}

/// The number of copies between the buffers of sender and receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// Into the kernel or the shared region, and out again. The sender may reuse its buffer at once.
    Two,
    /// Directly from the sender's buffer, which must not change until the receiver has read it.
    One,
    /// Like `Two`, or zero-copy: the sender writes the message in the shared region, and the receiver reads it there.
    TwoOrNone,
}

/// Behaviour of a sender if the mechanism is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// The sender waits; nothing is lost.
    Waits,
    /// Unread notifications are merged into one.
    Merges,
    /// The newer message replaces the older one.
    Overwrites,
    /// The newer message is dropped.
    Drops,
    /// The oldest message is dropped, and the receiver gets the number of dropped messages.
    DropsOldest,
}

/// Behaviour of a process after the other end exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerDeath {
    /// A receive returns end of file or an error.
    Noticed,
    /// A receive blocks forever, so another mechanism must monitor the process.
    Unnoticed,
}

/// What two processes must share to access the same object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// An inherited mapping: one process forked the other.
    Fork,
    /// A descriptor that is inherited or passed through a socket.
    Descriptor,
    /// A path in a file system that both see.
    FileSystem,
    /// A device file that a kernel module provides.
    Device,
    /// The names of System V objects or POSIX queues in one IPC namespace.
    IpcNamespace,
    /// The PIDs of one PID namespace, and the right to use them.
    PidNamespace,
    /// A network address, also on another machine.
    Network,
}

impl Reach {
    /// Returns the text that a table shows.
    pub fn describe(self) -> &'static str {
        match self {
            Reach::Fork => "parent and child",
            Reach::Descriptor => "whoever is given the descriptor",
            Reach::FileSystem => "same file system",
            Reach::Device => "whoever may open the device",
            Reach::IpcNamespace => "same IPC namespace",
            Reach::PidNamespace => "same PID namespace",
            Reach::Network => "any host in the network",
        }
    }
}

/// How long the kernel keeps the object after its last user has exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// The object is removed with its last user.
    Users,
    /// The object exists until a process removes it, or until the machine or namespace shuts down.
    Removal,
}

/// How the two processes must be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Two fresh processes.
    Fresh,
    /// Two forks of one process without exec, because a mapping must be inherited.
    Forked,
    /// One process, because there is no other end.
    Alone,
}

/// Whether several processes may send through one link, or receive from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each end is for one process.
    #[default]
    OneEach,
    /// Several processes may use an end: each message arrives whole, at one of them.
    Messages,
    /// Like `Messages`, up to [`ATOMIC_BYTES`]. Larger messages are written in parts, which would mix.
    AtomicWrites,
    /// Several processes may receive, up to the number that the link was created for. Each message arrives at all of
    /// them.
    EveryReceiver,
}

impl Sharing {
    /// Returns whether several processes may use an end, and each message arrives at one of them.
    pub const fn goes_to_one(self) -> bool {
        matches!(self, Sharing::Messages | Sharing::AtomicWrites)
    }
}

/// Bytes that the kernel writes atomically into a pipe: its PIPE_BUF.
pub const ATOMIC_BYTES: usize = 4096;

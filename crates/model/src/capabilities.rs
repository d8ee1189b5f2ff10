//! What a mechanism promises. Every field is a claim, and the conformance suite tests every claim.

use crate::{Call, Calls, Wait};
use serde::{Deserialize, Serialize};

/// What one mechanism is and promises, on every machine. A mechanism states it as a constant; what is written and read is
/// [owned](OwnedCapabilities).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities<Text = &'static str, Waits = &'static [Wait], C = Calls> {
    /// Kebab-case name that never changes: the first half of a row's name.
    pub name: Text,
    /// One line that says what it is.
    pub summary: Text,
    /// The kind of mechanism, by what it is made of.
    pub family: Family,
    /// The ways of waiting it supports, the usual one first.
    pub waits: Waits,
    /// Whether two messages sent arrive as two, whatever their sizes.
    pub boundaries: bool,
    /// The one size it can carry, if there is no choice: 0, 4 or 8 bytes for bare notifications.
    pub fixed_size_bytes: Option<usize>,
    /// The system calls of one message.
    pub calls: C,
    /// The buffer between the roles that can be made larger or smaller.
    pub buffer: KernelBuffer,
    /// How often the bytes are copied on their way.
    pub copies: Copies,
    /// What a sender meets when there is no room.
    pub when_full: WhenFull,
    /// What a survivor notices when the other end goes away.
    pub peer_death: PeerDeath,
    /// What two processes must have in common to use it.
    pub reach: Reach,
    /// How long the kernel keeps the object.
    pub lifetime: Lifetime,
    /// How the two processes must be started.
    pub start: Start,
    /// Whether an end may have several users.
    #[serde(default)]
    pub sharing: Sharing,
}

/// Capabilities that are made at run time: put together of several entries, or read.
pub type OwnedCapabilities = Capabilities<String, Vec<Wait>, Calls<Vec<Call<String>>>>;

impl<Text, Waits, C> Capabilities<Text, Waits, C> {
    /// The same, with texts, waits and calls kept in another way.
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
    /// What most libraries promise, to be changed where one differs: whole messages of any size, each copied in and out,
    /// blocking calls, a sender that waits for room, over something with a path.
    pub const fn library(summary: &'static str) -> Capabilities {
        Capabilities {
            name: "",
            summary,
            family: Family::Adapter,
            waits: &[Wait::Block],
            boundaries: true,
            fixed_size_bytes: None,
            calls: Calls::NONE,
            buffer: KernelBuffer::None,
            copies: Copies::Two,
            when_full: WhenFull::Waits,
            peer_death: PeerDeath::Noticed,
            reach: Reach::FileSystem,
            lifetime: Lifetime::Users,
            start: Start::Fresh,
            sharing: Sharing::OneEach,
        }
    }

    /// The same, owned.
    pub fn owned(&self) -> OwnedCapabilities {
        self.kept(str::to_owned, <[Wait]>::to_vec, Calls::owned)
    }

    /// Whether a process can wait for one of several of its links.
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

    /// Whether the row answers "how fast can one process wake another", not "how fast does data move".
    pub fn notifies_only(&self) -> bool {
        self.fixed_size_bytes.is_some()
    }
}

impl OwnedCapabilities {
    /// The same, for as long as this process lives, as those of built-in mechanisms.
    pub fn leak(self) -> Capabilities {
        self.kept(|text| &*text.leak(), |waits| &*waits.leak(), Calls::leak)
    }
}

/// The kind of mechanism, by what it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// The harness without a mechanism.
    Floor,
    /// A stream of bytes through the kernel without a socket.
    Pipe,
    /// A socket.
    Socket,
    /// A queue of messages in the kernel.
    Queue,
    /// Memory that both processes map.
    Memory,
    /// A wake-up that carries next to nothing.
    Notification,
    /// Memory of the other process, read by system call.
    RemoteMemory,
    /// Requests in a ring that a process shares with the kernel.
    IoUring,
    /// Memory that both processes map, behind a library that keeps its protocol and checks the other process.
    Library,
    /// What another program carries, by the adapter protocol.
    Adapter,
    /// Two programs that know nothing of furlong: nothing of what they exchange is seen.
    Programs,
}

/// A buffer between the roles, in the kernel or in memory that both map, whose size a process can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelBuffer {
    /// None.
    None,
    /// The pages of a pipe.
    Pipe,
    /// A socket's send and receive buffers.
    Socket,
    /// The rings of a library, in memory that both processes map.
    Ring,
}

/// How often the bytes of a message are copied between the sender's buffer and the receiver's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// Into the kernel or the shared region, and out again: the sender may reuse its buffer at once.
    Two,
    /// Straight out of the sender's buffer, which must stay untouched until the receiver has read it.
    One,
    /// As `Two`; or not at all, where the sender writes a message in the shared region itself, and the receiver reads it
    /// there. The mechanism lends its memory for that.
    TwoOrNone,
}

/// What a sender meets when the mechanism holds as much as it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It waits; nothing is lost.
    Waits,
    /// Notifications not yet taken are added up into one.
    Merges,
    /// The newer replaces the older.
    Overwrites,
    /// The newer is thrown away.
    Drops,
    /// The oldest is thrown away, and the receiver is told how many were.
    DropsOldest,
}

/// What a process notices by itself when the other end goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerDeath {
    /// A receive ends: end of file or an error.
    Noticed,
    /// Nothing: a receive waits for ever, and somebody else must watch.
    Unnoticed,
}

/// What two processes must have in common to get hold of the same object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// One forked the other: the mapping itself is inherited.
    Fork,
    /// A descriptor, inherited or passed over a socket.
    Descriptor,
    /// A path in a file system that both see.
    FileSystem,
    /// A device file, which a kernel module of its own makes.
    Device,
    /// The System V or POSIX-queue names of one IPC namespace.
    IpcNamespace,
    /// The process numbers of one PID namespace, and the right to use them.
    PidNamespace,
    /// An address: other machines are in reach too.
    Network,
}

impl Reach {
    /// The words that a table shows.
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

/// How long the kernel keeps the object when no process uses it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// It ends with its last user.
    Users,
    /// Until somebody removes it, or the machine or its namespace ends.
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
    /// One process: there is no other end.
    Alone,
}

/// Whether several processes may send by one link, or receive from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each end is for one process.
    #[default]
    OneEach,
    /// Several may use an end: each message arrives whole, and comes to one of them.
    Messages,
    /// The same for messages of up to [`ATOMIC_BYTES`]. Those that are larger are written in parts, and would mix.
    AtomicWrites,
    /// Several may receive, as many as the link was made for, and each message comes to every one of them.
    EveryReceiver,
}

impl Sharing {
    /// Whether several may use an end, each message of which comes to one.
    pub const fn goes_to_one(self) -> bool {
        matches!(self, Sharing::Messages | Sharing::AtomicWrites)
    }
}

/// Bytes that the kernel writes into a pipe in one piece: its PIPE_BUF.
pub const ATOMIC_BYTES: usize = 4096;

//! Identity of an IPC object, and the processes that hold it.

use clap::ValueEnum;
use serde::Serialize;

/// Kind of an IPC object. Its name in kebab case is used on the command line, in the table and in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectKind {
    /// Pipe without a name
    Pipe,
    /// Pipe with a name in a file system
    Fifo,
    /// Socket of AF_UNIX, of any type
    Unix,
    /// TCP connection within this machine, or listening socket
    Tcp,
    /// UDP socket that processes of this machine use
    Udp,
    /// POSIX message queue
    PosixMq,
    /// POSIX shared memory: a file in /dev/shm
    PosixShm,
    /// Named POSIX semaphore
    PosixSem,
    /// System V message queue
    SysvMq,
    /// System V shared memory segment
    SysvShm,
    /// Set of System V semaphores
    SysvSem,
    /// Memory of memfd_create
    Memfd,
    /// Memory mapped with MAP_SHARED and MAP_ANONYMOUS
    AnonShm,
    /// File mapped with MAP_SHARED by a process that may write
    FileShm,
    /// Counter of eventfd
    Eventfd,
    /// Descriptor of signalfd
    Signalfd,
    /// Descriptor of epoll_create
    Epoll,
    /// Ring of io_uring_setup
    IoUring,
}

impl ObjectKind {
    /// Returns the name on the command line, in the table and in JSON.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Identity of an IPC object among all objects that exist at the same time. Both ends of a connection have the same identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ObjectId {
    #[expect(missing_docs, reason = "the name says everything")]
    pub kind: ObjectKind,
    /// Device number of the file system, as in `st_dev`; 0 if `number` alone is unique within the kind.
    pub device: u64,
    /// Inode of pipes, FIFOs, files and memory; System V ID; `eventfd-id` of an eventfd. Sockets: the inode, of the two ends of a
    /// connection the lower one. Other descriptors: PID and number of one of them.
    pub number: u64,
}

/// Use that a process makes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say everything")]
pub enum Access {
    Writes,
    ReadsAndWrites,
    Reads,
    /// Accepts connections or datagrams at an address.
    Listens,
    /// Maps memory that it may write.
    Maps,
    /// Maps memory that it may not write.
    MapsToRead,
    /// Was the last process to send to a System V queue. The kernel records no other senders.
    SentLast,
    /// Was the last process to receive from a System V queue. The kernel records no other receivers.
    ReceivedLast,
    /// Was the last process to change a System V semaphore. The kernel records no other users.
    ChangedLast,
}

impl Access {
    /// Returns whether it is the last use of a System V object.
    pub fn is_last_use(self) -> bool {
        matches!(self, Access::SentLast | Access::ReceivedLast | Access::ChangedLast)
    }

    /// Returns the access of a process that has both.
    pub fn and(self, other: Access) -> Access {
        match [self, other] {
            [one, other] if one == other => one,
            [Access::Reads, Access::Writes] | [Access::Writes, Access::Reads] => Access::ReadsAndWrites,
            [Access::Maps, _] | [_, Access::Maps] => Access::Maps,
            [Access::MapsToRead, Access::Writes | Access::ReadsAndWrites]
            | [Access::Writes | Access::ReadsAndWrites, Access::MapsToRead] => Access::ReadsAndWrites,
            [Access::Reads, Access::MapsToRead] | [Access::MapsToRead, Access::Reads] => Access::MapsToRead,
            [Access::ReadsAndWrites, _] | [_, Access::ReadsAndWrites] => Access::ReadsAndWrites,
            [one, _] => one,
        }
    }
}

/// Process that holds an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Holder {
    pub pid: i32,
    /// Name of its program, as far as the kernel keeps it. It may contain any character: print it with `furlong_render::plain`.
    pub command: String,
    pub access: Access,
    /// Inode of the socket that it holds, if the object is a connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_of_one_process_are_joined_in_any_order() {
        for (one, other, both) in [
            (Access::Reads, Access::Writes, Access::ReadsAndWrites),
            (Access::Reads, Access::Reads, Access::Reads),
            (Access::ReadsAndWrites, Access::Maps, Access::Maps),
            (Access::ReadsAndWrites, Access::MapsToRead, Access::ReadsAndWrites),
            (Access::Reads, Access::MapsToRead, Access::MapsToRead),
        ] {
            assert_eq!([one.and(other), other.and(one)], [both; 2], "{one:?} {other:?}");
        }
    }
}

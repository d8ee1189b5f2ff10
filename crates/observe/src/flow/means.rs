//! Means of communication that flows have.

use serde::Serialize;

/// Means by which messages of a flow are transferred. Its name in JSON is in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say everything")]
pub enum Means {
    Pipe,
    Fifo,
    /// A socket of AF_UNIX.
    Unix,
    Tcp,
    Udp,
    PosixMq,
    SysvMq,
    SysvSem,
    Eventfd,
    /// A futex word in memory that processes share.
    Futex,
    /// A futex word of threads of one process.
    PrivateFutex,
    /// `process_vm_readv` and `process_vm_writev`.
    ProcessVm,
    Signal,
    /// Writes to a file that another process watches.
    Inotify,
    Flock,
    FcntlLock,
}

impl Means {
    /// Returns the name in JSON.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Returns the name for readers.
    pub fn words(self) -> &'static str {
        match self {
            Means::Pipe => "anonymous pipe",
            Means::Fifo => "FIFO",
            Means::Unix => "UNIX socket",
            Means::Tcp => "TCP",
            Means::Udp => "UDP",
            Means::PosixMq => "POSIX queue",
            Means::SysvMq => "System V queue",
            Means::SysvSem => "System V semaphores",
            Means::Eventfd => "event counter",
            Means::Futex => "futex in shared memory",
            Means::PrivateFutex => "futex of one process",
            Means::ProcessVm => "process memory",
            Means::Signal => "signals",
            Means::Inotify => "inotify",
            Means::Flock => "file lock (flock)",
            Means::FcntlLock => "file lock (fcntl)",
        }
    }
}

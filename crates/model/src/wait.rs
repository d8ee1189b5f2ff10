//! The ways a process can wait for a message or for room.

use crate::InvalidName;
use crate::name::named;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How a process waits: the second half of a row's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The call itself sleeps until it can go on.
    Block,
    /// Try again at once, without giving up the processor.
    Spin,
    /// Try again after `sched_yield`.
    Yield,
    /// Try; when there is nothing, sleep in `select`, then try again.
    Select,
    /// Try; when there is nothing, sleep in `poll`, then try again.
    Poll,
    /// Try; when there is nothing, sleep in `epoll_wait`, then try again.
    Epoll,
    /// `select` before every single call, as many older programs do.
    SelectFirst,
    /// Sleep on a word of shared memory until it changes.
    Futex,
    /// Sleep on a `sem_t` in shared memory.
    PosixSemaphore,
    /// Sleep on a System V semaphore.
    SysvSemaphore,
    /// Sleep reading an eventfd.
    Eventfd,
    /// Sleep in `sigwaitinfo` for a real-time signal.
    Signal,
}

/// Whether a way of waiting gives the processor to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// The waiting process uses no processor time.
    Sleeping,
    /// The waiting process keeps its processor busy.
    Spinning,
}

impl Wait {
    /// All of them, in the order that tables use.
    pub const ALL: [Wait; 12] = [
        Wait::Block,
        Wait::Spin,
        Wait::Yield,
        Wait::Select,
        Wait::Poll,
        Wait::Epoll,
        Wait::SelectFirst,
        Wait::Futex,
        Wait::PosixSemaphore,
        Wait::SysvSemaphore,
        Wait::Eventfd,
        Wait::Signal,
    ];

    /// The name in rows, options and records.
    pub const fn name(self) -> &'static str {
        match self {
            Wait::Block => "block",
            Wait::Spin => "spin",
            Wait::Yield => "yield",
            Wait::Select => "select",
            Wait::Poll => "poll",
            Wait::Epoll => "epoll",
            Wait::SelectFirst => "select-first",
            Wait::Futex => "futex",
            Wait::PosixSemaphore => "posix-semaphore",
            Wait::SysvSemaphore => "sysv-semaphore",
            Wait::Eventfd => "eventfd",
            Wait::Signal => "signal",
        }
    }

    /// Whether the waiting process sleeps or keeps its processor busy.
    #[inline]
    pub const fn kind(self) -> WaitKind {
        match self {
            Wait::Spin | Wait::Yield => WaitKind::Spinning,
            _ => WaitKind::Sleeping,
        }
    }

    /// Whether the harness waits around a call that never blocks, rather than the mechanism inside it.
    pub const fn needs_non_blocking(self) -> bool {
        matches!(self, Wait::Spin | Wait::Yield | Wait::Select | Wait::Poll | Wait::Epoll | Wait::SelectFirst)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Wait {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        named("wait", text, Wait::ALL, Wait::name)
    }
}

//! The ways a process can wait for a message or for room.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// How a process waits: the second half of a row's name.
    Wait, "wait" {
        /// The call itself sleeps until it can go on.
        Block = "block",
        /// Try again at once, without giving up the processor.
        Spin = "spin",
        /// Try again after `sched_yield`.
        Yield = "yield",
        /// Try; when there is nothing, sleep in `select`, then try again.
        Select = "select",
        /// Try; when there is nothing, sleep in `poll`, then try again.
        Poll = "poll",
        /// Try; when there is nothing, sleep in `epoll_wait`, then try again.
        Epoll = "epoll",
        /// Try; when there is nothing, sleep in `io_uring_enter` until a poll that was requested there ends, then try again.
        IoUring = "io-uring",
        /// `select` before every single call, as many older programs do.
        SelectFirst = "select-first",
        /// Sleep on a word of shared memory until it changes.
        Futex = "futex",
        /// Try again for about as long as a wake-up takes, then sleep on a word of shared memory.
        Adaptive = "adaptive",
        /// Sleep on a `sem_t` in shared memory.
        PosixSemaphore = "posix-semaphore",
        /// Sleep on a System V semaphore.
        SysvSemaphore = "sysv-semaphore",
        /// Sleep on a condition variable in shared memory, with a robust mutex.
        ConditionVariable = "condition-variable",
        /// Sleep reading an eventfd.
        Eventfd = "eventfd",
        /// Sleep in `sigwaitinfo` for a real-time signal.
        Signal = "signal",
        /// Sleep reading an inotify queue.
        Inotify = "inotify",
        /// Sleep until the other end gives up an `flock` lock.
        Flock = "flock",
        /// Sleep until the other end gives up an `fcntl` lock.
        FcntlLock = "fcntl-lock",
        /// Sleep until an event of Windows is set.
        Event = "event",
        /// Sleep on a semaphore of Windows.
        Semaphore = "semaphore",
        /// Sleep until the other end gives up a mutex of Windows.
        Mutex = "mutex",
        /// Begin the call, and sleep until an event of Windows tells its end.
        Overlapped = "overlapped",
        /// As the programs themselves do, which nobody but they know.
        Own = "own",
    }
}

/// Whether a way of waiting gives the processor to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// The waiting process uses no processor time.
    Sleeping,
    /// The waiting process keeps its processor busy for a moment, then uses no processor time.
    Adaptive,
    /// The waiting process keeps its processor busy.
    Spinning,
    /// Nobody knows.
    Unknown,
}

impl Wait {
    /// Whether the waiting process sleeps, keeps its processor busy, or one after the other.
    #[inline]
    pub const fn kind(self) -> WaitKind {
        match self {
            Wait::Spin | Wait::Yield => WaitKind::Spinning,
            Wait::Adaptive => WaitKind::Adaptive,
            Wait::Own => WaitKind::Unknown,
            _ => WaitKind::Sleeping,
        }
    }

    /// Whether the waiting process gives up its processor in the end, where it waits for long.
    #[inline]
    pub const fn sleeps_in_the_end(self) -> bool {
        !matches!(self.kind(), WaitKind::Spinning)
    }

    /// Whether the harness waits around a call that never blocks, rather than the mechanism inside it.
    pub const fn needs_non_blocking(self) -> bool {
        matches!(
            self,
            Wait::Spin
                | Wait::Yield
                | Wait::Select
                | Wait::Poll
                | Wait::Epoll
                | Wait::IoUring
                | Wait::SelectFirst
        )
    }

    /// Those that can wait for one of several descriptors.
    pub const FOR_SEVERAL: [Wait; 4] = [Wait::Select, Wait::Poll, Wait::Epoll, Wait::IoUring];
}

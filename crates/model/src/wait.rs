//! The wait strategies of a process, for a message or for room.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The wait strategy: the second half of a benchmark's name.
    Wait, "wait" {
        /// The call itself blocks until it can continue.
        Block = "block",
        /// Retries immediately, without giving up the CPU.
        Spin = "spin",
        /// Retries after `sched_yield`.
        Yield = "yield",
        /// Tries; if nothing is available, blocks in `select` and retries.
        Select = "select",
        /// Tries; if nothing is available, blocks in `poll` and retries.
        Poll = "poll",
        /// Tries; if nothing is available, blocks in `epoll_wait` and retries.
        Epoll = "epoll",
        /// Tries; if nothing is available, blocks in `io_uring_enter` until a requested poll completes, and retries.
        IoUring = "io-uring",
        /// Calls `select` before every single call, like many older programs.
        SelectFirst = "select-first",
        /// Blocks on a word of shared memory until it changes.
        Futex = "futex",
        /// Retries for about the duration of a wake-up, then blocks on a word of shared memory.
        Adaptive = "adaptive",
        /// Blocks on a `sem_t` in shared memory.
        PosixSemaphore = "posix-semaphore",
        /// Blocks on a System V semaphore.
        SysvSemaphore = "sysv-semaphore",
        /// Blocks on a condition variable in shared memory, with a robust mutex.
        ConditionVariable = "condition-variable",
        /// Blocks in a read of an eventfd.
        Eventfd = "eventfd",
        /// Blocks in `sigwaitinfo` until a real-time signal arrives.
        Signal = "signal",
        /// Blocks in a read of an inotify queue.
        Inotify = "inotify",
        /// Blocks until the other end releases an `flock` lock.
        Flock = "flock",
        /// Blocks until the other end releases an `fcntl` lock.
        FcntlLock = "fcntl-lock",
        /// Blocks until a Windows event is set.
        Event = "event",
        /// Blocks on a Windows semaphore.
        Semaphore = "semaphore",
        /// Blocks until the other end releases a Windows mutex.
        Mutex = "mutex",
        /// Starts the call, and blocks until a Windows event reports its completion.
        Overlapped = "overlapped",
        /// The strategy of the programs themselves, which furlong does not know.
        Own = "own",
    }
}

/// Whether a wait strategy gives up the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// The waiting process uses no CPU time.
    Sleeping,
    /// The waiting process keeps its CPU busy for a moment, then uses no CPU time.
    Adaptive,
    /// The waiting process keeps its CPU busy.
    Spinning,
    /// Unknown.
    Unknown,
}

impl Wait {
    /// Returns whether the waiting process blocks, keeps its CPU busy, or does both in turn.
    #[inline]
    pub const fn kind(self) -> WaitKind {
        match self {
            Wait::Spin | Wait::Yield => WaitKind::Spinning,
            Wait::Adaptive => WaitKind::Adaptive,
            Wait::Own => WaitKind::Unknown,
            _ => WaitKind::Sleeping,
        }
    }

    /// Returns whether the waiting process gives up its CPU in a long wait.
    #[inline]
    pub const fn sleeps_in_the_end(self) -> bool {
        !matches!(self.kind(), WaitKind::Spinning)
    }

    /// Returns whether the harness waits around a non-blocking call. Otherwise the mechanism waits inside the call.
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

    /// The strategies that can wait for one of several descriptors.
    pub const FOR_SEVERAL: [Wait; 4] = [Wait::Select, Wait::Poll, Wait::Epoll, Wait::IoUring];
}

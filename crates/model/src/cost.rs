//! What this machine charges for the things of which a round trip is made.

use serde::{Deserialize, Serialize};

/// One look at the costs, taken between trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostReading {
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// What was measured, each the median of many repetitions; what could not be had is left out.
    pub figures: Vec<CostFigure>,
}

/// One figure of a look.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostFigure {
    /// Of what.
    pub cost: Cost,
    /// For how many bytes, where that matters.
    pub size_bytes: Option<usize>,
    /// Nanoseconds for one.
    pub ns: f64,
}

/// The things that are measured by themselves. Context switch and wake-up are not among them: they come from rows
/// that carry nothing, measured by the same loop as all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// One reading of the clock.
    ClockRead,
    /// A system call that does nothing (getppid).
    SystemCall,
    /// Waking a futex on which nobody sleeps.
    FutexWake,
    /// Waiting on a futex whose word has changed already.
    FutexWait,
    /// Posting a POSIX semaphore and taking it again, uncontended.
    PosixSemaphore,
    /// Posting a System V semaphore and taking it again, uncontended.
    SysvSemaphore,
    /// Writing 8 bytes into a pipe and reading them again.
    PipeTransfer,
    /// Writing 8 bytes into a UNIX socket and reading them from its other end.
    SocketTransfer,
    /// A poll of a descriptor that can be read already.
    Poll,
    /// The first touch of a page of anonymous memory.
    PageFault,
    /// Copying this many bytes, source and destination in this processor's caches as far as they fit.
    Copy,
    /// A message of this many bytes between two cores whose processes spin for each other: written by one, seen and
    /// read by the other.
    CopyAcross,
    /// Copying this many bytes, as above, where the reader sleeps until it is woken: what each message takes longer
    /// than one of 8 bytes. Caches of a core that has slept are cold.
    CopyAcrossAsleep,
}

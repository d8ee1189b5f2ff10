//! The costs of the operations of which a round trip consists, on this machine.

use serde::{Deserialize, Serialize};

/// One reading of the costs, between trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostReading {
    /// Nanoseconds since the start of the run.
    pub at_ns: u64,
    /// The measured costs, each the median of many repetitions. Costs that could not be measured are missing.
    pub figures: Vec<CostFigure>,
}

/// One cost of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostFigure {
    /// The operation.
    pub cost: Cost,
    /// Bytes of the operation, if they matter.
    pub size_bytes: Option<usize>,
    /// Nanoseconds per operation.
    pub ns: f64,
}

/// The operations that are measured separately. Context switch and wake-up are not among them, because benchmarks
/// without payload measure them in the same loop as all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// One reading of the clock.
    ClockRead,
    /// A system call that does nothing (getppid).
    SystemCall,
    /// A wake-up of a futex without a sleeping process.
    FutexWake,
    /// A wait on a futex whose word has already changed.
    FutexWait,
    /// A post and a wait of a POSIX semaphore, uncontended.
    PosixSemaphore,
    /// A post and a wait of a System V semaphore, uncontended.
    SysvSemaphore,
    /// A write of 8 bytes to a pipe, and a read.
    PipeTransfer,
    /// A write of 8 bytes to a UNIX socket, and a read from its other end.
    SocketTransfer,
    /// A poll of a descriptor that is readable already.
    Poll,
    /// The first access to a page of anonymous memory.
    PageFault,
    /// A copy of this number of bytes, with source and destination in the caches of this CPU, as far as they fit.
    Copy,
    /// A message of this number of bytes between two cores whose processes busy-wait: one process writes it, the other
    /// one detects and reads it.
    CopyAcross,
    /// A copy like `CopyAcross`, to a reader that sleeps until it is woken: the additional time compared with a message
    /// of 8 bytes. The caches of a core that has slept are cold.
    CopyAcrossAsleep,
}

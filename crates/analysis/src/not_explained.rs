//! Reasons why a benchmark with a speed cannot be explained.

use crate::SkippedStatus;
use serde::Serialize;

/// Case outside the model, or missing data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NotExplained {
    /// Both ends are in one process, which is the reference for other benchmarks.
    OneProcess,
    /// No message is passed.
    NoMessage,
    /// Messages do not follow each other at once.
    Paced,
    /// The scheduler chose the CPUs of the roles.
    Free,
    /// The responder was on another host, whose costs are unknown.
    OtherHost,
    /// The boundary between the roles may add costs that were not measured separately.
    BeyondBoundary,
    /// A condition was requested, but the costs were measured under the inherited ones.
    RequestedConditions,
    /// Messages are not copied, but the model assumes copies.
    InPlace,
    /// Several messages are in flight, but the model assumes one.
    SeveralOutstanding,
    /// Several pairs run in parallel, but the model assumes one.
    SeveralPairs,
    /// The waiting role yields on the shared core.
    YieldsOnOneCore,
    /// The waiting role busy-waits on the shared core.
    SpinsOnOneCore,
    /// The benchmark was not measured with both ends in one process.
    NotInOneProcess,
    /// The benchmark has no speed with both ends in one process.
    SkippedInOneProcess {
        /// Status in one process.
        status: SkippedStatus,
        /// Reason for the status.
        reason: String,
    },
    /// The system calls were not counted.
    NotCounted {
        /// Reasons against each method of counting, one sentence each; empty if none was tried.
        why: Vec<String>,
    },
    /// The system calls with both ends in one process were not counted.
    NotCountedInOneProcess,
    /// The run lacks a cost.
    NoCost {
        /// Name of the cost.
        name: String,
    },
}

//! Why a row with a speed cannot be explained.

use crate::SkippedStatus;
use serde::Serialize;

/// What the model does not cover, or what it lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NotExplained {
    /// Both ends are in one process, which the others are compared with.
    OneProcess,
    /// It passes no message.
    NoMessage,
    /// Its messages do not follow each other at once.
    Paced,
    /// The scheduler chose where its roles ran.
    Free,
    /// Its responder was on another host, of whose costs nothing is known.
    OtherHost,
    /// What lies between its roles may be on the way of its messages, and costs what nobody has measured by itself.
    BeyondBoundary,
    /// Its messages are not copied, and the model is of copies.
    InPlace,
    /// Several of its messages are outstanding, and the model is of one.
    SeveralOutstanding,
    /// Several pairs do the same at once, and the model is of one.
    SeveralPairs,
    /// On one core, and the role that waits yields.
    YieldsOnOneCore,
    /// On one core, and the role that waits spins.
    SpinsOnOneCore,
    /// It was not measured with both ends in one process.
    NotInOneProcess,
    /// With both ends in one process it has no speed.
    SkippedInOneProcess {
        /// What came of it there.
        status: SkippedStatus,
        /// Why.
        reason: String,
    },
    /// Its system calls were not counted.
    NotCounted {
        /// Why each way of counting could not be had, a sentence each; none where it was not tried.
        why: Vec<String>,
    },
    /// Its system calls with both ends in one process were not counted.
    NotCountedInOneProcess,
    /// The run does not tell a cost.
    NoCost {
        /// Which.
        name: String,
    },
}

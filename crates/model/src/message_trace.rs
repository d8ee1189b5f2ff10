//! Events of the messages of a benchmark, traced in the kernel.

use crate::Role;

/// Traced trials of a benchmark, which alternated with trials without tracing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessageTrace {
    #[expect(missing_docs, reason = "the name says everything")]
    pub trials: Vec<TracedTrial>,
    /// Median round trip of each trial without tracing, in nanoseconds.
    pub untraced_ns: Vec<f64>,
    /// Tracepoints that the kernel lacks.
    pub missing: Vec<&'static str>,
}

/// Trial with tracing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracedTrial {
    /// Events of the measured part, in any order.
    pub events: Vec<MessageEvent>,
    /// Number of events that did not fit into the buffer.
    pub lost: u64,
    /// Median round trip by the initiator's clock, in nanoseconds.
    pub round_trip_ns: f64,
}

/// Event on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct MessageEvent {
    pub time_ns: u64,
    pub cpu: usize,
    pub kind: MessageEventKind,
}

/// Kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageEventKind {
    /// The role enters a system call.
    Entered(Role),
    /// The role returns from a system call.
    Returned(Role, CallResult),
    /// The role, or another thread, begins to wake a role.
    Waking {
        /// Role that runs; `None` for other threads.
        by: Option<Role>,
        /// Woken role.
        role: Role,
    },
    /// The role is runnable.
    Woken(Role),
    /// The scheduler has selected the role to run next.
    Selected(Role),
    /// The role runs.
    SwitchedIn(Role),
    /// The role leaves its CPU to wait.
    Blocked(Role),
    /// The CPU leaves its idle state.
    IdleExit,
    /// Another CPU interrupts this one.
    Interrupt,
}

/// Result of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// A message was sent.
    Sent,
    /// A message was received.
    Received,
    /// Neither, or unknown.
    Other,
}

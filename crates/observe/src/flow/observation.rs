//! The result of an observation.

use super::links::{Link, Peer};
use serde::Serialize;
use std::collections::BTreeSet;

/// Version of the JSON.
pub const SCHEMA: u32 = 1;

/// Communication of the observed processes within the observed time.
#[derive(Debug, Clone, Serialize)]
pub struct Observation {
    /// Version of the JSON; it changes when a field changes its meaning or is removed.
    pub schema: u32,
    /// Observed time in nanoseconds.
    pub duration_ns: u64,
    /// Links, those with the most messages first.
    pub links: Vec<Link>,
    /// Observed processes that ran.
    pub processes: Vec<ObservedProcess>,
    /// Memory that at least two observed processes map. Stores to it make no system calls.
    pub shared_memory: Vec<SharedMemory>,
    #[expect(missing_docs, reason = "the type says everything")]
    pub observer: ObserverCost,
    /// Number of descriptors that were closed before they could be identified.
    pub unidentified_descriptors: u64,
}

/// Activity of a process.
#[derive(Debug, Clone, Serialize)]
pub struct ObservedProcess {
    #[serde(flatten)]
    #[expect(missing_docs, reason = "the type says everything")]
    pub peer: Peer,
    /// CPU time divided by the observed time: 1 is one CPU.
    pub cpu_share: f64,
    /// Context switches per second because a thread waits.
    pub voluntary_switches_per_s: f64,
    /// Context switches per second because another process ran.
    pub preemptions_per_s: f64,
    /// Traced system calls per second.
    pub calls_per_s: f64,
    /// Share of a CPU that the trace of these calls took in the process, without that of context switches: 0.1 is 10 % of a CPU.
    pub tracing_share: f64,
    /// Calls of io_uring. The transfers that they start are not system calls, so no link shows them.
    pub io_uring_calls: u64,
}

/// Memory that observed processes share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SharedMemory {
    /// Kind, as `furlong ipc` prints it.
    pub kind: String,
    /// Name, if it has one. It may contain any character.
    pub name: Option<String>,
    /// Mapped size in bytes.
    pub bytes: u64,
    /// Whether one of the processes may write it.
    #[serde(skip)]
    pub is_written: bool,
    /// Processes that map it.
    pub processes: BTreeSet<i32>,
}

impl SharedMemory {
    /// Returns whether several processes can communicate through it.
    pub fn is_shared(&self) -> bool {
        self.is_written && self.processes.len() > 1
    }
}

/// Cost of the observation.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ObserverCost {
    /// CPU time of this process divided by the observed time: 1 is one CPU.
    pub cpu_share: f64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub events: u64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub events_per_s: f64,
    /// Time in nanoseconds by which a traced call takes longer, measured on this process before the observation.
    pub traced_call_ns: f64,
    /// Events that did not fit into the rings. If there are any, all rates are too low.
    pub lost_events: u64,
}

//! What one counted pass of a case found: system calls, switches, faults, and what the processor counts.

use crate::named_enum::named_enum;
use crate::{Bounds, Case, Copies, Family, Role, RoleTally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counted pass of one case, as of [`Trial`](crate::Trial). Its times are not kept: counting changes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count<C = Case> {
    /// What was counted.
    #[serde(alias = "handover")]
    pub case: C,
    /// The kind of mechanism; `None` if there is none.
    pub family: Option<Family>,
    /// How often the mechanism copies a message; `None` if there is none, or the writer did not say.
    #[serde(default)]
    pub copies: Option<Copies>,
    /// How system calls were counted.
    pub method: CountMethod,
    /// Why each better method could not be had, best first, a sentence each.
    pub why_not_better: Vec<String>,
    /// What each role did, the initiator first.
    pub roles: Vec<RoleCount>,
    /// Why the processor's own counters are missing; `None` if they are there.
    pub hardware_absent: Option<String>,
    /// What the mechanism declares that one role calls in a round trip, by name.
    #[serde(default)]
    pub declared: BTreeMap<String, Bounds>,
}

named_enum! {
    /// How system calls were counted.
    CountMethod {
        /// The kernel's tracepoint raw_syscalls:sys_enter, read through perf_event_open.
        Tracepoint = "tracepoint",
        /// Stopping the role at each call with ptrace.
        Ptrace = "ptrace",
        /// Not at all: switches and faults are from getrusage, system calls are missing.
        Rusage = "rusage",
    }
}

/// What one role did in the counted pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleCount {
    /// Which end.
    pub role: Role,
    /// Round trips in which system calls were counted.
    pub round_trips: u64,
    /// System calls in those, by name; `None` where no method could be had.
    pub system_calls: Option<BTreeMap<String, u64>>,
    /// How many of them threads of each name made, where several did: an adapter's, with what its library has of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<String, u64>,
    /// The calls by name of threads that have taken a name of their own, by that name: those of an adapter's libraries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub library_threads: BTreeMap<String, BTreeMap<String, u64>>,
    /// Switches, faults and processor time, from a trial in which no call was traced: tracing itself switches.
    pub usage: RoleTally,
    /// What the processor counted in that trial, by name, as in `instructions`; empty where it has no counters.
    pub hardware: BTreeMap<String, u64>,
}

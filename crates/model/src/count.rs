//! The result of one counted pass of a case: system calls, context switches, page faults, and hardware counters.

use crate::named_enum::named_enum;
use crate::{Bounds, Case, Copies, Family, Role, RoleTally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counted pass of one case, as in [`Trial`](crate::Trial). Its times are not kept, because counting changes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count<C = Case> {
    /// The counted case.
    #[serde(alias = "handover")]
    pub case: C,
    /// The kind of mechanism; `None` if there is none.
    pub family: Option<Family>,
    /// Number of copies that the mechanism makes of a message; `None` if there is no mechanism, or in older records.
    #[serde(default)]
    pub copies: Option<Copies>,
    /// The method that counted system calls.
    pub method: CountMethod,
    /// The reasons why each better method was not available, best first, one sentence each.
    pub why_not_better: Vec<String>,
    /// The counts of each role, the initiator first.
    pub roles: Vec<RoleCount>,
    /// The reason why hardware counters are missing; `None` if they are available.
    pub hardware_absent: Option<String>,
    /// The calls that the mechanism declares for one role in a round trip, by name.
    #[serde(default)]
    pub declared: BTreeMap<String, Bounds>,
}

named_enum! {
    /// The method that counts system calls.
    CountMethod {
        /// The kernel's tracepoint raw_syscalls:sys_enter, read through perf_event_open.
        Tracepoint = "tracepoint",
        /// ptrace stops the role at each call.
        Ptrace = "ptrace",
        /// System calls are not counted; context switches and page faults are from getrusage.
        Rusage = "rusage",
    }
}

/// The counts of one role in the counted pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoleCount {
    /// The role.
    pub role: Role,
    /// Round trips during which system calls were counted.
    pub round_trips: u64,
    /// System calls in these round trips, by name; `None` if no method was available.
    pub system_calls: Option<BTreeMap<String, u64>>,
    /// Number of these calls by name of thread, if several threads made calls, for example those of an adapter's
    /// library.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<String, u64>,
    /// The calls of threads that have set their own name, by that name and the name of the call: the threads of an
    /// adapter's libraries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub library_threads: BTreeMap<String, BTreeMap<String, u64>>,
    /// Context switches, page faults and CPU time, from a trial without tracing, because tracing causes context
    /// switches.
    pub usage: RoleTally,
    /// Hardware counters of that trial by name, for example `instructions`; empty if there are none.
    pub hardware: BTreeMap<String, u64>,
}

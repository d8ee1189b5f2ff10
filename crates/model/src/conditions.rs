//! The state that a process inherits from its parent and that changes figures.

use serde::{Deserialize, Serialize};

/// Timer slack that the kernel gives to the first process, in nanoseconds.
pub const DEFAULT_TIMER_SLACK_NS: u64 = 50_000;

/// Default CPU weight of a control group, in the units of version 2.
pub const DEFAULT_CPU_WEIGHT: u64 = 100;

/// Build profile of furlong that compiles without optimisation.
pub const DEBUG_BUILD: &str = "debug";

/// Conditions of the roles of a run. A condition that could not be read is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// Scheduling policy, as in `other`, `batch`, `idle`, `fifo`, `rr` or `deadline`.
    pub policy: Option<String>,
    /// Real-time priority, 0 for policies without one.
    pub priority: Option<u64>,
    /// Nice value, -20 to 19.
    pub nice: Option<i64>,
    /// Whether children get the default policy (`SCHED_RESET_ON_FORK`).
    pub reset_on_fork: Option<bool>,
    /// Time slice in nanoseconds (Linux 6.12 or later), or the runtime of `deadline`.
    pub slice_ns: Option<u64>,
    /// Nice value of the session's autogroup, as in `nice 0`, or `disabled`.
    pub autogroup: Option<String>,
    /// Timer slack in nanoseconds.
    pub timer_slack_ns: Option<u64>,
    /// Whether the process was denied transparent huge pages (`PR_SET_THP_DISABLE`).
    pub huge_pages_disabled: Option<bool>,
    /// Smallest CPU quota of all control groups, in CPUs; `None` without a quota.
    pub quota_cpus: Option<f64>,
    /// Period of that quota in microseconds.
    pub quota_period_us: Option<f64>,
    /// Smallest CPU weight of all control groups, in the units of version 2.
    pub cpu_weight: Option<u64>,
    /// Seccomp mode: `disabled`, `strict` or `filter`.
    pub seccomp: Option<String>,
    /// Number of seccomp filters on every system call.
    pub seccomp_filters: Option<u64>,
    /// Whether programs get no additional rights from their files (`PR_SET_NO_NEW_PRIVS`).
    pub no_new_privileges: Option<bool>,
    /// Label of the process in a security module, as in `docker-default (enforce)`.
    pub security_label: Option<String>,
    /// Speculative store bypass, as in `thread vulnerable` (`PR_SPEC_STORE_BYPASS`).
    pub store_bypass: Option<String>,
    /// Speculation of indirect branches, as in `conditional enabled` (`PR_SPEC_INDIRECT_BRANCH`).
    pub indirect_branch: Option<String>,
    /// Kind of container, as in `docker`, the namespaces of an unknown container, or `none`.
    pub container: Option<String>,
    /// Build profile of furlong: `debug`, `release` or `dist`.
    pub build: Option<String>,
    /// Allowed memory nodes, as in `0-1`.
    pub memory_nodes: Option<String>,
    /// Soft limits by their names, as in `RLIMIT_NPROC`, in bytes, seconds or pieces, or `unlimited`.
    pub limits: Vec<(String, String)>,
}

//! Conditions that the supervisor kept around a trial, as they were in effect in its measured part.

use serde::{Deserialize, Serialize};

/// Quotas and neighbours of one trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialEnvironment {
    /// CPU quota of each party, in their order; empty without a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaUse>,
    /// Neighbours; empty if none ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourUse>,
}

/// CPU quota of one party, as read back from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUse {
    /// CPU time per period, in microseconds.
    pub quota_us: u64,
    /// Length of a period in microseconds.
    pub period_us: u64,
    /// Number of periods of the measured part in which the party was runnable.
    pub periods: u64,
    /// Number of those periods in which it used up its quota.
    pub throttled_periods: u64,
    /// Time for which it was throttled, in nanoseconds.
    pub throttled_ns: u64,
}

impl QuotaUse {
    /// Returns the use between an earlier reading of the counters and this one.
    #[must_use]
    pub fn since(self, earlier: &QuotaUse) -> QuotaUse {
        QuotaUse {
            periods: self.periods.saturating_sub(earlier.periods),
            throttled_periods: self.throttled_periods.saturating_sub(earlier.throttled_periods),
            throttled_ns: self.throttled_ns.saturating_sub(earlier.throttled_ns),
            ..self
        }
    }
}

/// Process of a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourUse {
    /// Requested neighbour, for example `cpu:1`.
    pub work: String,
    /// CPU that it was pinned to; `None` if the scheduler chose.
    pub processor: Option<usize>,
    /// Whether it was to have a CPU without a role, and no such CPU was free.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_cpu: bool,
    /// CPU time in the measured part, in nanoseconds.
    pub cpu_ns: u64,
}

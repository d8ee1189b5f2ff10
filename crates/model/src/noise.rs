//! What else the machine was doing: read before, between and after trials.

use serde::{Deserialize, Serialize};

/// One look at the machine. Counters count since boot; a fact that could not be read is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoiseReading {
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// Round trip of one cache line between the two processors of `other-core`, in nanoseconds.
    pub core_to_core_ns: Option<f64>,
    /// Round trip between two processes that sleep on these processors, in nanoseconds: in the first hundredths of a second, and
    /// after a tenth of a second of nothing else. Read once, in a run whose trials are shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeping_pair_ns: Option<[f64; 2]>,
    /// Share of a short spin that the processors did not give to it, 0 to 1: the mean of those used, and the worst of them in
    /// records of before.
    pub spin_lost: Option<f64>,
    /// Runnable processes averaged over the last minute.
    pub load_average: Option<f64>,
    /// Percentage of the last 10 s in which some process waited for a processor.
    pub processor_pressure: Option<f64>,
    /// Time that the hypervisor gave to others, in clock ticks over all processors.
    pub steal_ticks: Option<u64>,
    /// All time accounted, in clock ticks over all processors.
    pub total_ticks: Option<u64>,
    /// Periods in which the control group was out of quota.
    pub throttled_periods: Option<u64>,
    /// CPUs whose time the control group may use, by the smallest quota of those around this process; `None` without a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_cpus: Option<f64>,
}

/// All readings of a run, in their order.
pub type Noise = Vec<NoiseReading>;

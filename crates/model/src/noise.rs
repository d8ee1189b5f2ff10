//! Other activity of the machine, read before, between and after trials.

use serde::{Deserialize, Serialize};

/// One reading. Counters count since boot. A fact that could not be read is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoiseReading {
    /// Nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Round-trip latency of one cache line between the two CPUs of `other-core`, in nanoseconds.
    pub core_to_core_ns: Option<f64>,
    /// Round-trip latency between two processes that block on these CPUs, in nanoseconds: the medians of the first and
    /// of the last quarter of 7000 round trips. Read at most once, in a run whose trials end before the latency
    /// changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeping_pair_ns: Option<[f64; 2]>,
    /// Share of a short busy-wait that the CPUs spent on other work, 0 to 1: the mean of the used CPUs, or the worst of
    /// them in older records.
    pub spin_lost: Option<f64>,
    /// Runnable processes, averaged over the last minute.
    pub load_average: Option<f64>,
    /// Percentage of the last 10 s in which a process waited for a CPU.
    pub processor_pressure: Option<f64>,
    /// Time that the hypervisor gave to other guests, in clock ticks over all CPUs.
    pub steal_ticks: Option<u64>,
    /// Total accounted time, in clock ticks over all CPUs.
    pub total_ticks: Option<u64>,
    /// Periods in which the control group had used up its quota.
    pub throttled_periods: Option<u64>,
    /// CPUs whose time the control group may use, according to the smallest quota of the groups around this process;
    /// `None` without a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_cpus: Option<f64>,
}

/// All readings of a run, in order.
pub type Noise = Vec<NoiseReading>;

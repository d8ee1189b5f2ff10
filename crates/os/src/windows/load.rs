//! Other activity on the machine, of which Windows reports little.

use furlong_model::NoiseReading;

/// Reads the counters once. The caller measures the core-to-core time and the spin. Windows reports no load average, no pressure
/// and no time that a hypervisor took.
pub fn reading(at_ns: u64) -> NoiseReading {
    NoiseReading {
        at_ns,
        core_to_core_ns: None,
        sleeping_pair_ns: None,
        spin_lost: None,
        load_average: None,
        processor_pressure: None,
        steal_ticks: None,
        total_ticks: None,
        throttled_periods: None,
        quota_cpus: None,
    }
}

//! What else the machine is doing: Windows says little of that.

use furlong_model::NoiseReading;

/// One look. Core-to-core time and spin are the caller's to measure; Windows has no load average, no pressure and no account
/// of what a hypervisor took.
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

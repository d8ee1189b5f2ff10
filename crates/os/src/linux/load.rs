//! What else the machine is doing.

use crate::linux::control_group;
use furlong_model::NoiseReading;
use std::fs::read_to_string;

/// One look at the counters. The core-to-core time and the spin are the caller's to measure.
pub fn reading(at_ns: u64) -> NoiseReading {
    let (steal_ticks, total_ticks) = ticks().unzip();
    NoiseReading {
        at_ns,
        core_to_core_ns: None,
        spin_lost: None,
        load_average: first_number("/proc/loadavg", ""),
        processor_pressure: first_number("/proc/pressure/cpu", "avg10="),
        steal_ticks,
        total_ticks,
        throttled_periods: throttled_periods(),
    }
}

/// The number behind `label` at the beginning of a word in the file's first line.
fn first_number(path: &str, label: &str) -> Option<f64> {
    let text = read_to_string(path).ok()?;
    text.lines().next()?.split_whitespace().find_map(|word| word.strip_prefix(label)?.parse().ok())
}

/// Ticks that the hypervisor gave to others, and all ticks.
fn ticks() -> Option<(u64, u64)> {
    let text = read_to_string("/proc/stat").ok()?;
    let all: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    // Guest time, in the last two, is part of user time already.
    Some((*all.get(7)?, all.iter().take(8).sum()))
}

/// Periods in which a control group that this process is in was out of quota.
fn throttled_periods() -> Option<u64> {
    let periods = control_group::around("cpu").into_iter().filter_map(|group| {
        let text = read_to_string(group.join("cpu.stat")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok())
    });
    periods.reduce(u64::saturating_add)
}

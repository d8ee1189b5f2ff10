//! Other activity on the machine.

use crate::control_group;
use furlong_model::NoiseReading;
use std::fs::read_to_string;
use std::path::PathBuf;

/// Reads the counters once. The caller measures the core-to-core time and the spin.
pub fn reading(at_ns: u64) -> NoiseReading {
    let (steal_ticks, total_ticks) = ticks().unzip();
    NoiseReading {
        at_ns,
        core_to_core_ns: None,
        sleeping_pair_ns: None,
        spin_lost: None,
        load_average: first_number("/proc/loadavg", ""),
        processor_pressure: first_number("/proc/pressure/cpu", "avg10="),
        steal_ticks,
        total_ticks,
        throttled_periods: throttled_periods(),
        quota_cpus: quota().map(|(cpus, _)| cpus),
    }
}

/// Returns the number after `label` at the beginning of a word in the file's first line.
fn first_number(path: &str, label: &str) -> Option<f64> {
    let text = read_to_string(path).ok()?;
    text.lines().next()?.split_whitespace().find_map(|word| word.strip_prefix(label)?.parse().ok())
}

/// Returns the ticks that the hypervisor gave to others, and all ticks.
fn ticks() -> Option<(u64, u64)> {
    let text = read_to_string("/proc/stat").ok()?;
    let all: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    // User time already contains guest time, in the last two fields.
    Some((*all.get(7)?, all.iter().take(8).sum()))
}

/// Returns the number of CPUs that the smallest quota of this process's control groups allows, of version 2 or 1, and the period
/// of that quota in microseconds.
pub(crate) fn quota() -> Option<(f64, f64)> {
    let of_group = |group: PathBuf| {
        let read = |name: &str| read_to_string(group.join(name)).ok();
        let both = || Some(read("cpu.cfs_quota_us")? + " " + &read("cpu.cfs_period_us")?);
        parse_quota(&read("cpu.max").or_else(both)?)
    };
    control_group::around("cpu").into_iter().filter_map(of_group).min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// Returns the number of CPUs and the period of a quota and its period, in microseconds; `None` if there is no limit, which version 2 writes as
/// `max` and version 1 as -1.
fn parse_quota(quota_and_period: &str) -> Option<(f64, f64)> {
    let mut words = quota_and_period.split_whitespace().map(str::parse::<f64>);
    let (quota, period) = (words.next()?.ok()?, words.next()?.ok()?);
    (quota > 0.0 && period > 0.0).then_some((quota / period, period))
}

/// Returns the number of periods in which a control group of this process exhausted its quota.
fn throttled_periods() -> Option<u64> {
    let periods = control_group::around("cpu").into_iter().filter_map(|group| {
        let text = read_to_string(group.join("cpu.stat")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok())
    });
    periods.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::parse_quota;

    #[test]
    fn a_quota_is_a_share_of_its_period() {
        assert_eq!(parse_quota("50000 100000\n"), Some((0.5, 1e5)));
        assert_eq!(parse_quota("150000\n 100000\n"), Some((1.5, 1e5)));
        assert_eq!([parse_quota("max 100000\n"), parse_quota("-1\n 100000\n"), parse_quota("")], [None; 3]);
    }
}

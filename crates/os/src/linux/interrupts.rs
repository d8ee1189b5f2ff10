//! Interrupts of devices, and the CPUs that serve them.

use crate::linux::affinity::parse_list;
use std::fs::read_to_string;
use std::path::Path;

/// Returns the number of device interrupts per second of each CPU, by number; none if the kernel does not report them.
pub fn per_second() -> Vec<f64> {
    per_second_at(Path::new("/proc"))
}

/// Returns the interrupts per second from the tree at `root`, which is usually `/proc`. The rate of an interrupt is its mean
/// since boot, because the mean of a short time differs between two runs. It counts for the CPU that serves the interrupt now.
fn per_second_at(root: &Path) -> Vec<f64> {
    let read = |file: &str| read_to_string(root.join(file)).unwrap_or_default();
    let interrupts = read("interrupts");
    let uptime_s = read("uptime").split(' ').next().and_then(|seconds| seconds.parse::<f64>().ok());
    let mut lines = interrupts.lines();
    let (Some(header), Some(uptime_s)) = (lines.next(), uptime_s.filter(|seconds| *seconds > 0.0)) else {
        return Vec::new();
    };
    let cpus: Vec<usize> =
        header.split_whitespace().filter_map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
    let mut rates = vec![0.0; cpus.iter().max().map_or(0, |last| last + 1)];
    for line in lines {
        // Lines with letters are interrupts of CPUs, such as timers, which every busy CPU has.
        let Some((number, rest)) =
            line.split_once(':').filter(|(number, _)| number.trim().parse::<u32>().is_ok())
        else {
            continue;
        };
        let counts: Vec<f64> =
            rest.split_whitespace().map_while(|count| count.parse().ok()).take(cpus.len()).collect();
        let total = counts.iter().sum::<f64>() / uptime_s;
        let served_by = parse_list(read(&format!("irq/{}/effective_affinity_list", number.trim())).trim());
        if served_by.is_empty() {
            cpus.iter().zip(counts).for_each(|(cpu, count)| rates[*cpu] += count / uptime_s);
        }
        for cpu in served_by.into_iter().filter(|cpu| cpus.contains(cpu)) {
            rates[cpu] += total;
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// CPU 1 is offline. Interrupt 9 was moved from CPU 0 to CPU 3.
    const INTERRUPTS: &str = "           CPU0       CPU2       CPU3
  4:        500          0          0  IO-APIC   4-edge      ttyS0
  9:     200000          0       1000 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx
 10:          0       7000          0 PCI-MSIX-0000:00:05.0   0-edge      2-queue
NMI:          0          0          0   Non-maskable interrupts
LOC:   15909316   16640988   15909316   Local timer interrupts
ERR:          0
";

    #[test]
    fn interrupts_count_for_the_cpu_that_serves_them_now() {
        let folder = tempfile::tempdir().unwrap();
        assert!(per_second_at(folder.path()).is_empty());
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("interrupts", INTERRUPTS);
        write("uptime", "100.00 190.00\n");
        write("irq/9/effective_affinity_list", "3\n");
        // A kernel without this file, and an interrupt without an owner.
        write("irq/10/effective_affinity_list", "\n");
        assert_eq!(per_second_at(folder.path()), [5.0, 0.0, 70.0, 2010.0]);
    }

    #[test]
    fn allowed_cpus_have_rates() {
        let rates = per_second();
        let allowed = crate::linux::affinity::allowed().unwrap();
        // A container may hide the file.
        assert!(rates.is_empty() || allowed.iter().all(|cpu| *cpu < rates.len()), "{rates:?}");
        assert!(rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{rates:?}");
    }
}

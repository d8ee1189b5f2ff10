//! State of the whole machine that outlives every process: block devices, mounts, huge pages, control groups.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Returns furlong's control groups in the groups of this process.
pub fn control_groups() -> BTreeSet<String> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut groups = BTreeSet::new();
    for (controllers, path) in own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')) {
        let entries = fs::read_dir(format!("/sys/fs/cgroup/{controllers}{path}"));
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        groups.extend(names.map(|path| path.display().to_string()).filter(|path| path.contains("/furlong-")));
    }
    groups
}

/// Kernel numbers that a run raises temporarily, by name.
pub type Limits = BTreeMap<String, u64>;

/// The kinds of file systems that furlong mounts. Mounts of other kinds may change at any time.
const KINDS: [&str; 3] = ["ext4", "tmpfs", "hugetlbfs"];

/// Returns the devices of the kinds that furlong creates. Each has its sequence number, which is unique, because the
/// name of a removed device is reused. A loop device gets a new number whenever it is bound, so a free one is listed
/// without.
pub fn devices() -> BTreeSet<String> {
    let mut devices = BTreeSet::new();
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let read = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
        let number = || format!("device {name}, number {}", read("diskseq").unwrap_or_default().trim());
        if name.starts_with("zram") {
            devices.insert(number());
        } else if name.starts_with("loop") {
            devices.insert(format!("device {name}"));
            devices.extend(read("loop/backing_file").map(|file| format!("{} of {file}", number())));
        }
    }
    devices
}

/// Returns the mounts of the machine's mount namespace.
pub fn mounts() -> impl Iterator<Item = String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let of_a_kind = |line: &&str| {
        let kind = line.split_once(" - ").and_then(|(_, rest)| rest.split_whitespace().next());
        kind.is_some_and(|kind| KINDS.contains(&kind))
    };
    let mounts: Vec<_> = table.lines().filter(of_a_kind).map(|line| format!("mount {line}")).collect();
    mounts.into_iter()
}

/// Returns the numbers of existing and allowed huge pages.
pub fn limits() -> Limits {
    let mut limits = Limits::new();
    for name in ["nr_hugepages", "nr_overcommit_hugepages"] {
        let text = fs::read_to_string(format!("/proc/sys/vm/{name}")).unwrap_or_default();
        limits.extend(text.trim().parse().map(|number| (format!("vm.{name}"), number)));
    }
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    for (name, number) in memory.lines().filter_map(|line| line.split_once(':')) {
        if ["HugePages_Total", "HugePages_Rsvd"].contains(&name) {
            limits.extend(number.trim().parse().map(|number| (name.to_owned(), number)));
        }
    }
    limits
}

/// Returns the numbers that have grown. A lower number is not the fault of a run, because another test had raised it
/// before.
pub fn raised(before: &Limits, now: &Limits) -> Vec<String> {
    let raised = now.iter().filter(|(name, number)| before.get(*name).is_some_and(|old| *number > old));
    raised.map(|(name, number)| format!("{name} = {number}, which was {}", before[name])).collect()
}

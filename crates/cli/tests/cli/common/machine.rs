//! What belongs to the whole machine and outlives every process: block devices, mounts, huge pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Numbers that a run raises for a moment, by their names.
pub type Limits = BTreeMap<String, u64>;

/// The kinds of file systems that furlong makes; a machine may mount others at any time.
const KINDS: [&str; 3] = ["ext4", "tmpfs", "hugetlbfs"];

/// The devices of the kinds that furlong makes, each with a number that no other will ever have: the names of devices
/// that are gone are given to new ones. A loop device gets another number whenever it is bound, so that a free one has
/// none.
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

/// The mounts that everybody sees.
pub fn mounts() -> impl Iterator<Item = String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let of_a_kind = |line: &&str| {
        let kind = line.split_once(" - ").and_then(|(_, rest)| rest.split_whitespace().next());
        kind.is_some_and(|kind| KINDS.contains(&kind))
    };
    let mounts: Vec<_> = table.lines().filter(of_a_kind).map(|line| format!("mount {line}")).collect();
    mounts.into_iter()
}

/// What says how many huge pages there are and may be.
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

/// Those of the numbers that are higher now. Lower is no fault of a run's: another test had raised them before.
pub fn raised(before: &Limits, now: &Limits) -> Vec<String> {
    let raised = now.iter().filter(|(name, number)| before.get(*name).is_some_and(|old| *number > old));
    raised.map(|(name, number)| format!("{name} = {number}, which was {}", before[name])).collect()
}

//! How much memory may still be taken before the kernel starts to kill.
//!
//! The kernel gives out memory that it has not got: whoever reserves more than there is brings processes to death, and
//! not only its own.

use crate::linux::control_group;
use std::fs;
use std::io;
use std::path::Path;

/// The memory in bytes that can be had without swapping, by the machine and by each control group that this process is
/// in; `None` where the kernel does not say.
pub fn available_bytes() -> Option<u64> {
    let machine = of_machine("MemAvailable:").map(|kib| kib * 1024);
    control_group::around("memory").iter().filter_map(|group| room_in(group)).chain(machine).min()
}

/// A number of the machine's account of its memory, as in `of_machine("MemTotal:")`, in the account's own unit: KiB, or
/// pages for numbers of pages.
pub fn of_machine(name: &str) -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, name)
}

/// How many processes the kernel has killed since it started because memory was short, on the machine and in its groups;
/// `None` where it does not say.
pub fn kills() -> Option<u64> {
    field(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

/// Where memory is short, the kernel kills this process rather than one that has not asked for that.
///
/// # Errors
/// That the kernel cannot be told: there is no /proc.
pub fn be_killed_first() -> io::Result<()> {
    /// As much as if half of all memory were this process's.
    const BADNESS: i32 = 500;
    const FILE: &str = "/proc/self/oom_score_adj";
    let now = fs::read_to_string(FILE)?.trim().parse().unwrap_or(0);
    // To make it less takes a right.
    if now < BADNESS { fs::write(FILE, BADNESS.to_string()) } else { Ok(()) }
}

/// What a group may still take: its limit less what it has, without the pages of files, which the kernel drops.
fn room_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let (limit, current, files) = match read("memory.max") {
        Some(limit) => (limit, read("memory.current")?, ["inactive_file ", "active_file "]),
        // Version 1, which counts the groups inside apart.
        None => {
            let files = ["total_inactive_file ", "total_active_file "];
            (read("memory.limit_in_bytes")?, read("memory.usage_in_bytes")?, files)
        }
    };
    let (limit, current) = (limit.trim().parse::<u64>().ok()?, current.trim().parse::<u64>().ok()?);
    let statistics = read("memory.stat").unwrap_or_default();
    let files: u64 = files.iter().filter_map(|name| field(&statistics, name)).sum();
    Some(limit.saturating_sub(current.saturating_sub(files)))
}

/// The first number behind `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_memory_and_not_more_than_the_machine_has() {
        let total = of_machine("MemTotal:").unwrap() * 1024;
        let available = available_bytes().unwrap();
        assert!(available > 0 && available <= total, "{available} of {total}");
    }

    #[test]
    fn the_kernel_counts_whom_it_kills() {
        let before = kills().unwrap();
        assert!(kills().unwrap() >= before);
    }

    #[test]
    fn a_group_has_what_its_limit_leaves() {
        let group = std::env::temp_dir().join(format!("group-{}", std::process::id()));
        fs::create_dir(&group).unwrap();
        let files =
            [("memory.max", "1000\n"), ("memory.current", "700\n"), ("memory.stat", "inactive_file 100\n")];
        for (name, text) in files {
            fs::write(group.join(name), text).unwrap();
        }
        let room = room_in(&group);
        fs::write(group.join("memory.max"), "max\n").unwrap();
        let unlimited = room_in(&group);
        fs::remove_dir_all(&group).unwrap();
        assert_eq!((room, unlimited), (Some(400), None));
    }

    #[test]
    fn a_group_of_version_1_has_what_its_limit_leaves() {
        let group = tempfile::tempdir().unwrap();
        let files = [
            ("memory.limit_in_bytes", "1000\n"),
            ("memory.usage_in_bytes", "700\n"),
            ("memory.stat", "inactive_file 50\ntotal_inactive_file 100\n"),
        ];
        for (name, text) in files {
            fs::write(group.path().join(name), text).unwrap();
        }
        assert_eq!(room_in(group.path()), Some(400));
    }
}

//! Memory that processes may still allocate before the kernel starts to kill.
//!
//! The kernel overcommits memory: if a process reserves more than the machine has, the kernel kills processes, and not only those
//! that have reserved it.

use crate::control_group;
use std::fs;
use std::io;
use std::path::Path;

/// Returns the memory in bytes that the machine, and each control group that this process is in, can provide without swapping:
/// the smallest of these values. `None` if the kernel reports none.
pub fn available_bytes() -> Option<u64> {
    let machine = read_machine("MemAvailable:").map(|kib| kib * 1024);
    control_group::around("memory").iter().filter_map(|group| room_in(group)).chain(machine).min()
}

/// Returns a number of /proc/meminfo, for example `read_machine("MemTotal:")`, in the unit of its line: KiB, or pages for numbers
/// of pages.
pub fn read_machine(name: &str) -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, name)
}

/// Returns the number of processes that the kernel has killed since it started because memory was short, on the machine and in
/// control groups; `None` if the kernel does not report it.
pub fn kills() -> Option<u64> {
    field(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

/// Makes the kernel kill this process first if memory is short, before processes that have not asked for that.
///
/// # Errors
/// Returns an error if there is no /proc.
pub fn be_killed_first() -> io::Result<()> {
    /// Counts as much as if this process used half of all memory.
    const BADNESS: i32 = 500;
    const FILE: &str = "/proc/self/oom_score_adj";
    let now = fs::read_to_string(FILE)?.trim().parse().unwrap_or(0);
    // Lowering the value requires a privilege.
    if now < BADNESS { fs::write(FILE, BADNESS.to_string()) } else { Ok(()) }
}

/// Returns the memory that a group may still allocate: its limit minus its usage, without the pages of files, which the kernel
/// can drop.
fn room_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let (limit, current, files) = match read("memory.max") {
        Some(limit) => (limit, read("memory.current")?, ["inactive_file ", "active_file "]),
        // Version 1, which counts the groups inside separately.
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

/// Returns the first number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_memory_and_not_more_than_the_machine_has() {
        let total = read_machine("MemTotal:").unwrap() * 1024;
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

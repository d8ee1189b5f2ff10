//! How much memory may still be taken before the kernel starts to kill.
//!
//! The kernel gives out memory that it has not got: whoever reserves more than there is brings processes to death, and
//! not only its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory in bytes that can be had without swapping, by the machine and by each control group (version 2) that this
/// process is in; `None` where the kernel does not say.
pub fn available_bytes() -> Option<u64> {
    let machine = of_machine("MemAvailable:").map(|kib| kib * 1024);
    let groups = groups();
    groups.iter().filter_map(|group| room_in(group)).chain(machine).min()
}

/// A number of the machine's account of its memory, as in `of_machine("MemTotal:")`, in the account's own unit: KiB, or
/// pages for numbers of pages.
pub fn of_machine(name: &str) -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, name)
}

/// The folders of the groups that this process is in, the innermost first.
fn groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let root = Path::new("/sys/fs/cgroup");
    root.join(path).ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned).collect()
}

/// What a group may still take: its limit less what it has, without the pages of files, which the kernel drops.
fn room_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let current: u64 = read("memory.current")?.trim().parse().ok()?;
    let statistics = read("memory.stat").unwrap_or_default();
    let files: u64 =
        ["inactive_file ", "active_file "].iter().filter_map(|name| field(&statistics, name)).sum();
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
}

//! Facts about a process from /proc.

use crate::activity::{Activity, State};
use crate::clock;
use crate::error::Context;
use std::fs;
use std::io;

/// The text of /proc/self/status; empty if it cannot be read.
pub(super) struct Status(String);

impl Status {
    pub(super) fn read() -> Status {
        Status(fs::read_to_string("/proc/self/status").unwrap_or_default())
    }

    /// Returns the value of the field with this name.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }
}

/// Returns the fields of /proc/PID/stat after the name, because the name may contain any character.
pub(super) fn stat(pid: i32) -> io::Result<Vec<String>> {
    let text =
        fs::read_to_string(format!("/proc/{pid}/stat")).context(|| format!("look at process {pid}"))?;
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    Ok(behind.split_whitespace().map(str::to_owned).collect())
}

/// Returns the threads of a process.
///
/// # Errors
/// Returns an error if there is no such process.
pub fn threads(pid: i32) -> io::Result<Vec<i32>> {
    numbers_in(&format!("/proc/{pid}/task")).context(|| format!("look at the threads of process {pid}"))
}

/// Returns all processes that /proc lists.
///
/// # Errors
/// Returns an error if /proc cannot be read.
pub fn processes() -> io::Result<Vec<i32>> {
    numbers_in("/proc")
}

/// Returns the numbers of the descriptors of a process.
///
/// # Errors
/// Returns an error if there is no such process, or this user may not inspect it.
pub fn descriptors(pid: i32) -> io::Result<Vec<i32>> {
    numbers_in(&format!("/proc/{pid}/fd"))
}

/// Returns the entries of a directory whose names are numbers.
fn numbers_in(folder: &str) -> io::Result<Vec<i32>> {
    let entries = fs::read_dir(folder)?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Returns the children of all threads of a process.
///
/// # Errors
/// Returns an error if there is no such process, or the kernel lists no children (`CONFIG_PROC_CHILDREN`).
pub(super) fn children(pid: i32) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    for thread in threads(pid)? {
        match fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")) {
            Ok(children) => {
                found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()))
            }
            // Another thread may have exited.
            Err(error) if thread == pid => return Err(error),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// Returns the CPU time of a thread in nanoseconds: the first number in schedstat.
pub(super) fn ran_ns(pid: i32, thread: i32) -> io::Result<u64> {
    let times = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat"))?;
    let ran = times.split(' ').next().and_then(|ran_ns| ran_ns.parse::<u64>().ok());
    ran.ok_or_else(|| io::Error::other(format!("thread {thread} has no time in schedstat: {times:?}")))
}

/// Returns the state of a process's first thread at this moment; `None` if there is no such process, or the kernel does not
/// report it.
pub fn activity(pid: i32) -> Option<Activity> {
    let state = match stat(pid).ok()?.first()?.as_str() {
        "R" => State::Runnable,
        "D" => State::WaitsForDevice,
        _ => State::Other,
    };
    Some(Activity { state, ran_ns: ran_ns(pid, pid).ok()?, at_ns: clock::now_ns() })
}

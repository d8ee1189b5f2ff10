//! The processes of a run, distinguished by their entries in /proc.

use super::place::Place;
use std::fs;

/// A process as shown in /proc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub state: char,
    pub kind: Kind,
    pub arguments: String,
}

/// The part of a process in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A role in a trial.
    Role,
    /// The cleanup process, which leads a separate session.
    Janitor,
    /// The supervisor, or a process that takes a noise reading.
    Other,
}

/// Returns the living processes with `mark` in their environment. Processes that have exited or belong to other users
/// are skipped.
pub fn marked(mark: &str) -> Vec<Process> {
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| process(pid, mark)).collect()
}

fn process(pid: i32, mark: &str) -> Option<Process> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    if !environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()) {
        return None;
    }
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may contain any characters.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let session: i32 = fields.nth(1)?.parse().ok()?;
    let arguments =
        String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).ok()?).replace('\0', " ");
    // The stderr of a role is a memfd with this name. No other process writes its stderr there.
    let stderr = fs::read_link(format!("/proc/{pid}/fd/2")).unwrap_or_default();
    let kind = if stderr.to_string_lossy().contains("furlong-stderr") {
        Kind::Role
    } else if session == pid {
        Kind::Janitor
    } else {
        Kind::Other
    };
    (!matches!(state, 'Z' | 'X')).then_some(Process { pid, parent, state, kind, arguments })
}

impl Place {
    /// Returns both roles of the current trial of the supervisor, the initiator first; `None` unless both exist.
    pub fn roles(&self, supervisor: i32) -> Option<[Process; 2]> {
        let mut roles = self.processes();
        roles.retain(|process| process.kind == Kind::Role && process.parent == supervisor);
        let [one, other] = roles.try_into().ok()?;
        // The initiator is started first, so its PID is lower, unless PIDs wrapped around in between.
        Some(if (one.pid < other.pid) == (one.pid.abs_diff(other.pid) < 10_000) {
            [one, other]
        } else {
            [other, one]
        })
    }

    /// Returns the cleanup process of the supervisor.
    pub fn janitor(&self, supervisor: i32) -> Option<Process> {
        self.processes()
            .into_iter()
            .find(|process| process.kind == Kind::Janitor && process.parent == supervisor)
    }
}

//! The processes of a run, told apart by what the kernel says of them.

use super::place::Place;
use std::fs;

/// A process as /proc shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub state: char,
    pub kind: Kind,
    pub arguments: String,
}

/// What a process is in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Plays a role in a trial.
    Role,
    /// Leads a session of its own: it cleans up.
    Janitor,
    /// The supervisor, or one that watches the machine for a moment.
    Other,
}

/// The living processes with `mark` in their environment. What is no longer there, or not ours, is passed over.
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
    // The name comes in brackets and may have any characters in it.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let session: i32 = fields.nth(1)?.parse().ok()?;
    let arguments =
        String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).ok()?).replace('\0', " ");
    // What a role says when it dies is kept in memory of this name; nobody else's stderr is there.
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
    /// Both roles of the trial that the supervisor runs now, the initiator first; `None` unless both are there.
    pub fn roles(&self, supervisor: i32) -> Option<[Process; 2]> {
        let mut roles = self.processes();
        roles.retain(|process| process.kind == Kind::Role && process.parent == supervisor);
        let [one, other] = roles.try_into().ok()?;
        // The initiator is started first, so its number is the lower one, unless numbers began anew in between.
        Some(if (one.pid < other.pid) == (one.pid.abs_diff(other.pid) < 10_000) {
            [one, other]
        } else {
            [other, one]
        })
    }

    /// The process that cleans up after the supervisor.
    pub fn janitor(&self, supervisor: i32) -> Option<Process> {
        self.processes()
            .into_iter()
            .find(|process| process.kind == Kind::Janitor && process.parent == supervisor)
    }
}

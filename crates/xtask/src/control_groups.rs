//! Removal of control groups, also if a signal ends this program.

use anyhow::Context;
use std::process::{Child, Command, Stdio};

/// Control groups that are thawed, emptied and removed when the value is dropped or this program ends.
pub struct ControlGroups(Child);

impl ControlGroups {
    /// Starts a process that waits for the end of this program and then removes the control groups with this name, which may be a
    /// pattern, of each controller of version 1 and of version 2.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn remove_at_end(name: &str) -> anyhow::Result<ControlGroups> {
        remover(name, Stdio::piped()).map(ControlGroups)
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Starts the process, which waits for the end of file of `stdin`. It is in a separate session, so that an interrupt from the
/// keyboard does not end it.
fn remover(name: &str, stdin: Stdio) -> anyhow::Result<Child> {
    let patterns = ["/sys/fs/cgroup/", "/sys/fs/cgroup/*/"].map(|mount| format!("{mount}{name}"));
    let script = include_str!("control_groups.sh");
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", script, "sh"]).args(patterns).stdin(stdin);
    command.spawn().context("start setsid and sh")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn frozen_group_is_removed_after_each_signal() {
        for signal in ["INT", "TERM", "KILL"] {
            let name = format!("xtask-test-{}-{signal}", std::process::id());
            let freezer = Path::new("/sys/fs/cgroup/freezer");
            let is_first = freezer.join("tasks").exists();
            let group = if is_first { freezer.join(&name) } else { Path::new("/sys/fs/cgroup").join(&name) };
            if fs::create_dir(&group).is_err() {
                furlong_testing::skip!("needs control groups that it may create");
            }
            // In place of this program: the other end of the pipe closes when the signal ends it. A shell's background jobs, and
            // so their children, ignore SIGINT.
            let default = ["--default-signal=INT", "sleep", "60"];
            let mut program = Command::new("env").args(default).stdout(Stdio::piped()).spawn().unwrap();
            let mut remover = remover(&name, program.stdout.take().unwrap().into()).unwrap();
            let mut member = Command::new("sleep").arg("60").spawn().unwrap();
            fs::write(group.join("cgroup.procs"), member.id().to_string()).unwrap();
            let (file, state) = if is_first { ("freezer.state", "FROZEN") } else { ("cgroup.freeze", "1") };
            fs::write(group.join(file), state).unwrap();
            let kill = Command::new("kill").args(["-s", signal, &program.id().to_string()]).status();
            assert!(kill.unwrap().success());
            program.wait().unwrap();
            remover.wait().unwrap();
            assert!(!group.exists(), "{signal} leaves {}", group.display());
            assert!(!member.wait().unwrap().success());
        }
    }
}

//! Orphans: descendants of this process whose parents have exited. Once this process adopts them, the kernel makes them its
//! children. So a program cannot hide a process from it by `setsid`, a second fork or a changed environment.

use crate::error::check;
use crate::linux::proc_files::children;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// PIDs of the children that this process has started and has not waited for.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// PID of the process that adopts; 0 for none. A fork has the memory of this process, but adopts nothing.
static ADOPTER: AtomicI32 = AtomicI32::new(0);

pub(super) fn started() -> MutexGuard<'static, BTreeSet<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a child that this process has started.
pub(super) fn note(pid: i32) {
    started().insert(pid);
}

/// Forgets a child that this process has waited for.
pub(super) fn forget(pid: i32) {
    started().remove(&pid);
}

fn own_pid() -> i32 {
    std::process::id() as i32
}

/// Makes this process the parent of each descendant whose parent exits from now on (`PR_SET_CHILD_SUBREAPER`).
///
/// Does nothing if this process has children that it has not started, for example background jobs of a shell that has called
/// exec. Also does nothing if it is the first of its PID namespace. In both cases, descendants of other processes would become
/// its children too.
///
/// # Errors
/// Returns an error if a seccomp filter forbids the call.
pub fn adopt() -> io::Result<()> {
    let own = own_pid();
    if ADOPTER.load(Ordering::Relaxed) == own || own == 1 || !unknown().is_some_and(|pids| pids.is_empty()) {
        return Ok(());
    }
    // SAFETY: the call takes plain integers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })?;
    ADOPTER.store(own, Ordering::Relaxed);
    Ok(())
}

/// Returns the children of this process that it has not started; `None` if the kernel does not list children.
fn unknown() -> Option<Vec<i32>> {
    let mut pids = children(own_pid()).ok()?;
    let started = started();
    pids.retain(|pid| !started.contains(pid));
    Some(pids)
}

/// Returns the adopted processes that are alive, and waits for those that have exited. A process with an adopted ancestor is
/// not among them before that ancestor has exited.
pub fn adopted() -> Vec<i32> {
    if ADOPTER.load(Ordering::Relaxed) != own_pid() {
        return Vec::new();
    }
    let mut pids = unknown().unwrap_or_default();
    // SAFETY: without a place for the status, the call takes plain integers. The process is a child for which nothing else waits.
    pids.retain(|pid| unsafe { libc::waitpid(*pid, std::ptr::null_mut(), libc::WNOHANG) } == 0);
    pids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::other_process::{kill, name};
    use crate::linux::process::{Bond, Exit, Program, fork, spawn};
    use std::os::fd::AsFd;
    use std::path::Path;

    /// Runs `body` in a process without other children.
    fn expect_alone(body: impl FnOnce() -> bool) {
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || i32::from(!body())).unwrap();
        assert_eq!(child.wait_at_most(60_000), Some(Exit::Code(0)));
    }

    fn shell(script: &str, bond: Bond) -> crate::linux::process::Child {
        let program = Program { arguments: &["-c", script], ..Program::at(Path::new("/bin/sh")) };
        spawn(&program, &[], io::stderr().as_fd(), bond).unwrap()
    }

    #[test]
    fn process_that_hides_is_adopted_and_own_children_are_not() {
        expect_alone(|| {
            adopt().unwrap();
            let own = shell("exec sleep 60", Bond::DiesWithParent);
            let ended = shell("setsid env -i sleep 60 & setsid true & exec true", Bond::Outlives).wait();
            let found = adopted();
            // `setsid` and `env` may not have become `sleep` yet.
            let is_hidden =
                |pid: &i32| ["sh", "setsid", "env", "sleep", "true"].contains(&name(*pid).as_str());
            let hidden = !found.is_empty() && found.iter().all(is_hidden) && !found.contains(&own.pid());
            while let Some(pid) = adopted().first() {
                kill(*pid).unwrap();
            }
            ended == Some(Exit::Code(0)) && hidden && own.activity().is_some()
        });
    }

    #[test]
    fn process_with_foreign_children_adopts_nothing() {
        expect_alone(|| {
            // A child that was started earlier, for example when this process was a shell.
            let mut before = shell("exec sleep 60", Bond::DiesWithParent);
            forget(before.pid());
            adopt().unwrap();
            let none = adopted().is_empty() && ADOPTER.load(Ordering::Relaxed) == 0;
            none && before.end().is_some()
        });
    }
}

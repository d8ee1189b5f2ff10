//! The process of one role, as the supervisor sees it.

use crate::child_process::{ChildKind, ChildProgram};
use crate::control::{Control, Report};
use furlong_model::{Failure, Fault, Party, Phase};
use furlong_os::cleanup::CleanUp;
use furlong_os::memory::{text_object, written_text};
use furlong_os::process::{Bond, Child, Exit, fork};
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, Handle, RawHandle, available_memory};
use serde::de::DeserializeOwned;
use std::io;

/// Returns a memory object for the standard error of a role. Its name in /proc shows which processes are roles.
fn own_stderr() -> io::Result<Handle> {
    text_object("furlong-stderr")
}

/// Returns how a process ended before it was done. `kills_before` is the number of processes that the kernel had killed
/// for lack of memory before this process was started.
pub(crate) fn early_end(exit: Exit, kills_before: Option<u64>) -> (Fault, String) {
    match (exit, exit.killer()) {
        (_, Some(killer)) => {
            let cause = cause_of_kill(&killer, kills_before, available_memory::kills());
            (Fault::Killed, format!("killed by {killer}{cause}"))
        }
        (Exit::Code(code), _) => (Fault::Exited, format!("exited too early with exit code {code}")),
        (_, None) => {
            (Fault::Exited, "exited too early, and the system does not report its exit code".to_owned())
        }
    }
}

/// Returns a note for a signal that the kernel sends: for lack of memory, where `before` and `now` are the numbers of such
/// kills, or at a limit of CPU time.
fn cause_of_kill(killer: &str, before: Option<u64>, now: Option<u64>) -> &'static str {
    match (killer, before, now) {
        ("SIGKILL", Some(before), Some(now)) if now > before => {
            "; memory was short: the kernel's OOM killer has run since (oom_kill in /proc/vmstat)"
        }
        ("SIGXCPU", ..) => {
            "; it has used the CPU time of RLIMIT_CPU, or kept a CPU under a real-time policy for RLIMIT_RTTIME"
        }
        _ => "",
    }
}

/// The process of a role; `D` is the type of its final report.
pub(crate) struct RoleProcess<D> {
    pub(crate) party: Party,
    pub(crate) child: Child,
    /// The ID of its thread, if the roles are threads of one process.
    thread: Option<i32>,
    pub(crate) control: Control,
    pub(crate) stderr: Handle,
    pub(crate) phase: Phase,
    /// Whether the role waits for the others before the phase begins.
    pub(crate) ready: bool,
    /// Whether the role has reported that it cannot go on.
    pub(crate) failed: bool,
    /// Whether the role will report nothing more.
    pub(crate) silent: bool,
    pub(crate) exit: Option<Exit>,
    pub(crate) done: Option<D>,
    /// The number of processes that the kernel had killed for lack of memory before this one was started.
    kills_before: Option<u64>,
    /// Removes the program file of the process, if that is a copy. The field comes after `child`, which must end first.
    pub(crate) copy: Option<CleanUp>,
}

impl<D: DeserializeOwned> RoleProcess<D> {
    /// Starts a role in a new process, which inherits the descriptors in `inherit`.
    pub(crate) fn fresh(
        party: Party,
        program: &ChildProgram,
        kind: ChildKind,
        inherit: Vec<RawHandle>,
    ) -> io::Result<RoleProcess<D>> {
        let stderr = own_stderr()?;
        let (child, control) = program.start(kind, inherit, stderr.as_handle(), Bond::DiesWithParent)?;
        Ok(RoleProcess::of(party, child, control, stderr))
    }

    /// Starts a role in a fork of this process, because only a fork inherits mappings. `body` gets the descriptor of
    /// its end of the control socket.
    pub(crate) fn forked(
        party: Party,
        inherit: Vec<RawHandle>,
        body: impl FnOnce(RawHandle) -> i32,
    ) -> io::Result<RoleProcess<D>> {
        let forked = RoleProcess::forked_together(&[party], inherit, |numbers| body(numbers[0]))?;
        forked.into_iter().next().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Starts roles as threads of one fork. `body` gets the descriptors of the roles' ends of their control sockets.
    pub(crate) fn forked_together(
        parties: &[Party],
        mut inherit: Vec<RawHandle>,
        body: impl FnOnce(Vec<RawHandle>) -> i32,
    ) -> io::Result<Vec<RoleProcess<D>>> {
        let stderr = own_stderr()?;
        let controls = parties.iter().map(|_| Control::pair()).collect::<io::Result<Vec<_>>>()?;
        let numbers: Vec<_> = controls.iter().map(|(_, theirs)| theirs.raw_handle()).collect();
        inherit.extend(&numbers);
        let child = fork(&inherit, stderr.as_handle(), Bond::DiesWithParent, || body(numbers))?;
        let thread = (parties.len() > 1).then(|| child.pid());
        let views = (1..parties.len()).map(|_| child.shared()).collect::<io::Result<Vec<_>>>()?;
        let mut roles = Vec::new();
        for ((child, party), (control, _)) in [child].into_iter().chain(views).zip(parties).zip(controls) {
            let role = RoleProcess::of(*party, child, control, stderr.try_clone()?);
            roles.push(RoleProcess { thread, ..role });
        }
        Ok(roles)
    }

    /// Returns the ID by which the kernel knows the role: of its process, or of its thread.
    pub(crate) fn task(&self) -> i32 {
        self.thread.unwrap_or_else(|| self.child.pid())
    }

    fn of(party: Party, child: Child, control: Control, stderr: Handle) -> RoleProcess<D> {
        RoleProcess {
            party,
            child,
            thread: None,
            control,
            stderr,
            phase: Phase::Open,
            ready: false,
            failed: false,
            silent: false,
            exit: None,
            done: None,
            kills_before: available_memory::kills(),
            copy: None,
        }
    }

    /// Receives the reports of the role, and notices its death.
    pub(crate) fn attend(&mut self) -> Option<Failure> {
        // The death is checked first: then everything that the role sent before it can be received.
        let died = if self.exit.is_none() { self.child.try_wait() } else { None };
        self.exit = self.exit.or(died);
        while self.can_receive() {
            match self.control.receive::<Report<D>>() {
                Ok(Some(Report::Started)) => {}
                Ok(Some(Report::Thread { id })) => self.thread = self.thread.map(|_| id),
                Ok(Some(Report::Ready { phase })) => (self.phase, self.ready) = (phase, true),
                Ok(Some(Report::Done(reported))) => {
                    self.phase = Phase::Finish;
                    self.done = Some(reported);
                }
                Ok(Some(Report::Failed { phase, fault, detail })) => {
                    (self.phase, self.failed) = (phase, true);
                    return Some(Failure { phase, party: Some(self.party), fault, detail });
                }
                Ok(None) => self.silent = true,
                Err(error) => {
                    (self.silent, self.failed) = (true, true);
                    let detail = format!("cannot parse its report: {error}");
                    return Some(Failure {
                        phase: self.phase,
                        party: Some(self.party),
                        fault: Fault::Error,
                        detail,
                    });
                }
            }
        }
        died.filter(|_| self.done.is_none() && !self.failed).map(|exit| self.exit_failure(exit))
    }

    /// Returns whether a report can be received without waiting.
    fn can_receive(&self) -> bool {
        !self.silent && (self.control.has_buffered() || is_readable(self.control.as_handle()))
    }

    /// Returns how the role died, with the start of its standard error.
    fn exit_failure(&mut self, exit: Exit) -> Failure {
        let (fault, mut detail) = early_end(exit, self.kills_before);
        if self.thread.is_some() {
            detail.push_str("; the other roles are threads of the same process");
        }
        let words = self.captured_stderr();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, party: Some(self.party), fault, detail }
    }

    /// Returns the first two lines of the role's standard error: the place and message of a panic.
    pub(crate) fn captured_stderr(&self) -> String {
        const MOST: u64 = 4096;
        written_text(self.stderr.as_handle(), MOST).lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::cause_of_kill;

    #[test]
    fn a_kill_for_lack_of_memory_is_told_from_others() {
        assert!(cause_of_kill("SIGKILL", Some(3), Some(4)).contains("memory was short"));
        assert!(cause_of_kill("SIGXCPU", Some(3), Some(3)).contains("RLIMIT_RTTIME"));
        for (killer, before, now) in [
            ("SIGKILL", Some(4), Some(4)),
            ("SIGSEGV", Some(3), Some(4)),
            ("SIGKILL", None, Some(4)),
            ("SIGKILL", Some(3), None),
        ] {
            assert_eq!(cause_of_kill(killer, before, now), "");
        }
    }
}

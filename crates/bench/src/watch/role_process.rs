//! One role's process, as the supervisor sees it.

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

/// What a role writes to its standard error is kept in memory, under a name by which /proc shows which processes are roles.
fn own_stderr() -> io::Result<Handle> {
    text_object("furlong-stderr")
}

/// How a process ended that had not done yet. Before it was started the kernel had killed so many for lack of memory.
pub(crate) fn early_end(exit: Exit, kills_before: Option<u64>) -> (Fault, String) {
    match (exit, exit.killer()) {
        (_, Some(killer)) => {
            let memory = short_of_memory(&killer, kills_before, available_memory::kills());
            (Fault::Killed, format!("killed by {killer}{memory}"))
        }
        (Exit::Code(code), _) => (Fault::Exited, format!("left too early with exit code {code}")),
        (_, None) => (Fault::Exited, "left too early, and the system does not say how".to_owned()),
    }
}

/// What to say beside the name of a signal where it may have come from the kernel, for lack of memory: it has killed so many
/// before and now.
fn short_of_memory(killer: &str, before: Option<u64>, now: Option<u64>) -> &'static str {
    match (killer, before, now) {
        ("SIGKILL", Some(before), Some(now)) if now > before => {
            "; memory was short: the kernel has killed for that meanwhile (oom_kill in /proc/vmstat)"
        }
        _ => "",
    }
}

/// A role's process; `D` is what it reports when it is done.
pub(crate) struct RoleProcess<D> {
    pub(crate) party: Party,
    pub(crate) child: Child,
    pub(crate) control: Control,
    pub(crate) stderr: Handle,
    pub(crate) phase: Phase,
    /// It waits for the others before the phase begins.
    pub(crate) ready: bool,
    /// It has reported that it cannot go on.
    pub(crate) failed: bool,
    /// It will report nothing any more.
    pub(crate) silent: bool,
    pub(crate) exit: Option<Exit>,
    pub(crate) done: Option<D>,
    /// How many processes the kernel had killed before for lack of memory.
    kills_before: Option<u64>,
    /// Removes the program that it was started from, where that was a copy; behind `child`, which has to end first.
    pub(crate) copy: Option<CleanUp>,
}

impl<D: DeserializeOwned> RoleProcess<D> {
    /// A role in a process that is started afresh and inherits the descriptors in `inherit`.
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

    /// A role in a fork of this process, for mappings that only a fork inherits: `body` is given the number of its end of
    /// the socket.
    pub(crate) fn forked(
        party: Party,
        mut inherit: Vec<RawHandle>,
        body: impl FnOnce(RawHandle) -> i32,
    ) -> io::Result<RoleProcess<D>> {
        let stderr = own_stderr()?;
        let (control, theirs) = Control::pair()?;
        let number = theirs.raw_handle();
        inherit.push(number);
        let child = fork(&inherit, stderr.as_handle(), Bond::DiesWithParent, || body(number))?;
        Ok(RoleProcess::of(party, child, control, stderr))
    }

    fn of(party: Party, child: Child, control: Control, stderr: Handle) -> RoleProcess<D> {
        RoleProcess {
            party,
            child,
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

    /// Receives what it reports and notices its death.
    pub(crate) fn attend(&mut self) -> Option<Failure> {
        // Its death is looked for first: then all that it has sent before is there to be received.
        let died = if self.exit.is_none() { self.child.try_wait() } else { None };
        self.exit = self.exit.or(died);
        while self.can_receive() {
            match self.control.receive::<Report<D>>() {
                Ok(Some(Report::Started)) => {}
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
                    let detail = format!("what it says cannot be understood: {error}");
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

    /// Whether something it sent can be received without waiting.
    fn can_receive(&self) -> bool {
        !self.silent && (self.control.has_buffered() || is_readable(self.control.as_handle()))
    }

    /// How it died, with what it wrote to its standard error.
    fn exit_failure(&mut self, exit: Exit) -> Failure {
        let (fault, mut detail) = early_end(exit, self.kills_before);
        let words = self.captured_stderr();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, party: Some(self.party), fault, detail }
    }

    /// The first two lines that it wrote to its standard error: where and why a panic was.
    pub(crate) fn captured_stderr(&self) -> String {
        const MOST: u64 = 4096;
        written_text(self.stderr.as_handle(), MOST).lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::short_of_memory;

    #[test]
    fn a_kill_for_lack_of_memory_is_told_from_others() {
        assert!(short_of_memory("SIGKILL", Some(3), Some(4)).contains("memory was short"));
        for (killer, before, now) in [
            ("SIGKILL", Some(4), Some(4)),
            ("SIGSEGV", Some(3), Some(4)),
            ("SIGKILL", None, Some(4)),
            ("SIGKILL", Some(3), None),
        ] {
            assert_eq!(short_of_memory(killer, before, now), "");
        }
    }
}

//! One role's process, as the supervisor sees it.

use crate::child_process::{ChildKind, ChildProgram};
use crate::control::{Control, Report};
use furlong_model::{Failure, Fault, Party, Phase};
use furlong_os::memory::{text_object, written_text};
use furlong_os::process::{Bond, Child, Exit, fork};
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, Handle, RawHandle};
use serde::de::DeserializeOwned;
use std::io;

/// What a role writes to its standard error is kept in memory, under a name by which /proc shows which processes are roles.
fn own_stderr() -> io::Result<Handle> {
    text_object("furlong-stderr")
}

/// How a process ended that had not done yet.
pub(crate) fn early_end(exit: Exit) -> (Fault, String) {
    match (exit, exit.killer()) {
        (_, Some(killer)) => (Fault::Killed, format!("killed by {killer}")),
        (Exit::Code(code), _) => (Fault::Exited, format!("left too early with exit code {code}")),
        (_, None) => (Fault::Exited, "left too early, and the system does not say how".to_owned()),
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
        let (fault, mut detail) = early_end(exit);
        let words = self.captured_stderr();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, party: Some(self.party), fault, detail }
    }

    /// The first two lines that it wrote to its standard error: where and why a panic was.
    fn captured_stderr(&self) -> String {
        const MOST: u64 = 4096;
        written_text(self.stderr.as_handle(), MOST).lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

//! One role's process, as the supervisor sees it.

use crate::control::{Control, Report};
use furlong_model::{Failure, Fault, Phase, Role};
use furlong_os::linux::signal;
use furlong_os::memory::{anonymous_object, written_text};
use furlong_os::process::{Child, Exit};
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, BorrowedHandle, Handle, RawHandle};
use serde::de::DeserializeOwned;
use std::io;

/// A role's process; `D` is what it tells when it is done.
pub(crate) struct RoleProcess<D> {
    pub(crate) role: Role,
    pub(crate) child: Child,
    pub(crate) control: Control,
    pub(crate) stderr: Handle,
    pub(crate) phase: Phase,
    /// It waits for the others before the phase begins.
    pub(crate) ready: bool,
    /// It has said that it cannot go on.
    pub(crate) failed: bool,
    /// It will say nothing any more.
    pub(crate) silent: bool,
    pub(crate) exit: Option<Exit>,
    pub(crate) done: Option<D>,
}

impl<D: DeserializeOwned> RoleProcess<D> {
    /// A role that `begin` starts, with the descriptor of its end of the conversation to inherit and that of its
    /// standard error.
    pub(crate) fn start(
        role: Role,
        begin: impl FnOnce(RawHandle, BorrowedHandle<'_>) -> io::Result<Child>,
    ) -> io::Result<RoleProcess<D>> {
        let (control, theirs) = Control::pair()?;
        let stderr = anonymous_object("furlong-stderr", 1)?;
        let child = begin(theirs.raw_handle(), stderr.as_handle())?;
        Ok(RoleProcess {
            role,
            child,
            control,
            stderr,
            phase: Phase::Open,
            ready: false,
            failed: false,
            silent: false,
            exit: None,
            done: None,
        })
    }

    /// Hears what it says and notices its death.
    pub(crate) fn attend(&mut self) -> Option<Failure> {
        // Its death is looked for first: then all that it has said before is there to be heard.
        let died = if self.exit.is_none() { self.child.try_wait() } else { None };
        self.exit = self.exit.or(died);
        while self.can_be_heard() {
            match self.control.receive::<Report<D>>() {
                Ok(Some(Report::Ready { phase })) => (self.phase, self.ready) = (phase, true),
                Ok(Some(Report::Done(reported))) => {
                    self.phase = Phase::Finish;
                    self.done = Some(reported);
                }
                Ok(Some(Report::Failed { phase, fault, detail })) => {
                    (self.phase, self.failed) = (phase, true);
                    return Some(Failure { phase, role: Some(self.role), fault, detail });
                }
                Ok(None) => self.silent = true,
                Err(error) => {
                    (self.silent, self.failed) = (true, true);
                    let detail = format!("what it says cannot be understood: {error}");
                    return Some(Failure {
                        phase: self.phase,
                        role: Some(self.role),
                        fault: Fault::Error,
                        detail,
                    });
                }
            }
        }
        died.filter(|_| self.done.is_none() && !self.failed).map(|exit| self.exit_failure(exit))
    }

    /// Whether something it said can be heard without waiting.
    fn can_be_heard(&self) -> bool {
        !self.silent && (self.control.has_buffered() || is_readable(self.control.as_handle()))
    }

    /// How it died, with its last words.
    fn exit_failure(&mut self, exit: Exit) -> Failure {
        let (fault, mut detail) = match exit {
            Exit::Signal(number) => (Fault::Killed, format!("killed by {}", signal::name(number))),
            Exit::Code(code) => (Fault::Exited, format!("left too early with exit code {code}")),
        };
        let words = self.captured_stderr();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, role: Some(self.role), fault, detail }
    }

    /// The first two lines that it wrote to its standard error: where and why a panic was.
    fn captured_stderr(&self) -> String {
        const MOST: u64 = 4096;
        written_text(self.stderr.as_handle(), MOST).lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

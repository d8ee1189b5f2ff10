//! One role's process, as the supervisor sees it.

use crate::control::{Control, Report, Timing};
use crate::registry::Driver;
use crate::role::{self, ROLE_VERB};
use crate::session::Session;
use furlong_mechanism::Link;
use furlong_model::{Failure, Fault, Phase, Role, RoleTally, Start};
use furlong_os::process::{Bond, Child, Exit, fork, spawn};
use furlong_os::{readiness, segment, signal};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// A role's process, as the supervisor sees it.
pub(super) struct Player {
    pub(super) role: Role,
    pub(super) child: Child,
    pub(super) control: Control,
    pub(super) stderr: OwnedFd,
    pub(super) phase: Phase,
    /// It waits for the others before the phase begins.
    pub(super) ready: bool,
    /// It has said that it cannot go on.
    pub(super) failed: bool,
    /// It will say nothing any more.
    pub(super) silent: bool,
    pub(super) exit: Option<Exit>,
    pub(super) done: Option<(RoleTally, u64, Option<Timing>)>,
}

impl Player {
    /// Hears what it says and notices its death.
    pub(super) fn attend(&mut self) -> Option<Failure> {
        // Its death is looked for first: then all that it has said before is there to be heard.
        let died = if self.exit.is_none() { self.child.try_wait() } else { None };
        self.exit = self.exit.or(died);
        while self.can_be_heard() {
            match self.control.hear::<Report>() {
                Ok(Some(Report::Ready { phase })) => (self.phase, self.ready) = (phase, true),
                Ok(Some(Report::Done { tally, verified_messages, timing })) => {
                    self.phase = Phase::Finish;
                    self.done = Some((tally, verified_messages, timing));
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
        died.filter(|_| self.done.is_none() && !self.failed).map(|exit| self.obituary(exit))
    }

    /// Whether something it said can be heard without waiting.
    fn can_be_heard(&self) -> bool {
        !self.silent
            && (self.control.has_buffered()
                || readiness::any_readable(&[self.control.number()], 0).is_ok_and(|ready| ready[0]))
    }

    /// How it died, with its last words.
    fn obituary(&mut self, exit: Exit) -> Failure {
        let (fault, mut detail) = match exit {
            Exit::Signal(number) => (Fault::Killed, format!("killed by {}", signal::name(number))),
            Exit::Code(code) => (Fault::Exited, format!("left too early with exit code {code}")),
        };
        let words = self.last_words();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, role: Some(self.role), fault, detail }
    }

    /// The first two lines that it wrote to its standard error: where and why a panic was.
    fn last_words(&self) -> String {
        const MOST: u64 = 4096;
        let mut words = String::new();
        if let Ok(descriptor) = self.stderr.try_clone() {
            let mut file = File::from(descriptor);
            // Unreadable words are as good as none.
            let _ = file.rewind().and_then(|()| file.take(MOST).read_to_string(&mut words));
        }
        let words = words.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        words.lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

/// Starts the process that holds these ends, the first of which is its role: afresh from furlong's own binary, or
/// forked where memory must be inherited.
pub(super) fn start_player(
    drivers: &[Driver],
    held: &[Role],
    link: &mut Link,
    mut inherit: Vec<RawFd>,
    start: Start,
    session: &Session,
) -> io::Result<Player> {
    let (control, theirs): (Control, UnixStream) = Control::pair()?;
    let stderr = segment::memfd("furlong-stderr", 1)?;
    let number = theirs.as_raw_fd();
    inherit.push(number);
    let child = match start {
        Start::Forked => fork(&inherit, stderr.as_fd(), Bond::DiesWithParent, || {
            role::forked(number, drivers, held.iter().map(|role| link.take_end(*role)).collect())
        }),
        Start::Fresh | Start::Alone => {
            spawn(session.program(), &[ROLE_VERB, &number.to_string()], &inherit, stderr.as_fd())
        }
    }?;
    Ok(Player {
        role: held[0],
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

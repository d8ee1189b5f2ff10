//! A program of somebody else's that was started for a trial: it is listened to with bounds, line by line, and its death is
//! noticed.

use crate::not_measured::{Interrupted, NotMeasured, not_started};
use crate::session::Session;
use crate::watch::early_end;
use furlong_model::{Failure, Fault, Party, Phase};
use furlong_os::activity::Activity;
use furlong_os::memory::written_text;
use furlong_os::process::{Child, Exit};
use furlong_os::wait::{is_readable, wait_for_room};
use furlong_os::{AsHandle, BorrowedHandle, Handle, available_memory, clock};
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

/// How long after the end of its lines a program is taken for dying, in milliseconds.
const DEATH_MS: u64 = 100;

/// How much of what it prints beside its lines is kept, in bytes.
pub(crate) const PRINTED_BYTES: usize = 64 << 10;

/// A program that was started for a row.
#[derive(Debug)]
pub(crate) struct StartedProgram {
    /// Which party it is; the initiator for one that is both.
    pub(crate) party: Party,
    pub(crate) child: Child,
    pub(crate) exit: Option<Exit>,
    lines: File,
    /// What has come of lines that were not taken yet.
    come: Vec<u8>,
    /// Whether it can still say something.
    pub(crate) silent: bool,
    printed: Handle,
    /// How many processes the kernel had killed before for lack of memory.
    kills_before: Option<u64>,
}

/// What a program did since it was last looked at.
#[derive(Debug)]
pub(crate) enum Said {
    /// Nothing.
    Nothing,
    /// This line, without its end.
    Line(Vec<u8>),
    /// It has ended, and all that it said was taken.
    Ended(Exit),
    /// It lives, and has closed the way of its lines.
    Closed,
}

impl StartedProgram {
    /// One whose lines come from here, and that prints into the object `printed`.
    pub(crate) fn new(party: Party, child: Child, lines: Handle, printed: Handle) -> StartedProgram {
        let (lines, come) = (File::from(lines), Vec::new());
        let kills_before = available_memory::kills();
        StartedProgram { party, child, exit: None, lines, come, silent: false, printed, kills_before }
    }

    /// Where its lines come from.
    pub(crate) fn lines(&self) -> BorrowedHandle<'_> {
        self.lines.as_handle()
    }

    /// What becomes readable when it says something or dies.
    pub(crate) fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        let lines = (!self.silent).then(|| self.lines.as_handle());
        let death = if self.exit.is_none() { self.child.death() } else { None };
        lines.into_iter().chain(death).collect()
    }

    /// Takes the next line, a `kind` of at most so many bytes, without waiting, and notices its death.
    ///
    /// # Errors
    /// A line that is longer.
    pub(crate) fn attend(&mut self, phase: Phase, kind: &str, longest: usize) -> Result<Said, Failure> {
        // Its death is looked for first: then all that it has said before is there to be read.
        self.exit = self.exit.or_else(|| self.child.try_wait());
        loop {
            if let Some(line) = take_line(&mut self.come) {
                return Ok(Said::Line(line));
            }
            if self.come.len() > longest {
                return Err(self.failure(phase, format!("its {kind} is longer than {longest} bytes")));
            }
            if self.silent || !is_readable(self.lines.as_handle()) {
                break;
            }
            let mut part = vec![0; 64 << 10];
            let read = self.lines.read(&mut part).map_err(|error| self.failure(phase, error.to_string()))?;
            self.silent = read == 0;
            self.come.extend_from_slice(&part[..read]);
        }
        if self.silent {
            // Its end is seen before its death.
            self.exit = self.exit.or_else(|| self.child.wait_at_most(DEATH_MS));
        }
        Ok(match self.exit {
            // What else it started may hold its end open: nothing more comes from it.
            Some(exit) => Said::Ended(exit),
            None if self.silent => Said::Closed,
            None => Said::Nothing,
        })
    }

    /// Whether it has said more than was taken.
    pub(crate) fn has_more(&self) -> bool {
        !self.come.is_empty()
    }

    /// Returns whether the line that it has begun starts with this word.
    pub(crate) fn has_begun(&self, word: &str) -> bool {
        self.come.trim_ascii_start().starts_with(word.as_bytes())
    }

    /// Takes the last line of a program that has ended, which may lack its end.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.come)
    }

    /// Sends it `bytes` through the pipe `requests`, which it may never read. Its exit is noticed by the caller that waits for its answer.
    ///
    /// # Errors
    /// Returns a failure if the pipe has no room for all of them within `limit`, or the request that the run ends.
    pub(crate) fn send(
        &self,
        requests: &File,
        bytes: &[u8],
        phase: Phase,
        limit: Duration,
        session: &Session,
    ) -> Result<(), NotMeasured> {
        /// `PIPE_BUF`: a pipe that poll reports as writable takes this much, and `write` does not wait.
        const ATOMIC_BYTES: usize = 4096;
        let deadline_ns = clock::now_ns() + limit.as_nanos() as u64;
        let failed = |error: io::Error| not_started(phase, &error);
        for part in bytes.chunks(ATOMIC_BYTES) {
            loop {
                let left_ns = deadline_ns.saturating_sub(clock::now_ns());
                let shutdown = session.shutdown_handle();
                let left_ms = left_ns.div_ceil(1_000_000);
                if wait_for_room(requests.as_handle(), shutdown.as_slice(), left_ms).map_err(failed)? {
                    break;
                }
                if let Some(signal) = session.shutdown_request() {
                    return Err(Interrupted { signal }.into());
                }
                if left_ns == 0 {
                    return Err(self.unread(phase, limit).into());
                }
            }
            match { requests }.write_all(part) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written.map_err(failed)?,
            }
        }
        Ok(())
    }

    /// The failure that it has not read what it was sent.
    fn unread(&self, phase: Phase, limit: Duration) -> Failure {
        let (fault, what) = if self.child.is_stopped() {
            (Fault::Stopped, "stopped by a signal (state T), it")
        } else {
            (Fault::Silent, "alive, but it")
        };
        self.failure_by(phase, fault, format!("{what} has not read what it was sent for {limit:?}"))
    }

    /// A failure of this program, with what it has printed.
    pub(crate) fn failure(&self, phase: Phase, what: String) -> Failure {
        self.failure_by(phase, Fault::Error, what)
    }

    fn failure_by(&self, phase: Phase, fault: Fault, what: String) -> Failure {
        Failure { phase, party: Some(self.party), fault, detail: self.with_printed(what) }
    }

    /// How it died.
    pub(crate) fn exit_failure(&self, exit: Exit, phase: Phase) -> Failure {
        let (fault, detail) = match exit {
            Exit::Code(127) => (Fault::Exited, "it could not be started (exit code 127)".to_owned()),
            exit => early_end(exit, self.kills_before),
        };
        self.failure_by(phase, fault, detail)
    }

    /// What it does now; `None` once it has ended.
    pub(crate) fn activity(&self) -> Option<(i32, Activity)> {
        Some((self.child.pid(), self.child.activity()?))
    }

    /// That nothing of what was `awaited` came from it for so long, and why, if a signal has stopped it or a process of the trial
    /// has `lacked` something.
    pub(crate) fn silence(
        &self,
        phase: Phase,
        awaited: &str,
        limit: Duration,
        stopped: bool,
        lacked: Option<(i32, String)>,
    ) -> Failure {
        if stopped || self.child.is_stopped() {
            let what = format!("stopped by a signal (state T), no {awaited} came from it for {limit:?}");
            return self.failure_by(phase, Fault::Stopped, what);
        }
        let what = match lacked {
            Some((pid, lacked)) if pid == self.child.pid() => lacked,
            Some((pid, lacked)) => format!("no {awaited} came from it, and process {pid} was {lacked}"),
            None => format!("alive, but no {awaited} came from it for {limit:?}"),
        };
        self.failure_by(phase, Fault::Silent, what)
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// That it has not, for so long after what it did before.
    pub(crate) fn end_within(&mut self, limit: Duration, after: &str) -> Result<Exit, Failure> {
        self.child
            .wait_at_most(limit.as_millis() as u64)
            .ok_or_else(|| self.failure(Phase::Finish, format!("it has not ended {limit:?} after {after}")))
    }

    fn with_printed(&self, what: String) -> String {
        /// The last lines say most: they have the message of a stack trace.
        const LINES: usize = 2;
        let printed = written_text(self.printed.as_handle(), PRINTED_BYTES as u64);
        let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join(" ");
        if last.is_empty() { what } else { format!("{what}; it said: {}", shortened(&last)) }
    }
}

/// Takes the first line out of what has come, without its end; `None` if there is no whole one.
pub(crate) fn take_line(come: &mut Vec<u8>) -> Option<Vec<u8>> {
    // This compiles to `memchr`: a long line comes in many parts, and all of them are searched each time.
    if !come.contains(&b'\n') {
        return None;
    }
    let end = come.iter().position(|byte| *byte == b'\n')?;
    let rest = come.split_off(end + 1);
    let mut line = std::mem::replace(come, rest);
    line.pop();
    Some(line)
}

/// The beginning of what a program says, on one line.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

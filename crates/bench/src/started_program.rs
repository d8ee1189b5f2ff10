//! A foreign program that was started for a trial. Its output is read line by line, with limits, and its death is
//! noticed.

use crate::not_measured::{InterruptedTrial, NotMeasured, not_started};
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

/// The time in which a program that has closed its output is expected to exit, in milliseconds.
const DEATH_MS: u64 = 500;

/// The number of bytes of its other output that are kept.
pub(crate) const PRINTED_BYTES: usize = 64 << 10;

/// A program that was started for a benchmark.
#[derive(Debug)]
pub(crate) struct StartedProgram {
    /// The party of the program; the initiator for a program that is both.
    pub(crate) party: Party,
    pub(crate) child: Child,
    pub(crate) exit: Option<Exit>,
    lines: File,
    /// The bytes of lines that were not returned yet.
    come: Vec<u8>,
    /// Whether the program has closed its output.
    pub(crate) silent: bool,
    printed: Handle,
    /// The number of processes that the kernel had killed for lack of memory before this one was started.
    kills_before: Option<u64>,
}

/// The activity of a program since the last look.
#[derive(Debug)]
pub(crate) enum ProgramActivity {
    /// No new line.
    Nothing,
    /// A line, without its line feed.
    Line(Vec<u8>),
    /// The program has exited, and all its lines were returned.
    Ended(Exit),
    /// The program is alive, and has closed its output.
    Closed,
}

impl StartedProgram {
    /// Creates the state of a program that writes lines to the pipe `lines`, and other output to the object `printed`.
    pub(crate) fn new(party: Party, child: Child, lines: Handle, printed: Handle) -> StartedProgram {
        let (lines, come) = (File::from(lines), Vec::new());
        let kills_before = available_memory::kills();
        StartedProgram { party, child, exit: None, lines, come, silent: false, printed, kills_before }
    }

    /// Returns the pipe of its lines.
    pub(crate) fn lines(&self) -> BorrowedHandle<'_> {
        self.lines.as_handle()
    }

    /// Returns handles that become readable when the program writes a line or dies.
    pub(crate) fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        let lines = (!self.silent).then(|| self.lines.as_handle());
        let death = if self.exit.is_none() { self.child.death() } else { None };
        lines.into_iter().chain(death).collect()
    }

    /// Returns the next line, a `kind` of at most `longest` bytes, without waiting. Notices the program's death.
    ///
    /// # Errors
    /// Returns a failure if a line is longer, or if the pipe cannot be read.
    pub(crate) fn attend(
        &mut self,
        phase: Phase,
        kind: &str,
        longest: usize,
    ) -> Result<ProgramActivity, Failure> {
        // The death is checked first: then everything that the program wrote before it can be read.
        self.exit = self.exit.or_else(|| self.child.try_wait());
        loop {
            if let Some(line) = take_line(&mut self.come) {
                return Ok(ProgramActivity::Line(line));
            }
            if self.come.len() > longest {
                return Err(self.failure(phase, format!("its {kind} is longer than {longest} bytes")));
            }
            if self.silent || !is_readable(self.lines.as_handle()) {
                break;
            }
            let mut part = vec![0; 64 << 10];
            let read = self.lines.read(&mut part).map_err(|error| self.failure(phase, error.to_string()))?;
            self.come.extend_from_slice(&part[..read]);
            if read == 0 {
                self.silent = true;
                // The end of the output is seen before the death. Waiting again in later calls would delay the lines of other programs.
                self.exit = self.exit.or_else(|| self.child.wait_at_most(DEATH_MS));
            }
        }
        Ok(match self.exit {
            // Other processes that it started may hold the pipe open, but the program itself writes nothing more.
            Some(exit) => ProgramActivity::Ended(exit),
            None if self.silent => ProgramActivity::Closed,
            None => ProgramActivity::Nothing,
        })
    }

    /// Returns whether bytes were read that were not returned yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.come.is_empty()
    }

    /// Returns whether the incomplete line starts with this word.
    pub(crate) fn has_begun(&self, word: &str) -> bool {
        self.come.trim_ascii_start().starts_with(word.as_bytes())
    }

    /// Returns the last line of a program that has exited, which may lack its line feed.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.come)
    }

    /// Sends `bytes` through the pipe `requests`, which the program may never read. Its exit is noticed by the caller
    /// that waits for its answer.
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
        /// `PIPE_BUF`: if poll reports a pipe as writable, it accepts this number of bytes, and `write` does not block.
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
                    return Err(InterruptedTrial { signal }.into());
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

    /// Returns the failure of a program that has not read its requests.
    fn unread(&self, phase: Phase, limit: Duration) -> Failure {
        let (fault, what) = if self.child.is_stopped() {
            (Fault::Stopped, "stopped by a signal (state T), it")
        } else {
            (Fault::Silent, "alive, but it")
        };
        self.failure_by(phase, fault, format!("{what} has not read its input for {limit:?}"))
    }

    /// Returns a failure of this program, with its last output.
    pub(crate) fn failure(&self, phase: Phase, what: String) -> Failure {
        self.failure_by(phase, Fault::Error, what)
    }

    fn failure_by(&self, phase: Phase, fault: Fault, what: String) -> Failure {
        Failure { phase, party: Some(self.party), fault, detail: self.with_printed(what) }
    }

    /// Returns the failure of a program that has died.
    pub(crate) fn exit_failure(&self, exit: Exit, phase: Phase) -> Failure {
        let (fault, detail) = match exit {
            Exit::Code(127) => (Fault::Exited, "it could not be started (exit code 127)".to_owned()),
            exit => early_end(exit, self.kills_before),
        };
        self.failure_by(phase, fault, detail)
    }

    /// Returns the current activity of the program; `None` once it has ended.
    pub(crate) fn activity(&self) -> Option<(i32, Activity)> {
        Some((self.child.pid(), self.child.activity()?))
    }

    /// Returns the failure of a program that has not sent the `awaited` line within `limit`. The reason is a stop by a
    /// signal, or a resource that a process of the trial has `lacked`, if one of these applies.
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

    /// Waits until the program has ended.
    ///
    /// # Errors
    /// Returns a failure if the program has not ended within `limit` after the event named by `after`.
    pub(crate) fn end_within(&mut self, limit: Duration, after: &str) -> Result<Exit, Failure> {
        self.child
            .wait_at_most(limit.as_millis() as u64)
            .ok_or_else(|| self.failure(Phase::Finish, format!("it has not exited {limit:?} after {after}")))
    }

    fn with_printed(&self, what: String) -> String {
        /// The last lines are the most useful: they have the message of a stack trace.
        const LINES: usize = 2;
        let printed = written_text(self.printed.as_handle(), PRINTED_BYTES as u64);
        let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join(" ");
        if last.is_empty() { what } else { format!("{what}; it said: {}", shortened(&last)) }
    }
}

/// Removes the first line from the buffer and returns it without its line feed; `None` if there is no complete line.
pub(crate) fn take_line(come: &mut Vec<u8>) -> Option<Vec<u8>> {
    // This compiles to `memchr`: a long line arrives in many parts, and all of them are searched each time.
    if !come.contains(&b'\n') {
        return None;
    }
    let end = come.iter().position(|byte| *byte == b'\n')?;
    let rest = come.split_off(end + 1);
    let mut line = std::mem::replace(come, rest);
    line.pop();
    Some(line)
}

/// Returns the beginning of a program's output, on one line.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

//! The pipe of a command to another host. All waits on it have a timeout.

use super::protocol::LONGEST_LINE;
#[cfg(target_os = "linux")]
use crate::adapter::end_processes;
use crate::not_measured::{InterruptedTrial, NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::{ProgramActivity, StartedProgram};
use furlong_model::Phase;
use furlong_os::clock;
use furlong_os::wait::wait_any;
use std::fs::File;
use std::time::Duration;

/// The time that the agent may take to exit after the requests have ended, in milliseconds.
const ENDING_MS: u64 = 2_000;

/// The pipe of a command to another host.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(super) program: StartedProgram,
    /// The write end for requests; `None` after the last request.
    pub(super) requests: Option<File>,
    /// The capacity of the empty pipe in bytes: a write of that size does not block.
    pub(super) part_bytes: usize,
    /// Asks the process with this PID and all processes that it has started to end.
    ask_to_end: fn(i32),
    /// The name of the run in the environment of the command and of all processes that it starts.
    run: String,
}

impl Pipe {
    /// Creates the pipe of a command that has just been started.
    pub(super) fn new(
        program: StartedProgram,
        requests: File,
        part_bytes: usize,
        ask_to_end: fn(i32),
        run: &str,
    ) -> Pipe {
        Pipe { program, requests: Some(requests), part_bytes, ask_to_end, run: run.to_owned() }
    }

    /// Returns a failure that occurred while a link was created.
    pub(super) fn failure(&self, what: impl Into<String>) -> NotMeasured {
        self.program.failure(Phase::Create, what.into()).into()
    }

    /// Sends bytes, which the other side may never read. Its exit is noticed by the caller that waits for its answer.
    ///
    /// # Errors
    /// Returns a failure if the other side has not read enough of them after `patience`, or the request that the run ends.
    pub(super) fn send(
        &self,
        bytes: &[u8],
        patience: Duration,
        session: &Session,
    ) -> Result<(), NotMeasured> {
        match &self.requests {
            Some(requests) => self.program.send(requests, bytes, Phase::Create, patience, session),
            None => Ok(()),
        }
    }

    /// Returns the next line from the other host, which must arrive within `patience`.
    ///
    /// # Errors
    /// Returns a failure if no line arrives in time, or the request that the run ends.
    pub(super) fn line(
        &mut self,
        awaited: &str,
        patience: Duration,
        session: &Session,
    ) -> Result<Vec<u8>, NotMeasured> {
        let deadline_ns = clock::now_ns() + patience.as_nanos() as u64;
        loop {
            match self.program.attend(Phase::Create, "line", LONGEST_LINE)? {
                ProgramActivity::Line(line) => return Ok(line),
                ProgramActivity::Ended(exit) => {
                    return Err(self.program.exit_failure(exit, Phase::Create).into());
                }
                ProgramActivity::Closed => return Err(self.failure("the command has closed its output")),
                ProgramActivity::Nothing => {}
            }
            let left_ns = deadline_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 {
                return Err(self.program.silence(Phase::Create, awaited, patience, false, None).into());
            }
            let mut handles = self.program.handles();
            handles.extend(session.shutdown_handle());
            wait_any(&handles, left_ns.div_ceil(1_000_000))
                .map_err(|error| not_started(Phase::Create, &error))?;
            if let Some(signal) = session.shutdown_request() {
                return Err(InterruptedTrial { signal }.into());
            }
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // The agent exits when its input ends, and removes its directory. A command that does not exit is killed
        // afterwards.
        self.requests = None;
        if self.program.child.wait_at_most(ENDING_MS).is_none() {
            (self.ask_to_end)(self.program.child.pid());
        }
        // Ends processes that the command has started in another session, and processes that are stopped: they have not
        // reacted to the signal.
        #[cfg(target_os = "linux")]
        let _ = end_processes(&self.run);
    }
}

//! The pipe that a command gives to another host: what is said there is waited for no longer than said.

use super::protocol::LONGEST_LINE;
#[cfg(target_os = "linux")]
use crate::adapter::end_processes;
use crate::not_measured::{Interrupted, NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::{Said, StartedProgram};
use furlong_model::Phase;
use furlong_os::clock;
use furlong_os::wait::wait_any;
use std::fs::File;
use std::time::Duration;

/// How long the other side may take to end by itself once nothing more is asked, in milliseconds.
const ENDING_MS: u64 = 2_000;

/// The pipe that the command gives.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(super) program: StartedProgram,
    /// `None` once nothing more is asked.
    pub(super) requests: Option<File>,
    /// What it takes without a wait, when it is empty.
    pub(super) part_bytes: usize,
    /// Asks the command with this process number to end, and all that it has started.
    ask_to_end: fn(i32),
    /// The run in the environment of the command, and by that of all that it starts.
    run: String,
}

impl Pipe {
    /// That of a command which has just been started.
    pub(super) fn new(
        program: StartedProgram,
        requests: File,
        part_bytes: usize,
        ask_to_end: fn(i32),
        run: &str,
    ) -> Pipe {
        Pipe { program, requests: Some(requests), part_bytes, ask_to_end, run: run.to_owned() }
    }

    /// That this went wrong while a link was to be made.
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

    /// The next line from the other side, which may take so long.
    ///
    /// # Errors
    /// That none came, or that the run is to end.
    pub(super) fn line(
        &mut self,
        awaited: &str,
        patience: Duration,
        session: &Session,
    ) -> Result<Vec<u8>, NotMeasured> {
        let deadline_ns = clock::now_ns() + patience.as_nanos() as u64;
        loop {
            match self.program.attend(Phase::Create, "line", LONGEST_LINE)? {
                Said::Line(line) => return Ok(line),
                Said::Ended(exit) => return Err(self.program.exit_failure(exit, Phase::Create).into()),
                Said::Closed => return Err(self.failure("the command has closed its output")),
                Said::Nothing => {}
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
                return Err(Interrupted { signal }.into());
            }
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // The other side ends with its input, and removes what it has made; a command that stays is killed behind this.
        self.requests = None;
        if self.program.child.wait_at_most(ENDING_MS).is_none() {
            (self.ask_to_end)(self.program.child.pid());
        }
        // A process that the command has started in another session, or that is stopped, has not heard of any of that.
        #[cfg(target_os = "linux")]
        let _ = end_processes(&self.run);
    }
}

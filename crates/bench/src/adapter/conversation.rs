//! The conversation with a program that speaks the adapter protocol.

use super::protocol::{Reply, Request};
use super::traces::RUN_VARIABLE;
use crate::not_measured::{NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::{PRINTED_BYTES, ProgramActivity, StartedProgram, shortened};
use furlong_adapter_files::Manifest;
use furlong_model::{Failure, Party, Phase};
use furlong_os::memory::bounded_object;
use furlong_os::pipe::pipe;
use furlong_os::process::{Bond, Output, Program, spawn};
use furlong_os::{AsHandle, Handle};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::time::Duration;

/// The longest reply, in bytes.
const LONGEST_REPLY: usize = 8 << 20;

/// A program that was started for a row, and the pipe for its requests.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) program: StartedProgram,
    /// The write end for requests; `None` after the last request.
    requests: Option<File>,
}

impl Conversation {
    /// Starts the program of a row. All processes that it starts are found by `run` in their environment.
    ///
    /// # Errors
    /// Returns `NotFound` if the manifest's command does not exist, and otherwise the error of the pipes, the memory
    /// object or the start.
    pub(super) fn start(
        manifest: &Manifest,
        arguments: &[String],
        party: Party,
        run: &str,
    ) -> io::Result<Conversation> {
        let path = manifest.program().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no {}", manifest.command[0]))
        })?;
        let ((their_requests, requests), (replies, their_replies)) = (pipe()?, pipe()?);
        let printed = bounded_object("furlong-adapter-output", PRINTED_BYTES)?;
        let named = |end: &Handle| format!("/dev/fd/{}", end.raw_handle());
        let (read, write) = (named(&their_requests), named(&their_replies));
        let environment = [
            ("FURLONG_ADAPTER", OsStr::new("1")),
            ("FURLONG_READ", OsStr::new(&read)),
            ("FURLONG_WRITE", OsStr::new(&write)),
            (RUN_VARIABLE, OsStr::new(run)),
        ];
        let arguments: Vec<&str> =
            manifest.command[1..].iter().chain(arguments).map(String::as_str).collect();
        let program = Program {
            arguments: &arguments,
            environment: &environment,
            folder: Some(&manifest.folder),
            output: Output::WithErrors,
            is_foreign: true,
            ..Program::at(&path)
        };
        let inherit = [their_requests.raw_handle(), their_replies.raw_handle()];
        let child = spawn(&program, &inherit, printed.as_handle(), Bond::DiesWithParentAndGroup)?;
        let program = StartedProgram::new(party, child, replies, printed);
        Ok(Conversation { program, requests: Some(File::from(requests)) })
    }

    /// Sends a request. If the program is dead, the caller that waits for the reply notices it.
    ///
    /// # Errors
    /// Returns a failure if the program reads no requests for `limit`, or the request that the run ends.
    pub(super) fn send(
        &self,
        request: &Request<'_>,
        phase: Phase,
        limit: Duration,
        session: &Session,
    ) -> Result<(), NotMeasured> {
        let line = serde_json::to_vec(request).map_err(|error| not_started(phase, &error.into()))?;
        let Some(requests) = &self.requests else { return Ok(()) };
        self.program.send(requests, &[&line, &b"\n"[..]].concat(), phase, limit, session)
    }

    /// Ends the requests.
    pub(super) fn end_requests(&mut self) {
        self.requests = None;
    }

    /// Returns the program's reply, if it has arrived, without waiting. Notices the program's death.
    ///
    /// # Errors
    /// Returns a failure if the program has not replied but exited, closed its pipe, or sent more than one line.
    pub(super) fn attend(&mut self, phase: Phase) -> Result<Option<Reply>, Failure> {
        let said = self.program.attend(phase, "reply", LONGEST_REPLY)?;
        let failure = |what: &str| Err(self.program.failure(phase, what.to_owned()));
        match said {
            ProgramActivity::Nothing => Ok(None),
            ProgramActivity::Line(_) if self.program.has_more() => {
                failure("it replied more than once to a request")
            }
            ProgramActivity::Line(line) => self.reply(&line, phase).map(Some),
            ProgramActivity::Ended(exit) => Err(self.program.exit_failure(exit, phase)),
            ProgramActivity::Closed => failure("it has closed the output for its replies"),
        }
    }

    fn reply(&self, line: &[u8], phase: Phase) -> Result<Reply, Failure> {
        serde_json::from_slice::<Reply>(line).map_err(|error| {
            let said = shortened(&String::from_utf8_lossy(line));
            self.program
                .failure(phase, format!("its reply is not valid in the adapter protocol ({error}): {said}"))
        })
    }
}

//! A program under the adapter protocol: it is started, asked, and listened to.

use super::protocol::{Reply, Request};
use super::traces::RUN_VARIABLE;
use crate::not_measured::{NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::{PRINTED_BYTES, Said, StartedProgram, shortened};
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

/// A program that was started for a row, and is asked.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) program: StartedProgram,
    /// `None` once no more is asked.
    requests: Option<File>,
}

impl Conversation {
    /// Starts the program of a row. What it starts in its turn is known by `run` in its environment.
    ///
    /// # Errors
    /// `NotFound` where the manifest's command is not there; else what could not be made.
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

    /// Sends a request. One that is dead is noticed by whoever waits for the reply.
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

    /// Asks no more.
    pub(super) fn end_requests(&mut self) {
        self.requests = None;
    }

    /// Takes what it has said since the last time, without waiting, and notices its death.
    ///
    /// # Errors
    /// What it did instead of replying.
    pub(super) fn attend(&mut self, phase: Phase) -> Result<Option<Reply>, Failure> {
        let said = self.program.attend(phase, "reply", LONGEST_REPLY)?;
        let failure = |what: &str| Err(self.program.failure(phase, what.to_owned()));
        match said {
            Said::Nothing => Ok(None),
            Said::Line(_) if self.program.has_more() => failure("it said more than it was asked for"),
            Said::Line(line) => self.reply(&line, phase).map(Some),
            Said::Ended(exit) => Err(self.program.exit_failure(exit, phase)),
            Said::Closed => failure("it has closed the way of its replies"),
        }
    }

    fn reply(&self, line: &[u8], phase: Phase) -> Result<Reply, Failure> {
        serde_json::from_slice::<Reply>(line).map_err(|error| {
            let said = shortened(&String::from_utf8_lossy(line));
            self.program.failure(phase, format!("its reply is not of the adapter protocol ({error}): {said}"))
        })
    }
}

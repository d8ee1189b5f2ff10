//! A program under the adapter protocol: it is started, asked, listened to with bounds, and ended.

use super::protocol::{Reply, Request};
use super::traces::RUN_VARIABLE;
use crate::watch::early_end;
use furlong_adapter_files::Manifest;
use furlong_model::{Failure, Fault, Phase, Role};
use furlong_os::memory::{bounded_object, written_text};
use furlong_os::pipe::pipe;
use furlong_os::process::{Bond, Child, Exit, Program, spawn};
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};

/// The longest reply, in bytes.
const LONGEST_REPLY: usize = 8 << 20;

/// How long after the end of its replies a program is taken for dying, in milliseconds.
const DEATH_MS: u64 = 100;

/// How much of what it prints is kept, in bytes.
const PRINTED_BYTES: usize = 64 << 10;

/// A program that was started for a row.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Which role it is; the initiator for one that is both.
    pub(super) role: Role,
    pub(super) child: Child,
    pub(super) exit: Option<Exit>,
    /// `None` once no more is asked.
    requests: Option<File>,
    replies: File,
    /// What came of the reply under way.
    line: Vec<u8>,
    /// Whether it can still say something.
    pub(super) silent: bool,
    printed: Handle,
}

impl Conversation {
    /// Starts the program of a row. What it starts in its turn is known by `run` in its environment.
    ///
    /// # Errors
    /// `NotFound` where the manifest's command is not there; else what could not be made.
    pub(super) fn start(
        manifest: &Manifest,
        arguments: &[String],
        role: Role,
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
            joins_output: true,
            ..Program::at(&path)
        };
        let inherit = [their_requests.raw_handle(), their_replies.raw_handle()];
        let child = spawn(&program, &inherit, printed.as_handle(), Bond::DiesWithParentAndGroup)?;
        let (requests, replies) = (Some(File::from(requests)), File::from(replies));
        Ok(Conversation {
            role,
            child,
            exit: None,
            requests,
            replies,
            line: Vec::new(),
            silent: false,
            printed,
        })
    }

    /// Sends a request. One that is dead is noticed by whoever waits for the reply.
    pub(super) fn send(&mut self, request: &Request<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let Some(requests) = &mut self.requests else { return Ok(()) };
        match requests.write_all(&line) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Asks no more.
    pub(super) fn end_requests(&mut self) {
        self.requests = None;
    }

    /// What becomes readable when it replies or dies.
    pub(super) fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        let replies = (!self.silent).then(|| self.replies.as_handle());
        let death = if self.exit.is_none() { self.child.death() } else { None };
        replies.into_iter().chain(death).collect()
    }

    /// Takes what it has said since the last time, without waiting, and notices its death.
    ///
    /// # Errors
    /// What it did instead of replying.
    pub(super) fn attend(&mut self, phase: Phase) -> Result<Option<Reply>, Failure> {
        // Its death is looked for first: then all that it has said before is there to be read.
        self.exit = self.exit.or_else(|| self.child.try_wait());
        while !self.silent && is_readable(self.replies.as_handle()) {
            let mut part = vec![0; 64 << 10];
            let read =
                self.replies.read(&mut part).map_err(|error| self.failure(phase, error.to_string()))?;
            self.silent = read == 0;
            self.line.extend_from_slice(&part[..read]);
            if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                return self.reply(end, phase).map(Some);
            }
            if self.line.len() > LONGEST_REPLY {
                return Err(self.failure(phase, format!("its reply is longer than {LONGEST_REPLY} bytes")));
            }
        }
        if self.silent {
            // Its end is seen before its death.
            self.exit = self.exit.or_else(|| self.child.wait_at_most(DEATH_MS));
        }
        match self.exit {
            // What else it started may hold its end open: nothing more comes from it.
            Some(exit) => Err(self.exit_failure(exit, phase)),
            None if self.silent => {
                Err(self.failure(phase, "it has closed the way of its replies".to_owned()))
            }
            None => Ok(None),
        }
    }

    /// The reply whose line ends here.
    fn reply(&mut self, end: usize, phase: Phase) -> Result<Reply, Failure> {
        let line = std::mem::take(&mut self.line);
        if line.len() > end + 1 {
            return Err(self.failure(phase, "it said more than it was asked for".to_owned()));
        }
        serde_json::from_slice::<Reply>(&line).map_err(|error| {
            let said = shortened(&String::from_utf8_lossy(&line));
            self.failure(phase, format!("its reply is not of the adapter protocol ({error}): {said}"))
        })
    }

    /// A failure of this program, with what it has printed.
    pub(super) fn failure(&self, phase: Phase, what: String) -> Failure {
        Failure { phase, party: Some(self.role.into()), fault: Fault::Error, detail: self.with_printed(what) }
    }

    /// How it died.
    fn exit_failure(&self, exit: Exit, phase: Phase) -> Failure {
        let (fault, detail) = match exit {
            Exit::Code(127) => (Fault::Exited, "it could not be started (exit code 127)".to_owned()),
            exit => early_end(exit),
        };
        Failure { phase, party: Some(self.role.into()), fault, detail: self.with_printed(detail) }
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

/// The beginning of what a program says, on one line.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

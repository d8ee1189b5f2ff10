//! Two processes with one end each of a link.

use super::Subject;
use super::process::{Gate, Page, Process, ProcessFailure, QUIET};
use furlong_mechanism::{Endpoint, EndpointSetup, Link};
use furlong_model::{Meaning, Role};
use furlong_os::linux::container::become_nobody;
use furlong_os::{AsHandle, RawHandle};
use std::io;
use std::time::{Duration, Instant};

/// The number of messages that a link should hold.
const DEPTH: usize = 8;

/// The work of one process with its end.
pub(super) type Part<'a> = &'a dyn Fn(&mut dyn Endpoint, &Page) -> io::Result<()>;

/// A sender, which is the initiator, and a receiver.
pub(super) struct Pair {
    sender: Option<Process>,
    receiver: Process,
    page: Page,
    _link: Link,
}

/// The result of both processes.
pub(super) struct PairResult {
    /// The page with the notes of the receiver.
    pub(super) page: Page,
    /// The failure of the first process that failed.
    pub(super) failed: Option<ProcessFailure>,
}

impl PairResult {
    /// Returns the page.
    ///
    /// # Errors
    /// Returns the error of a process that has failed.
    pub(super) fn page(self) -> io::Result<Page> {
        match self.failed {
            Some(failed) => Err(io::Error::other(failed.text)),
            None => Ok(self.page),
        }
    }
}

impl Pair {
    /// Creates a link for messages of `size_bytes` and starts both processes. The receiver of a probe across users is another user.
    pub(super) fn start(
        subject: &Subject<'_>,
        size_bytes: usize,
        sender: Part<'_>,
        receiver: Part<'_>,
    ) -> io::Result<Pair> {
        let is_blocking = !subject.probe.wait.needs_non_blocking();
        let mut specification = subject.session.specification(subject.link, [size_bytes; 2], is_blocking)?;
        specification.depth = DEPTH;
        let mut link = (subject.built_in.create)(&specification)?;
        let page = Page::new()?;
        let mut start = |role: Role, part: Part<'_>| {
            let inherit: Vec<RawHandle> =
                link.end(role).descriptors.iter().map(AsHandle::raw_handle).collect();
            Process::start(&inherit, || {
                if role == Role::Responder && subject.probe.meaning == Meaning::CrossesUsers {
                    become_nobody()?;
                }
                let peer = page.exchange_pids(role);
                let setup = EndpointSetup { role, handles: link.take_end(role), peer };
                let mut end = (subject.built_in.open_end)(&specification, setup)?;
                page.meet(role);
                let result = part(&mut *end, &page);
                // A process that is killed closes nothing itself.
                std::mem::forget(end);
                result
            })
        };
        let (sender, receiver) = (start(Role::Initiator, sender)?, start(Role::Responder, receiver)?);
        Role::ALL.into_iter().for_each(|role| drop(link.take_end(role)));
        Ok(Pair { sender: Some(sender), receiver, page, _link: link })
    }

    /// Waits until the sender has exited, kills it if it waits, and lets the receiver pass [`Gate::Released`].
    pub(super) fn end_sender(&mut self) {
        if let Some(mut sender) = self.sender.take() {
            sender.wait();
        }
        self.page.open(Gate::Released);
    }

    /// Waits until the receiver has exited, a process has failed, or neither has made progress for [`QUIET`]. Kills both.
    pub(super) fn finish(mut self) -> PairResult {
        let mut last = (self.page.sent(), self.page.received());
        let mut since = Instant::now();
        let failed = loop {
            let failed = self.sender.as_mut().and_then(Process::failure).or_else(|| self.receiver.failure());
            if failed.is_some() || self.receiver.exit().is_some() || since.elapsed() > QUIET {
                break failed;
            }
            let now = (self.page.sent(), self.page.received());
            if now != last {
                (last, since) = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        PairResult { page: self.page, failed }
    }
}

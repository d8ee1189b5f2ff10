//! The processes of a probe, and the page that they share.

use furlong_mechanism::{Endpoint, Message};
use furlong_model::Role;
use furlong_os::memory::{Region, page_bytes, text_object, written_text};
use furlong_os::process::{Bond, Child, Exit, fork};
use furlong_os::{AsHandle, Handle, RawHandle, cpu};
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time without progress after which a process is assumed to wait for ever.
pub(super) const QUIET: Duration = Duration::from_secs(2);

/// Exit status of a process whose mechanism does not support a call.
const UNSUPPORTED: i32 = 3;

/// The longest error of a process, in bytes.
const ERROR_BYTES: u64 = 4096;

/// The gates of a page, each with the offset of its word. One process opens a gate, and another one waits at it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gate {
    /// The sender has sent its messages, or the object exists.
    Sent = 128,
    /// The receiver needs the sender no more.
    Received = 256,
    /// The supervisor lets a process go on.
    Released = 384,
    /// The receiver began while the sender still had messages to send.
    Waited = 512,
}

/// The page.
pub(super) struct Page(Region);

impl Page {
    const SENT: usize = 640;
    const RECEIVED: usize = 768;
    const ENTRIES: usize = 1024;

    pub(super) fn new() -> io::Result<Page> {
        Region::anonymous(page_bytes()).map(Page)
    }

    pub(super) fn open(&self, gate: Gate) {
        self.0.word(gate as usize).store(1, Ordering::Release);
    }

    pub(super) fn is_open(&self, gate: Gate) -> bool {
        self.0.word(gate as usize).load(Ordering::Acquire) != 0
    }

    /// Waits at a gate. The supervisor kills a process that waits too long.
    pub(super) fn pass(&self, gate: Gate) {
        self.pass_within(gate, Duration::MAX);
    }

    /// Waits at a gate; returns whether it is open.
    pub(super) fn pass_within(&self, gate: Gate, time: Duration) -> bool {
        let start = Instant::now();
        while !self.is_open(gate) && start.elapsed() < time {
            cpu::yield_now();
        }
        self.is_open(gate)
    }

    /// Counts a sent message.
    pub(super) fn count_sent(&self) {
        self.0.word(Page::SENT).fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a received message, and keeps its number or its length if there is room.
    pub(super) fn note(&self, received: u32) {
        let index = self.received() as usize;
        let at = Page::ENTRIES + 4 * index;
        if at < self.0.len() {
            self.0.word(at).store(received, Ordering::Release);
        }
        self.0.word(Page::RECEIVED).fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn sent(&self) -> u32 {
        self.0.word(Page::SENT).load(Ordering::Acquire)
    }

    pub(super) fn received(&self) -> u32 {
        self.0.word(Page::RECEIVED).load(Ordering::Acquire)
    }

    /// Returns the numbers or lengths of received messages.
    pub(super) fn notes(&self) -> Vec<u32> {
        let places = (Page::ENTRIES..self.0.len()).step_by(4).take(self.received() as usize);
        places.map(|at| self.0.word(at).load(Ordering::Acquire)).collect()
    }

    /// Publishes the PID of a role's process, and waits for the PID of the other one.
    pub(super) fn exchange_pids(&self, role: Role) -> i32 {
        self.word_of(0, role).store(std::process::id(), Ordering::Release);
        self.await_peer(0, role) as i32
    }

    /// Reports that a role has opened its end, and waits for the other one.
    pub(super) fn meet(&self, role: Role) {
        self.word_of(64, role).store(1, Ordering::Release);
        self.await_peer(64, role);
    }

    /// Returns whether both roles have opened their ends.
    pub(super) fn have_met(&self) -> bool {
        Role::ALL.iter().all(|role| self.word_of(64, *role).load(Ordering::Acquire) != 0)
    }

    fn word_of(&self, at: usize, role: Role) -> &std::sync::atomic::AtomicU32 {
        self.0.word(at + 4 * role.index())
    }

    fn await_peer(&self, at: usize, role: Role) -> u32 {
        loop {
            match self.word_of(at, role.peer()).load(Ordering::Acquire) {
                0 => cpu::yield_now(),
                value => return value,
            }
        }
    }
}

/// One process, killed on drop.
pub(super) struct Process {
    child: Child,
    words: Handle,
}

impl Process {
    /// Forks a process that keeps these descriptors and exits after `body`.
    pub(super) fn start(inherit: &[RawHandle], body: impl FnOnce() -> io::Result<()>) -> io::Result<Process> {
        let words = text_object("furlong-meaning")?;
        let child = fork(inherit, words.as_handle(), Bond::DiesWithParent, || match body() {
            Ok(()) => 0,
            Err(error) => {
                eprint!("{error}");
                if error.kind() == io::ErrorKind::Unsupported { UNSUPPORTED } else { 1 }
            }
        })?;
        Ok(Process { child, words })
    }

    pub(super) fn exit(&mut self) -> Option<Exit> {
        self.child.try_wait()
    }

    /// Waits for the end of the process, for [`QUIET`] at most.
    pub(super) fn wait(&mut self) -> Option<Exit> {
        self.child.wait_at_most(QUIET.as_millis() as u64)
    }

    /// Returns the error of a process that has failed.
    pub(super) fn failure(&mut self) -> Option<ProcessFailure> {
        let exit = self.exit().filter(|exit| *exit != Exit::Code(0))?;
        let text = written_text(self.words.as_handle(), ERROR_BYTES);
        let text = if text.is_empty() { exit.to_string() } else { text };
        Some(ProcessFailure { text, is_unsupported: exit == Exit::Code(UNSUPPORTED) })
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    /// Returns the error of the process, or `TimedOut`.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let exit = self.wait();
        match (exit, self.failure()) {
            (_, Some(failed)) => Err(io::Error::other(failed.text)),
            (None, None) => Err(io::ErrorKind::TimedOut.into()),
            (Some(_), None) => Ok(()),
        }
    }
}

/// The failure of a process.
#[derive(Debug)]
pub(super) struct ProcessFailure {
    pub(super) text: String,
    pub(super) is_unsupported: bool,
}

/// Repeats a call of a non-blocking end until it succeeds or fails.
pub(super) fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => cpu::yield_now(),
            result => return result,
        }
    }
}

/// Returns a message of `len` bytes that begins with a number.
pub(super) fn numbered(len: usize, number: u32) -> io::Result<Message> {
    let mut message = Message::new(len)?;
    set_number(&mut message, number);
    Ok(message)
}

pub(super) fn set_number(message: &mut Message, number: u32) {
    let len = message.len().min(size_of::<u32>());
    message[..len].copy_from_slice(&number.to_ne_bytes()[..len]);
}

/// Receives a message of `len` bytes, and notes its number.
pub(super) fn receive_number(end: &mut dyn Endpoint, len: usize, page: &Page) -> io::Result<()> {
    let mut message = Message::new(len)?;
    retried(|| end.recv(&mut message))?;
    let mut number = [0; size_of::<u32>()];
    number.copy_from_slice(&message[..size_of::<u32>()]);
    page.note(u32::from_ne_bytes(number));
    Ok(())
}

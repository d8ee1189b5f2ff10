//! Two processes with one end each, for tests of a mechanism without the measured loop.

#[cfg(target_os = "linux")]
mod forked;
#[cfg(windows)]
mod started;

#[cfg(target_os = "linux")]
use forked as platform;
#[cfg(windows)]
use started as platform;
#[cfg(windows)]
pub use started::requested_test;

use furlong_mechanism::{EndpointSetup, Handles, Link, LinkSpecification, Mechanism};
use furlong_model::{Access, Depth, RequestedConditions, Role};
use furlong_os::memory::{Region, anonymous_object, page_bytes, text_object, written_text};
use furlong_os::process::{Child, Exit};
use furlong_os::{AsHandle, Handle};
use furlong_os::{cpu, identity};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time limit of a test. After it, the processes are killed and the test fails.
pub const WATCHDOG: Duration = Duration::from_secs(if cfg!(windows) { 60 } else { 20 });

/// The shared state of both processes: facts about the link, and a page with their PIDs and with gates that one process
/// opens for the other.
#[derive(Debug, Clone)]
pub struct RunningTrial {
    page: Arc<Region>,
    /// The size of the largest message, in bytes.
    pub size_bytes: usize,
    /// The number of messages that the link claims to hold in the sender's direction.
    pub depth: Depth,
}

/// The gates; the value is the offset of the word with its state.
#[derive(Debug, Clone, Copy)]
pub enum Gate {
    Sent = 128,
    Received = 256,
    HalfReceived = 384,
    Refilled = 512,
}

impl RunningTrial {
    fn new(page: &Handle, size_bytes: usize, depth: Depth) -> io::Result<RunningTrial> {
        let page = Region::from_file(page.as_handle(), page_bytes())?;
        Ok(RunningTrial { page: Arc::new(page), size_bytes, depth })
    }

    /// Opens a gate for the other process.
    pub fn open(&self, gate: Gate) {
        self.page.word(gate as usize).store(1, Ordering::Release);
    }

    /// Waits until the other process opens the gate. The watchdog ends a wait that would be endless.
    pub fn pass(&self, gate: Gate) {
        while self.page.word(gate as usize).load(Ordering::Acquire) == 0 {
            cpu::yield_now();
        }
    }

    /// Reports that this end is open, and waits for the other end: a signal to a process that does not expect it yet
    /// would kill it. In a trial the roles meet for the same reason.
    fn enter_phase(&self, role: Role) {
        let word = |role: Role| self.page.word(64 + role.index() * 4);
        word(role).store(1, Ordering::Release);
        while word(role.peer()).load(Ordering::Acquire) == 0 {
            cpu::yield_now();
        }
    }

    /// Publishes the PID of this process, and waits for the other one's.
    fn exchange_numbers(&self, role: Role) -> i32 {
        let word = |role: Role| self.page.word(role.index() * 4);
        word(role).store(std::process::id(), Ordering::Release);
        loop {
            match word(role.peer()).load(Ordering::Acquire) {
                0 => cpu::yield_now(),
                number => return number as i32,
            }
        }
    }
}

/// Returns the specification of a link in a new directory.
pub fn scratch_spec(
    size_bytes: usize,
    blocking: bool,
) -> Result<(tempfile::TempDir, LinkSpecification), String> {
    let folder = step("make a folder", tempfile::tempdir())?;
    let number = step("draw a number", identity::random())?;
    let specification = LinkSpecification {
        name: format!("furlong-{number:016x}"),
        key: (number as i32 & 0x7fff_fffe).max(2),
        sizes_bytes: [size_bytes; 2],
        depth: 1,
        receivers: 1,
        buffer_bytes: None,
        access: Access::Copy,
        conditions: RequestedConditions::default(),
        blocking,
        folder: folder.path().to_owned(),
        file_folder: folder.path().to_owned(),
        folder_fault: None,
    };
    Ok((folder, specification))
}

/// The work of one process with its end.
pub type Part<M> = fn(&mut <M as Mechanism>::Endpoint, &RunningTrial) -> Result<(), String>;

/// A sender in the role of the initiator, and a receiver in the role of the responder.
pub struct Pair {
    pub sender: Child,
    pub receiver: Child,
    words: Handle,
    _link: Link,
    _folder: tempfile::TempDir,
}

/// The resources of a role's process at its start.
struct Seat<'a> {
    role: Role,
    link: &'a mut Link,
    specification: &'a LinkSpecification,
    /// The object of the page of [`RunningTrial`].
    page: &'a Handle,
    /// The standard error of the process.
    words: &'a Handle,
}

/// Opens an end and runs its part, in the process of a role. Returns the exit status.
fn play<M: Mechanism>(
    role: Role,
    handles: Handles,
    specification: &LinkSpecification,
    stage: &RunningTrial,
    part: Part<M>,
) -> i32 {
    let peer = stage.exchange_numbers(role);
    let result = M::open(specification, EndpointSetup { role, handles, peer })
        .map_err(|error| error.to_string())
        .and_then(|mut endpoint| {
            stage.enter_phase(role);
            part(&mut endpoint, stage)
        });
    if let Err(message) = &result {
        eprintln!("{role}: {message}");
    }
    i32::from(result.is_err())
}

impl Pair {
    /// Creates a link for messages of `size_bytes` and starts both processes.
    pub fn start<M: Mechanism>(
        size_bytes: usize,
        blocking: bool,
        sender: Part<M>,
        receiver: Part<M>,
    ) -> Result<Pair, String> {
        #[cfg(windows)]
        started::play_if_requested::<M>(sender, receiver);
        let (folder, specification) = scratch_spec(size_bytes, blocking)?;
        let mut link = step("make a link", M::create(&specification))?;
        let page = step("make a page", anonymous_object("page", page_bytes()))?;
        let words = step("make room for words", text_object("words"))?;
        let mut start = |role: Role, part: Part<M>| {
            let seat =
                Seat { role, link: &mut link, specification: &specification, page: &page, words: &words };
            step("start a role", platform::start::<M>(seat, part))
        };
        let (sender, receiver) = (start(Role::Initiator, sender)?, start(Role::Responder, receiver)?);
        for role in Role::ALL {
            drop(link.take_end(role).descriptors);
        }
        Ok(Pair { sender, receiver, words, _link: link, _folder: folder })
    }

    /// Waits until both processes end. Fails if one of them fails or exceeds its timeout.
    pub fn finish(mut self) -> Result<(), String> {
        let sent = ended(&mut self.sender, WATCHDOG);
        // If the sender has failed, its messages need not be awaited.
        let patience = if sent == Some(Exit::Code(0)) { WATCHDOG } else { Duration::from_millis(300) };
        let received = ended(&mut self.receiver, patience);
        match (sent, received) {
            (Some(Exit::Code(0)), Some(Exit::Code(0))) => Ok(()),
            (sent, received) => {
                Err(format!("sender {sent:?}, receiver {received:?} (None: still waiting); {}", self.words()))
            }
        }
    }

    /// Returns the standard errors of the processes.
    fn words(&self) -> String {
        written_text(self.words.as_handle(), 64 << 10)
    }
}

/// Returns how a process ended, if it ends within the timeout.
pub fn ended(child: &mut Child, timeout: Duration) -> Option<Exit> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            None if start.elapsed() < timeout => std::thread::sleep(Duration::from_millis(1)),
            exit => return exit,
        }
    }
}

/// Adds the name of a call to its error.
pub fn step<T>(what: &str, result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// Returns an error unless the condition holds.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

//! Two processes with one end each, to look at a mechanism without the measured loop around it.

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
use furlong_model::{Access, Depth, Role};
use furlong_os::memory::{Region, anonymous_object, page_bytes, text_object, written_text};
use furlong_os::process::{Child, Exit};
use furlong_os::{AsHandle, Handle};
use furlong_os::{cpu, identity};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a test may take before its processes are killed and it fails.
pub const WATCHDOG: Duration = Duration::from_secs(if cfg!(windows) { 60 } else { 20 });

/// What both processes know of the link, and a page that both see: their numbers, and gates that one opens for the other.
#[derive(Debug, Clone)]
pub struct RunningTrial {
    page: Arc<Region>,
    /// Bytes in the largest message.
    pub size_bytes: usize,
    /// Messages that the link claims to hold on the way from the sender.
    pub depth: Depth,
}

/// A gate for each direction, by the word that holds its state.
#[derive(Debug, Clone, Copy)]
pub enum Gate {
    Sent = 128,
    Received = 256,
    HalfReceived = 384,
    Refilled = 512,
}

impl RunningTrial {
    fn new(page: &Handle, size_bytes: usize, depth: Depth) -> io::Result<RunningTrial> {
        let page = Region::of_file(page.as_handle(), page_bytes())?;
        Ok(RunningTrial { page: Arc::new(page), size_bytes, depth })
    }

    /// Lets the other process pass.
    pub fn open(&self, gate: Gate) {
        self.page.word(gate as usize).store(1, Ordering::Release);
    }

    /// Waits for the other process to open the gate; the watchdog ends a wait in vain.
    pub fn pass(&self, gate: Gate) {
        while self.page.word(gate as usize).load(Ordering::Acquire) == 0 {
            cpu::yield_now();
        }
    }

    /// Says that this end is open, and waits for the other: a signal to a process that does not expect it yet
    /// would end it. In a trial the roles meet for the same reason.
    fn enter_phase(&self, role: Role) {
        let word = |role: Role| self.page.word(64 + role.index() * 4);
        word(role).store(1, Ordering::Release);
        while word(role.peer()).load(Ordering::Acquire) == 0 {
            cpu::yield_now();
        }
    }

    /// Says this process's number, and waits for the other's.
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

/// What a link is to be, in a folder of its own.
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
        blocking,
        folder: folder.path().to_owned(),
        file_folder: folder.path().to_owned(),
        folder_fault: None,
    };
    Ok((folder, specification))
}

/// What one process does with its end.
pub type Part<M> = fn(&mut <M as Mechanism>::Endpoint, &RunningTrial) -> Result<(), String>;

/// A sender, which sits in the initiator's seat, and a receiver in the responder's.
pub struct Pair {
    pub sender: Child,
    pub receiver: Child,
    words: Handle,
    _link: Link,
    _folder: tempfile::TempDir,
}

/// What a role's process begins with.
struct Seat<'a> {
    role: Role,
    link: &'a mut Link,
    specification: &'a LinkSpecification,
    /// The object behind the page of [`RunningTrial`].
    page: &'a Handle,
    /// Its standard error.
    words: &'a Handle,
}

/// Opens an end and does its part, in the process of a role. Gives its exit code.
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
    /// Makes a link for messages of `size_bytes` and starts both processes.
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

    /// Both must end well before the watchdog bites.
    pub fn finish(mut self) -> Result<(), String> {
        let sent = ended(&mut self.sender, WATCHDOG);
        // What nobody sends need not be waited for.
        let patience = if sent == Some(Exit::Code(0)) { WATCHDOG } else { Duration::from_millis(300) };
        let received = ended(&mut self.receiver, patience);
        match (sent, received) {
            (Some(Exit::Code(0)), Some(Exit::Code(0))) => Ok(()),
            (sent, received) => {
                Err(format!("sender {sent:?}, receiver {received:?} (None: still waiting); {}", self.words()))
            }
        }
    }

    /// What the processes have written to their standard errors.
    fn words(&self) -> String {
        written_text(self.words.as_handle(), 64 << 10)
    }
}

/// How a process ended, if it does within `patience`.
pub fn ended(child: &mut Child, timeout: Duration) -> Option<Exit> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            None if start.elapsed() < timeout => std::thread::sleep(Duration::from_millis(1)),
            exit => return exit,
        }
    }
}

/// One call and its error in words.
pub fn step<T>(what: &str, result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// What must hold.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

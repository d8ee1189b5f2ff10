//! Deliberately broken mechanisms, each with one fault: a connection that keeps message boundaries, whose initiator
//! breaks one message or its own process.

#[cfg(target_os = "linux")]
mod packets;
#[cfg(windows)]
mod pipe_messages;

#[cfg(target_os = "linux")]
use packets as connection;
#[cfg(windows)]
use pipe_messages as connection;

pub use connection::FULL;
use furlong_bench::MechanismEntry;
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message, MessageBatch};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, Role, Sharing, Unavailable, Wait};
#[cfg(target_os = "linux")]
use furlong_os::{AsHandle, BorrowedHandle, wait::Interest};
use furlong_os::{Handle, identity};
use std::fs::File;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The faults of the message.
pub const LOSE: u8 = 0;
pub const REPEAT: u8 = 1;
pub const REORDER: u8 = 2;
pub const CUT: u8 = 3;
pub const FLIP_HEAD: u8 = 4;
pub const FLIP_BODY: u8 = 5;
/// The faults of the process.
pub const PANIC: u8 = 6;
pub const LEAVE: u8 = 7;
pub const FAIL: u8 = 8;
pub const HANG: u8 = 9;
pub const NOTHING: u8 = 10;
/// The faults of every message from there on: an undeclared system call, or a stall of [`STALL`] after each
/// [`STALLS_EVERY`].
pub const CALL: u8 = 11;
pub const DAWDLE: u8 = 12;
/// The fault of a link that claims to hold more messages than it does.
pub const OVERSTATE: u8 = 13;

/// The receiver's process exits.
pub const LEAVE_RECEIVING: u8 = 14;

/// The message uses the first link of the process.
pub const DIVERT: u8 = 15;

/// The length of a stall.
pub const STALL: Duration = Duration::from_millis(50);

/// The time between two stalls.
pub const STALLS_EVERY: Duration = Duration::from_millis(400);

/// The timeout of a trial that a fault blocks. Under Wine, the start alone takes longer than the whole trial on other
/// systems.
pub const SABOTEUR_TIMEOUT: Duration = Duration::from_millis(if cfg!(windows) { 5_000 } else { 500 });

/// The lengths of the warm-up and of the measured part: long enough that messages follow the broken one.
pub const SABOTEUR_BUDGET: Duration = Duration::from_millis(if cfg!(windows) { 200 } else { 2 });

/// The numbers of a message of the verified pass, which sends 16, and of one that even the shortest measured loop
/// sends: it has at least three messages in the warm-up and three in the timed part.
pub const EARLY: u64 = 5;
pub const LATE: u64 = 20;

/// The number of a message of the timed part, if the warm-up is as short as possible: 16 messages are verified, and six follow
/// with three in flight.
pub const TIMED: u64 = 40;

/// The number of a late message, in the second of several links only.
pub const SECOND: u64 = 21;

/// The number of a message of the verified pass, in one of several processes that share the end.
pub const ONE: u64 = 7;

/// Breaks message `AT` with the fault `HOW`.
pub struct Saboteur<const HOW: u8, const AT: u64>;

/// Returns the name by which tests find the mechanism.
pub const fn name(how: u8, at: u64) -> &'static str {
    match (how, at) {
        (LOSE, ONE) => "lose-one",
        (REPEAT, ONE) => "repeat-one",
        (REORDER, ONE) => "reorder-one",
        (CUT, ONE) => "cut-one",
        (FLIP_BODY, ONE) => "sensitivity-body-one",
        (LEAVE, ONE) => "leave-one",
        (LEAVE_RECEIVING, _) => "leave-receiving-one",
        (LOSE, TIMED) => "lose-timed",
        (REPEAT, TIMED) => "repeat-timed",
        (REORDER, TIMED) => "reorder-timed",
        (CUT, TIMED) => "cut-timed",
        (FLIP_HEAD, TIMED) => "sensitivity-head-timed",
        (LOSE, EARLY) => "lose-early",
        (LOSE, SECOND) => "lose-second",
        (LOSE, _) => "lose-late",
        (REPEAT, EARLY) => "repeat-early",
        (REPEAT, _) => "repeat-late",
        (REORDER, _) => "reorder-early",
        (CUT, EARLY) => "cut-early",
        (CUT, _) => "cut-late",
        (FLIP_HEAD, EARLY) => "sensitivity-head-early",
        (FLIP_HEAD, _) => "sensitivity-head-late",
        (FLIP_BODY, _) => "sensitivity-body-early",
        (PANIC, _) => "panic",
        (LEAVE, SECOND) => "leave-second",
        (DIVERT, _) => "divert-second",
        (LEAVE, _) => "leave",
        (FAIL, _) => "fail",
        (HANG, _) => "hang",
        (CALL, _) => "call",
        (DAWDLE, _) => "dawdle",
        (OVERSTATE, _) => "overstate",
        _ => "nothing",
    }
}

/// Returns all broken mechanisms.
pub fn mechanisms() -> Vec<MechanismEntry> {
    vec![
        MechanismEntry::of::<Saboteur<LOSE, EARLY>>(),
        MechanismEntry::of::<Saboteur<LOSE, LATE>>(),
        MechanismEntry::of::<Saboteur<REPEAT, EARLY>>(),
        MechanismEntry::of::<Saboteur<REPEAT, LATE>>(),
        MechanismEntry::of::<Saboteur<REORDER, EARLY>>(),
        MechanismEntry::of::<Saboteur<CUT, EARLY>>(),
        MechanismEntry::of::<Saboteur<CUT, LATE>>(),
        MechanismEntry::of::<Saboteur<FLIP_HEAD, EARLY>>(),
        MechanismEntry::of::<Saboteur<FLIP_HEAD, LATE>>(),
        MechanismEntry::of::<Saboteur<FLIP_BODY, EARLY>>(),
        MechanismEntry::of::<Saboteur<PANIC, LATE>>(),
        MechanismEntry::of::<Saboteur<LEAVE, LATE>>(),
        MechanismEntry::of::<Saboteur<LEAVE, SECOND>>(),
        MechanismEntry::of::<Saboteur<LOSE, SECOND>>(),
        MechanismEntry::of::<Saboteur<DIVERT, SECOND>>(),
        MechanismEntry::of::<Saboteur<LOSE, ONE>>(),
        MechanismEntry::of::<Saboteur<REPEAT, ONE>>(),
        MechanismEntry::of::<Saboteur<REORDER, ONE>>(),
        MechanismEntry::of::<Saboteur<CUT, ONE>>(),
        MechanismEntry::of::<Saboteur<FLIP_BODY, ONE>>(),
        MechanismEntry::of::<Saboteur<LEAVE, ONE>>(),
        MechanismEntry::of::<Saboteur<LEAVE_RECEIVING, ONE>>(),
        MechanismEntry::of::<Saboteur<LOSE, TIMED>>(),
        MechanismEntry::of::<Saboteur<REPEAT, TIMED>>(),
        MechanismEntry::of::<Saboteur<REORDER, TIMED>>(),
        MechanismEntry::of::<Saboteur<CUT, TIMED>>(),
        MechanismEntry::of::<Saboteur<FLIP_HEAD, TIMED>>(),
        MechanismEntry::of::<Saboteur<FAIL, LATE>>(),
        MechanismEntry::of::<Saboteur<HANG, LATE>>(),
        MechanismEntry::of::<Saboteur<NOTHING, LATE>>(),
        MechanismEntry::of::<Saboteur<CALL, LATE>>(),
        MechanismEntry::of::<Saboteur<DAWDLE, LATE>>(),
    ]
}

impl<const HOW: u8, const AT: u64> Mechanism for Saboteur<HOW, AT> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: name(HOW, AT),
        summary: "a socket with a saboteur at one end",
        family: Family::Socket,
        waits: if cfg!(windows) { &[Wait::Block] } else { &[Wait::Block, Wait::Poll] },
        calls: Calls::of(&[Call::Once(connection::CALLS[0])], &[Call::Once(connection::CALLS[1])]),
        sharing: if cfg!(windows) { Sharing::OneEach } else { Sharing::Messages },
        ..Capabilities::DEFAULT
    };
    type Endpoint = End<HOW, AT>;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(if HOW == OVERSTATE { 10_000 } else { 1 }); 2]);
        link.give_pair(connection::pair(&specification.name)?);
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let role = if HOW == LEAVE_RECEIVING { Role::Responder } else { Role::Initiator };
        let spoils = || match AT {
            SECOND => specification.name.ends_with("-1"),
            // The first process that opens its end is broken.
            ONE => File::create_new(specification.folder.join("saboteur")).is_ok(),
            _ => true,
        };
        let (saboteur, socket) = (setup.role == role && spoils(), setup.descriptor()?);
        connection::settle(&socket, specification.blocking)?;
        if HOW == DIVERT {
            OPENED.lock().map_err(|_| io::Error::other("a panic before"))?.push(socket.try_clone()?);
        }
        Ok(End { socket, saboteur, sent: 0, received: 0, held: None, stalled: Instant::now() })
    }
}

/// The ends that this process has opened, for the fault that sends over another link.
static OPENED: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

pub struct End<const HOW: u8, const AT: u64> {
    socket: Handle,
    saboteur: bool,
    sent: u64,
    received: u64,
    held: Option<Vec<u8>>,
    /// The time of the last stall.
    stalled: Instant,
}

impl<const HOW: u8, const AT: u64> End<HOW, AT> {
    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        connection::send(&self.socket, bytes)
    }

    /// Delays a message before it is sent.
    fn delay(&mut self) {
        match HOW {
            CALL => {
                identity::parent_process();
            }
            DAWDLE if self.stalled.elapsed() > STALLS_EVERY => {
                std::thread::sleep(STALL);
                self.stalled = Instant::now();
            }
            _ => {}
        }
    }

    fn send_bytes(&mut self, message: &[u8]) -> io::Result<()> {
        self.sent += 1;
        if self.saboteur && HOW != LEAVE_RECEIVING && self.sent == AT {
            return self.sabotage(message);
        }
        if self.saboteur && self.sent > AT {
            self.delay();
        }
        self.put(message)?;
        match self.held.take() {
            Some(held) => self.put(&held),
            None => Ok(()),
        }
    }

    fn sabotage(&mut self, message: &[u8]) -> io::Result<()> {
        let mut broken = message.to_vec();
        match HOW {
            LOSE => return Ok(()),
            DIVERT => {
                let opened = OPENED.lock().map_err(|_| io::Error::other("a panic before"))?;
                return connection::send(&opened[0], message);
            }
            REPEAT => self.put(message)?,
            REORDER => {
                self.held = Some(broken);
                return Ok(());
            }
            CUT => {
                broken.pop();
            }
            FLIP_HEAD => broken[2] ^= 1,
            FLIP_BODY => broken[message.len() / 2] ^= 1,
            PANIC => panic!("the saboteur panics"),
            LEAVE => std::process::exit(0),
            FAIL => return Err(io::ErrorKind::PermissionDenied.into()),
            HANG => loop {
                std::thread::park();
            },
            _ => {}
        }
        self.put(&broken)
    }
}

impl<const HOW: u8, const AT: u64> Endpoint for End<HOW, AT> {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.send_bytes(message)
    }

    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        batch.first(count).chunks(batch.size_bytes()).try_for_each(|message| self.send_bytes(message))
    }

    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        match connection::receive_several(&self.socket, batch)? {
            _ if batch.lengths[0] == 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    #[cfg(target_os = "linux")]
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.socket.as_handle())
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.received += 1;
        // Even a worker that gets no other message receives one at the start of a part, and one at its end.
        if self.saboteur && HOW == LEAVE_RECEIVING && self.received == 2 {
            std::process::exit(0);
        }
        match connection::receive(&self.socket, message)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

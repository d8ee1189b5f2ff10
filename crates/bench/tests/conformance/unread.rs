//! Tests of messages that are read from the sender's buffers as late as possible: a sender with too few buffers would
//! overwrite unread messages.

use crate::rows::{placed, quick};
use crate::workers::Trial;
use furlong_bench::MechanismEntry;
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Case, Copies, Depth, Family, Limits, Outcome, Unavailable, Wait,
};
use furlong_os::linux::remote_memory;
use furlong_os::socket::{self, Kind};
use furlong_os::{AsHandle, Handle};
use libtest_mimic::{Completion, Failed};
use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

/// The number of messages that a link holds, all of which may be unread.
const DEPTH: usize = 8;

/// The delay before a message is read: long enough for a sender that does not wait to send all that it may.
const LATE: Duration = Duration::from_micros(300);

/// The numbers of messages in flight: a small window, one that is not a power of two, and as many as a link holds.
const WINDOWS: [u32; 4] = [2, 3, 5, DEPTH as u32];

/// Returns the mechanism, for the roles.
pub fn mechanism() -> MechanismEntry {
    MechanismEntry::of::<ReadsLate>()
}

/// Returns one test per window.
pub fn tests() -> Vec<Trial> {
    let test = |window| {
        let name = format!("unread/late: no message of a window of {window} is overwritten");
        Trial::ignorable_test(name, move || is_not_overwritten(window))
    };
    WINDOWS.map(test).into()
}

fn is_not_overwritten(window: u32) -> Result<Completion, Failed> {
    if let Err(unavailable) = ReadsLate::probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    let entry = mechanism();
    let window = NonZeroU32::new(window).ok_or("no window")?;
    let case = Case::round_trip(entry.capabilities.name, Wait::Block, 128, placed()).with_window(window);
    match quick(&[entry], &entry, &case, Duration::from_secs(20))? {
        Outcome::Measured(measured) if measured.verified_messages > 0 => Ok(Completion::Completed),
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// A socket that carries the addresses of messages, and a receiver that reads them late.
pub struct ReadsLate;

impl Mechanism for ReadsLate {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "reads-late",
        summary: "messages that stay in their sender until they are read, late",
        family: Family::Memory,
        calls: Calls::of(&[Call::Once("sendto")], &[Call::Once("recvfrom"), Call::Once("process_vm_readv")]),
        copies: Copies::One,
        ..Capabilities::DEFAULT
    };
    type Endpoint = LateReader;

    fn probe() -> Result<Limits, Unavailable> {
        let byte = [1u8];
        match remote_memory::read(std::process::id() as i32, byte.as_ptr() as u64, &mut [0]) {
            Ok(_) => Ok(Limits::none()),
            Err(error) => Err(Unavailable::new(format!("process_vm_readv is refused here: {error}"), "")),
        }
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(DEPTH as u64); 2]);
        link.give_pair(socket::socketpair(Kind::Seqpacket)?);
        Ok(link)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<LateReader> {
        remote_memory::allow_peers();
        Ok(LateReader { socket: setup.descriptor()?, peer: setup.peer })
    }
}

/// An end that publishes addresses, and reads from the peer's memory.
pub struct LateReader {
    socket: Handle,
    peer: i32,
}

impl Endpoint for LateReader {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let place = [message.as_ptr() as u64, message.len() as u64].map(u64::to_le_bytes).concat();
        socket::send(self.socket.as_handle(), &place).map(drop)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let mut place = [0; 16];
        if socket::receive_message(self.socket.as_handle(), &mut place)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        std::thread::sleep(LATE);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| place[at + byte]));
        let length = word(8) as usize;
        let room = length.min(message.len());
        match remote_memory::read(self.peer, word(0), &mut message[..room])? {
            read if read == room => Ok(length),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        DEPTH
    }
}

//! The messages between a parent and its child: one line of JSON each, over a socket of their own.
//!
//! None is sent while messages are measured. What both need to know then is on the [`ControlPage`].

pub use furlong_loops::control_page::ControlPage;
pub use furlong_loops::recorder::Timing;
use furlong_loops::shared_end::Taken;
use furlong_mechanism::{Handles, LinkSpecification};
use furlong_model::{Arrival, Exchange, Fault, Party, Phase, Role, RoleTally, Wait};
use furlong_os::{AsHandle, BorrowedHandle, Handle, RawHandle, pipe};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

/// All that a role needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoleConfiguration {
    /// The mechanism's name.
    pub mechanism: String,
    /// How both roles wait.
    pub wait: Wait,
    /// Which party this is.
    pub party: Party,
    /// The processor to be pinned to, if any.
    pub processor: Option<usize>,
    /// The exchange of messages.
    pub exchange: Exchange,
    /// What the link of each end is.
    pub specifications: Vec<LinkSpecification>,
    /// The ends that this process holds: its own, both where it is the only one, or one for each receiver.
    pub ends: Vec<End>,
    /// What carries the requests, where that is another mechanism.
    pub request: Option<RequestConfiguration>,
    /// The control page that it shares with whom it exchanges messages.
    pub control_page: ControlPageEnd,
    /// Time for the measured part, in nanoseconds.
    pub budget_ns: u64,
    /// When the initiator sends the next message of the measured part.
    pub arrival: Arrival,
    /// The least time to warm up, in nanoseconds; until the pace is steady if not given.
    pub warm_up_ns: Option<u64>,
    /// What a reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
    /// Round trips, or messages one way, after which the measured part ends.
    pub most_round_trips: Option<u64>,
    /// Makes this trial's messages unlike any other's.
    pub key: u64,
}

impl RoleConfiguration {
    /// Bytes in the messages that each role sends, the initiator's first.
    pub fn sizes_bytes(&self) -> [usize; 2] {
        let [own, answered] = self.specifications[0].sizes_bytes;
        [self.request.as_ref().map_or(own, |request| request.specification.sizes_bytes[0]), answered]
    }
}

/// A party's part of a control page.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ControlPageEnd {
    /// The number of its descriptor.
    pub descriptor: RawHandle,
    /// Lines that it has.
    pub lines: usize,
    /// The party's own, from 0 on.
    pub line: usize,
    /// Where the other role is on another host, which has a page of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPageEnd>,
}

/// What a party has beside a page that is its host's alone.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OwnPageEnd {
    /// The number of the descriptor of what takes announcements to the other host; the initiator has one.
    pub carrier: Option<RawHandle>,
}

/// All that a role needs to know of the mechanism that carries requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RequestConfiguration {
    /// Its name.
    pub mechanism: String,
    /// How both roles wait for a request.
    pub wait: Wait,
    /// What its link is.
    pub specification: LinkSpecification,
    /// This role's end.
    pub end: End,
}

/// One end of the link, as it is inherited.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct End {
    /// Numbers of the inherited descriptors, in the order of the link.
    pub descriptors: Vec<RawHandle>,
    /// Numbers that the kernel knows in every process, in the order of the link.
    pub numbers: Vec<i32>,
    /// Which end of its link it is.
    pub role: Role,
    /// The number of the process that holds the other end; of the one that holds this, if there is none.
    pub peer: i32,
}

/// What a child reports; `D` is what it reports of its work when that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report<D> {
    /// It lives, and has done nothing else yet.
    Started,
    /// It is ready for the phase and waits for the other.
    Ready {
        /// Which phase.
        phase: Phase,
    },
    /// It has done all phases.
    Done(D),
    /// It cannot go on.
    Failed {
        /// Where.
        phase: Phase,
        /// What kind of thing went wrong.
        fault: Fault,
        /// What exactly.
        detail: String,
    },
}

/// What a role of an exchange of messages reports when it is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoleResult {
    /// What it used and counted.
    pub tally: RoleTally,
    /// Messages of which it checked every byte.
    pub verified_messages: u64,
    /// The times, if it held the clock.
    pub timing: Option<Timing>,
    /// What it has taken, if it is one of several workers.
    pub taken: Option<Taken>,
}

impl End {
    /// What a process needs to know of these handles, which it inherits.
    pub(crate) fn of(role: Role, handles: &Handles) -> End {
        End {
            descriptors: handles.descriptors.iter().map(AsHandle::raw_handle).collect(),
            numbers: handles.numbers.iter().copied().collect(),
            role,
            peer: 0,
        }
    }
}

/// One end of the conversation.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<File>,
}

impl Control {
    /// Both ends.
    pub fn pair() -> io::Result<(Control, Handle)> {
        let (ours, theirs) = pipe::duplex()?;
        Ok((Control::from(ours), theirs))
    }

    /// Sends a message.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)
    }

    /// Receives the next message, waiting for it; `None` once the other end is gone.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut line = Vec::new();
        match self.stream.read_until(b'\n', &mut line) {
            // Whoever dies with something unheard resets the socket.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
            // A line without its end was cut off by a death.
            Ok(_) if !line.ends_with(b"\n") => Ok(None),
            Ok(_) => Ok(Some(serde_json::from_slice(&line)?)),
        }
    }

    /// Whether a message was read already and not yet received.
    pub fn has_buffered(&self) -> bool {
        self.stream.buffer().contains(&b'\n')
    }
}

impl From<Handle> for Control {
    fn from(handle: Handle) -> Self {
        Control { stream: BufReader::new(File::from(handle)) }
    }
}

impl AsHandle for Control {
    /// What to watch.
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.stream.get_ref().as_handle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::Phase;

    #[test]
    fn whoever_dies_in_the_middle_of_a_word_is_gone() {
        let (mut ours, theirs) = Control::pair().unwrap();
        File::from(theirs.try_clone().unwrap()).write_all(b"\"verify\"\n\"time").unwrap();
        drop(theirs);
        assert_eq!(ours.receive().unwrap(), Some(Phase::Verify));
        assert_eq!(ours.receive::<Phase>().unwrap(), None);
    }

    #[test]
    fn whoever_dies_with_a_word_unheard_is_gone() {
        let (mut ours, theirs) = Control::pair().unwrap();
        ours.send(&Phase::Timed).unwrap();
        drop(theirs);
        assert_eq!(ours.receive::<Phase>().unwrap(), None);
    }
}

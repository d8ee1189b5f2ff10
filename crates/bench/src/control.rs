//! The messages between a parent and its child: one line of JSON per message, over a separate socket.
//!
//! Nothing is sent while messages are measured. In that time both share the [`ControlPage`].

pub use furlong_loops::control_page::ControlPage;
pub use furlong_loops::recorder::Timing;
use furlong_loops::replay::ReplayedMessages;
use furlong_loops::shared_end::TakenMessages;
use furlong_mechanism::{Handles, LinkSpecification};
use furlong_model::{Arrival, Exchange, Fault, Party, Phase, RequestedConditions, Role, RoleTally, Wait};
use furlong_os::{AsHandle, BorrowedHandle, Handle, RawHandle, pipe};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;

/// The configuration of a role.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoleConfiguration {
    /// The name of the mechanism.
    pub mechanism: String,
    /// The wait strategy of both roles.
    pub wait: Wait,
    /// The party of this role.
    pub party: Party,
    /// The CPU that the role is pinned to; `None` if it is not pinned.
    pub processor: Option<usize>,
    /// The requested conditions of the process.
    pub conditions: RequestedConditions,
    /// The exchange of messages.
    pub exchange: Exchange,
    /// The specification of the link of each end.
    pub specifications: Vec<LinkSpecification>,
    /// The ends that this process holds: its own, both ends if it is the only process, or one end per receiver.
    pub ends: Vec<End>,
    /// The mechanism that carries the requests, if it is another one.
    pub request: Option<RequestConfiguration>,
    /// The control page that this party shares with its peers.
    pub control_page: ControlPageEnd,
    /// The time for the measured part, in nanoseconds.
    pub budget_ns: u64,
    /// The times at which the initiator sends the messages of the measured part.
    pub arrival: Arrival,
    /// The least time of the warm-up, in nanoseconds; `None` warms up until the pace is steady.
    pub warm_up_ns: Option<u64>,
    /// The cost of reading the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// The number of round trips or one-way messages after which the measured part ends.
    pub most_round_trips: Option<u64>,
    /// The key that makes the messages of this trial different from those of any other.
    pub key: u64,
    /// The messages of a replayed trace, which the role reads from its file.
    #[serde(skip)]
    pub replay: Option<Arc<ReplayedMessages>>,
}

impl RoleConfiguration {
    /// Returns the sizes of the messages that each role sends, in bytes, the initiator's first.
    pub fn sizes_bytes(&self) -> [usize; 2] {
        let [own, answered] = self.specifications[0].sizes_bytes;
        [self.request.as_ref().map_or(own, |request| request.specification.sizes_bytes[0]), answered]
    }
}

/// A party's part of a control page.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ControlPageEnd {
    /// The descriptor of the page.
    pub descriptor: RawHandle,
    /// The number of cache lines of the page.
    pub lines: usize,
    /// The party's line, counted from 0.
    pub line: usize,
    /// The additional state if the other role is on another host, which has a separate page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPageEnd>,
}

/// The additional state of a party whose page is not shared with the other host.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OwnPageEnd {
    /// The descriptor of the socket for announcements to the other host; only the initiator has one.
    pub carrier: Option<RawHandle>,
}

/// The configuration of the mechanism that carries requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RequestConfiguration {
    /// The name of the mechanism.
    pub mechanism: String,
    /// The wait strategy for requests.
    pub wait: Wait,
    /// The specification of its link.
    pub specification: LinkSpecification,
    /// This role's end.
    pub end: End,
}

/// One end of a link, as a process inherits it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct End {
    /// The inherited descriptors, in the order of the link.
    pub descriptors: Vec<RawHandle>,
    /// Identifiers that are valid in every process, in the order of the link.
    pub numbers: Vec<i32>,
    /// The role whose end it is.
    pub role: Role,
    /// The PID of the process that holds the other end. If no process holds it, the PID of the process that holds this
    /// end.
    pub peer: i32,
}

/// A report of a child; `D` is the type of its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report<D> {
    /// The child has started, and has done nothing else yet.
    Started,
    /// The role is a thread of the child.
    Thread {
        /// The kernel's ID of the thread.
        id: i32,
    },
    /// The child is ready for a phase, and waits for the other roles.
    Ready {
        /// The phase.
        phase: Phase,
    },
    /// The child has finished all phases.
    Done(D),
    /// The child cannot go on.
    Failed {
        /// The phase of the failure.
        phase: Phase,
        /// The kind of the failure.
        fault: Fault,
        /// A description of the failure.
        detail: String,
    },
}

/// The result of a role in an exchange of messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoleResult {
    /// The resource usage of the role, and its numbers of messages.
    pub tally: RoleTally,
    /// The number of messages in which the role has checked every byte.
    pub verified_messages: u64,
    /// The times, if the role reads the clock.
    pub timing: Option<Timing>,
    /// The messages that the role has received, if it is one of several workers.
    pub taken: Option<TakenMessages>,
}

impl End {
    /// Returns the description of these handles for the process that inherits them.
    pub(crate) fn of(role: Role, handles: &Handles) -> End {
        End {
            descriptors: handles.descriptors.iter().map(AsHandle::raw_handle).collect(),
            numbers: handles.numbers.iter().copied().collect(),
            role,
            peer: 0,
        }
    }
}

/// One end of the conversation between a parent and its child.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<File>,
}

impl Control {
    /// Creates both ends.
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

    /// Waits for the next message, and returns it; `None` once the other end is closed.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut line = Vec::new();
        match self.stream.read_until(b'\n', &mut line) {
            // If a process dies with unread data, the kernel resets the socket.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
            // A line without its line feed was truncated by a death.
            Ok(_) if !line.ends_with(b"\n") => Ok(None),
            Ok(_) => Ok(Some(serde_json::from_slice(&line)?)),
        }
    }

    /// Returns whether a message is in the buffer.
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
    /// Returns the handle that becomes readable when a message arrives.
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

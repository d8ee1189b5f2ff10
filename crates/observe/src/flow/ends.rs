//! Ends of flows: the messages that a process sends or receives through a descriptor or another target of a call.

use super::calls::Call;
use super::means::Means;
use crate::identity::ObjectId;
use furlong_os::linux::ipc_call::{CallTarget, ConnectionStep};

/// Number of a flow: the messages in one direction, such as those of a pipe or from one end of a socket to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// Flows that a process uses through one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ends {
    /// Flow of the messages that it sends.
    pub out: Option<FlowId>,
    /// Flow of the messages that it receives.
    pub into: Option<FlowId>,
}

impl Ends {
    /// Returns the ends of an object that has one flow.
    pub fn for_object(flow: FlowId) -> Ends {
        Ends { out: Some(flow), into: Some(flow) }
    }

    /// Returns whether sends and receives through the target belong to two flows, as those of a socket.
    pub fn is_connection(&self) -> bool {
        matches!((self.out, self.into), (Some(out), Some(into)) if out != into)
    }

    /// Returns whether bytes that the process writes are not those that another one reads, such as those of a watched file.
    pub fn is_notification(&self) -> bool {
        self.out.is_none() != self.into.is_none()
    }
}

/// Identity of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowInfo {
    pub means: Means,
    /// Name of the object for readers, such as a path or an address. It may contain any character.
    pub name: String,
    /// Sender and receiver, if they are known without their calls, as those of `process_vm_readv`.
    pub peers: [Option<i32>; 2],
    /// Open objects of processes that can send and receive.
    pub open: [Option<OpenEnd>; 2],
}

/// What processes at an end of a flow have open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenEnd {
    /// An object that has no separate ends.
    Object(ObjectId),
    /// The socket with this inode.
    Socket(u64),
}

/// Finds the flows of targets.
pub trait FindEnds {
    /// Returns the flows of a target; `None` if it is not an object of inter-process communication, or cannot be identified.
    fn find(&mut self, pid: i32, target: CallTarget) -> Option<Ends>;

    /// Notes a step of a process towards a connection.
    fn connect(&mut self, call: &Call, step: ConnectionStep);

    /// Notes that the process has closed the descriptors from `first` to `last`.
    fn close(&mut self, pid: i32, first: i32, last: i32);

    /// Notes that the process has begun another program.
    fn replace(&mut self, pid: i32);
}

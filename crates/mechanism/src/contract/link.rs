//! Data that the supervisor, which makes a link, passes to the roles, which use it.

use furlong_model::{Access, RequestedConditions, Role, Room};
use furlong_os::Handle;
use furlong_os::cleanup::CleanUp;
use furlong_os::memory::Region;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The two directions of a link, as parts of names: from the initiator to the responder, and back.
pub const DIRECTIONS: [&str; 2] = ["there", "back"];

/// Requirements of a link.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkSpecification {
    /// Unique name, for all objects in a shared namespace.
    pub name: String,
    /// Unique System V key; the next key is reserved too.
    pub key: i32,
    /// Bytes in the largest message that each role sends, the initiator's first.
    pub sizes_bytes: [usize; 2],
    /// Maximum number of messages in flight in one direction, if the mechanism can set it and the limits allow it.
    pub depth: usize,
    /// Processes that receive each message of the initiator, if a link can have several.
    pub receivers: usize,
    /// Size of a buffer between the roles in bytes; `None` keeps the default.
    pub buffer_bytes: Option<usize>,
    /// Access of the ends to the bytes of messages, if they support it.
    #[serde(default)]
    pub access: Access,
    /// Requested conditions of the benchmark. A mechanism reads those of its link.
    #[serde(default, skip_serializing_if = "RequestedConditions::is_empty")]
    pub conditions: RequestedConditions,
    /// Whether endpoints wait inside their calls.
    pub blocking: bool,
    /// Private directory for sockets and FIFOs.
    pub folder: PathBuf,
    /// Directory of the files that back shared memory.
    pub file_folder: PathBuf,
    /// Reason why the directory for temporary files cannot be used, if any. The private directory is then elsewhere.
    #[serde(default)]
    pub folder_fault: Option<String>,
}

/// Beginning of the error of a link that needs the directory for temporary files, if it cannot be used.
pub const NEEDS_FOLDER: &str = "the mechanism needs the directory for temporary files";

impl LinkSpecification {
    /// Returns the bytes in the largest message of either role.
    pub fn largest_bytes(&self) -> usize {
        self.sizes_bytes[0].max(self.sizes_bytes[1])
    }

    /// Returns the private directory for sockets and FIFOs.
    ///
    /// # Errors
    /// Returns [`NEEDS_FOLDER`] if the directory for temporary files cannot be used.
    pub fn socket_folder(&self) -> io::Result<&Path> {
        self.folder_fault.as_ref().map_or(Ok(&*self.folder), |fault| Err(needs_folder(fault)))
    }

    /// Returns the directory for files that back memory, which the user may have chosen.
    ///
    /// # Errors
    /// Returns [`NEEDS_FOLDER`] if this is the directory for temporary files and it cannot be used.
    pub fn memory_folder(&self) -> io::Result<&Path> {
        // The directory of the run has a subdirectory for each link.
        let is_own = self.folder.parent() == Some(&self.file_folder);
        match &self.folder_fault {
            Some(fault) if is_own => Err(needs_folder(fault)),
            _ => Ok(&self.file_folder),
        }
    }
}

fn needs_folder(fault: &str) -> io::Error {
    io::Error::other(format!("{NEEDS_FOLDER}: {fault}"))
}

/// A link with the two roles' ends. Dropping it removes the remaining objects.
#[derive(Debug)]
pub struct Link {
    /// Ends by [`Role::index`].
    ends: [Handles; 2],
    /// Number of messages of the largest size that each direction holds, in the order of [`DIRECTIONS`]: a claim.
    rooms: [Room; 2],
    /// Values in force that the kernel may have changed, by name.
    pub effective: BTreeMap<String, u64>,
    clean_ups: Vec<CleanUp>,
    kept: Vec<Arc<Region>>,
}

/// One role's end of a link, in the order in which its parts were added.
#[derive(Debug, Default)]
pub struct Handles {
    /// Descriptors to inherit.
    pub descriptors: VecDeque<Handle>,
    /// Numbers that are valid in every process, such as System V identifiers.
    pub numbers: VecDeque<i32>,
    /// Memory that only a forked process can inherit.
    pub regions: VecDeque<Arc<Region>>,
}

impl Handles {
    /// Duplicates the end, for another thread that uses it.
    ///
    /// # Errors
    /// Returns an error if this process can have no more descriptors.
    pub fn try_clone(&self) -> io::Result<Handles> {
        Ok(Handles {
            descriptors: self.descriptors.iter().map(Handle::try_clone).collect::<io::Result<_>>()?,
            numbers: self.numbers.clone(),
            regions: self.regions.clone(),
        })
    }
}

impl Link {
    /// Creates a link without parts.
    ///
    /// `rooms` is the minimum number of messages of the largest size in each direction when a sender waits. If senders never
    /// wait, it is the number of messages that fit before one is lost.
    pub fn new(rooms: [impl Into<Room>; 2]) -> Link {
        let [initiator, responder] = Default::default();
        Link {
            ends: [initiator, responder],
            rooms: rooms.map(Into::into),
            effective: BTreeMap::new(),
            clean_ups: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Returns the description of the link after its objects are removed.
    pub fn without_objects(self) -> Link {
        let rooms = self.rooms;
        Link { effective: self.effective, ..Link::new(rooms) }
    }

    /// Returns the link with the smaller rooms of both ends, if each end was made separately and knows only its own side.
    pub fn with_rooms_of_other_end(mut self, others: [Room; 2]) -> Link {
        for (room, other) in self.rooms.iter_mut().zip(others) {
            room.depth = room.depth.min(other.depth);
            room.while_waiting = room.while_waiting.min(other.while_waiting);
        }
        self
    }

    /// Joins two ends that were made separately in this process into one link.
    pub fn joined(self, mut responder: Link) -> Link {
        let mut link = self.with_rooms_of_other_end(responder.rooms);
        link.ends[Role::Responder.index()] = responder.take_end(Role::Responder);
        link.effective.extend(noted_by_responder(std::mem::take(&mut responder.effective)));
        link.clean_ups.append(&mut responder.clean_ups);
        link.kept.append(&mut responder.kept);
        link
    }

    /// Returns how many messages each direction holds, there and back.
    pub fn rooms(&self) -> [Room; 2] {
        self.rooms
    }

    /// Adds a descriptor to one role's end.
    pub fn give(&mut self, role: Role, descriptor: Handle) {
        self.ends[role.index()].descriptors.push_back(descriptor);
    }

    /// Adds descriptors to one role's end, in this order.
    pub fn give_all(&mut self, role: Role, descriptors: Vec<Handle>) {
        self.ends[role.index()].descriptors.extend(descriptors);
    }

    /// Adds one descriptor of a pair to each role's end, the initiator's first.
    pub fn give_pair(&mut self, (initiator, responder): (Handle, Handle)) {
        self.give(Role::Initiator, initiator);
        self.give(Role::Responder, responder);
    }

    /// Adds the same open object to both roles' ends.
    pub fn give_both(&mut self, descriptor: Handle) -> io::Result<()> {
        self.give_pair((descriptor.try_clone()?, descriptor));
        Ok(())
    }

    /// Adds the same number to both roles' ends.
    pub fn give_number(&mut self, number: i32) {
        for end in &mut self.ends {
            end.numbers.push_back(number);
        }
    }

    /// Adds a number to one role's end.
    pub fn give_number_to(&mut self, role: Role, number: i32) {
        self.ends[role.index()].numbers.push_back(number);
    }

    /// Adds a region to both roles' ends, to be inherited.
    pub fn give_region(&mut self, region: &Arc<Region>) {
        for end in &mut self.ends {
            end.regions.push_back(Arc::clone(region));
        }
    }

    /// Adds a function that removes a kernel object when the link is dropped.
    pub fn removes(&mut self, remove: impl FnOnce() -> io::Result<()> + Send + Sync + 'static) {
        self.clean_ups.push(CleanUp::new(remove));
    }

    /// Keeps the supervisor's mapping of a region until the link is dropped.
    pub fn keep(&mut self, region: &Arc<Region>) {
        self.kept.push(Arc::clone(region));
    }

    /// Records a value that is in force.
    pub fn note(&mut self, name: &str, value: usize) {
        self.effective.insert(name.to_owned(), value as u64);
    }

    /// Returns one role's end.
    pub fn end(&self, role: Role) -> &Handles {
        &self.ends[role.index()]
    }

    /// Takes one role's end out of the link.
    pub fn take_end(&mut self, role: Role) -> Handles {
        std::mem::take(&mut self.ends[role.index()])
    }
}

/// Returns the values in force at the responder's end, with a prefix because the initiator's values may differ.
pub fn noted_by_responder(effective: BTreeMap<String, u64>) -> impl Iterator<Item = (String, u64)> {
    effective.into_iter().map(|(name, value)| (format!("responder-{name}"), value))
}

/// The parameters of an endpoint: its role, its handles and its peer.
#[derive(Debug)]
pub struct EndpointSetup {
    /// Role of the endpoint.
    pub role: Role,
    /// Handles that the endpoint has not taken yet.
    pub handles: Handles,
    /// PID of the other role.
    pub peer: i32,
}

impl EndpointSetup {
    /// Takes the next descriptor.
    pub fn descriptor(&mut self) -> io::Result<Handle> {
        self.handles.descriptors.pop_front().ok_or_else(|| missing("descriptor"))
    }

    /// Takes the next `count` descriptors.
    pub fn descriptors(&mut self, count: usize) -> io::Result<Vec<Handle>> {
        (0..count).map(|_| self.descriptor()).collect()
    }

    /// Orders two objects, one for each direction: first the one through which this role sends, then the one through which it
    /// receives.
    pub fn send_and_receive<T>(&self, there: T, back: T) -> (T, T) {
        match self.role {
            Role::Initiator => (there, back),
            Role::Responder => (back, there),
        }
    }

    /// Takes the next number.
    pub fn number(&mut self) -> io::Result<i32> {
        self.handles.numbers.pop_front().ok_or_else(|| missing("number"))
    }

    /// Takes the next region.
    pub fn region(&mut self) -> io::Result<Arc<Region>> {
        self.handles.regions.pop_front().ok_or_else(|| missing("region"))
    }
}

fn missing(what: &str) -> io::Error {
    io::Error::other(format!("the supervisor passed one {what} too few"))
}

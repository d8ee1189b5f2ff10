//! What passes between the supervisor that makes a link and the roles that use it.

use furlong_model::{Access, Role, Room};
use furlong_os::Handle;
use furlong_os::cleanup::CleanUp;
use furlong_os::memory::Region;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The two ways of a link, as parts of names: from the initiator to the responder, and back.
pub const DIRECTIONS: [&str; 2] = ["there", "back"];

/// What a link is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkSpecification {
    /// A name that nobody else has: for everything in a space of names that is shared.
    pub name: String,
    /// A System V key that nobody else has; the one after it is ours too.
    pub key: i32,
    /// Bytes in the largest message that each role sends, the initiator's first.
    pub sizes_bytes: [usize; 2],
    /// Messages that may be under way in one direction, where the mechanism has a say and the limits allow it.
    pub depth: usize,
    /// Processes that receive each message of the initiator, where a link can have several.
    pub receivers: usize,
    /// Bytes that a buffer between the roles is to hold; `None` leaves it as it comes.
    pub buffer_bytes: Option<usize>,
    /// Where ends write and read the bytes of messages, if they can do it so.
    #[serde(default)]
    pub access: Access,
    /// Whether endpoints wait inside their calls.
    pub blocking: bool,
    /// A private folder for sockets and FIFOs.
    pub folder: PathBuf,
    /// Where memory backed by a file has its file.
    pub file_folder: PathBuf,
    /// Reason why the directory for temporary files cannot be used, if any. `folder` is then in another directory.
    #[serde(default)]
    pub folder_fault: Option<String>,
}

/// Beginning of the error of a link that needs the directory for temporary files, if it cannot be used.
pub const NEEDS_FOLDER: &str = "the mechanism needs the directory for temporary files";

impl LinkSpecification {
    /// Bytes in the largest message of either role.
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

/// What the supervisor hands to the two roles. Dropping it removes what is left of it.
#[derive(Debug)]
pub struct Link {
    /// By [`Role::index`].
    ends: [Handles; 2],
    /// How many messages of the largest size it holds in each direction, in the order of [`DIRECTIONS`]: a claim.
    rooms: [Room; 2],
    /// Values in force where the kernel has a say, by name.
    pub effective: BTreeMap<String, u64>,
    clean_ups: Vec<CleanUp>,
    kept: Vec<Arc<Region>>,
}

/// One role's part of a link, in the order in which it was given.
#[derive(Debug, Default)]
pub struct Handles {
    /// Descriptors to inherit.
    pub descriptors: VecDeque<Handle>,
    /// Numbers that the kernel knows in every process.
    pub numbers: VecDeque<i32>,
    /// Memory that only a fork can inherit.
    pub regions: VecDeque<Arc<Region>>,
}

impl Link {
    /// A link to which nothing was given yet.
    ///
    /// `rooms` says how many messages of the largest size each direction holds at least when a sender waits; where senders
    /// never wait, how many it holds before one is lost.
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

    /// What is known of it, when all that it is made of is gone.
    pub fn without_objects(self) -> Link {
        let rooms = self.rooms;
        Link { effective: self.effective, ..Link::new(rooms) }
    }

    /// Where each end was made by itself and knows its own side alone: the same with what is held for certain.
    pub fn with_rooms_of_other_end(mut self, others: [Room; 2]) -> Link {
        for (room, other) in self.rooms.iter_mut().zip(others) {
            room.depth = room.depth.min(other.depth);
            room.while_waiting = room.while_waiting.min(other.while_waiting);
        }
        self
    }

    /// Where each end was made by itself, both in this process: the same with the responder's.
    pub fn joined(self, mut responder: Link) -> Link {
        let mut link = self.with_rooms_of_other_end(responder.rooms);
        link.ends[Role::Responder.index()] = responder.take_end(Role::Responder);
        link.effective.extend(noted_by_responder(std::mem::take(&mut responder.effective)));
        link.clean_ups.append(&mut responder.clean_ups);
        link.kept.append(&mut responder.kept);
        link
    }

    /// How many messages each direction holds, there and back.
    pub fn rooms(&self) -> [Room; 2] {
        self.rooms
    }

    /// Gives a descriptor to one role.
    pub fn give(&mut self, role: Role, descriptor: Handle) {
        self.ends[role.index()].descriptors.push_back(descriptor);
    }

    /// Gives descriptors to one role, one after the other.
    pub fn give_all(&mut self, role: Role, descriptors: Vec<Handle>) {
        self.ends[role.index()].descriptors.extend(descriptors);
    }

    /// Gives each role its end of a pair, the initiator's first.
    pub fn give_pair(&mut self, (initiator, responder): (Handle, Handle)) {
        self.give(Role::Initiator, initiator);
        self.give(Role::Responder, responder);
    }

    /// Gives the same open object to both roles.
    pub fn give_both(&mut self, descriptor: Handle) -> io::Result<()> {
        self.give_pair((descriptor.try_clone()?, descriptor));
        Ok(())
    }

    /// Gives the same number to both roles.
    pub fn give_number(&mut self, number: i32) {
        for end in &mut self.ends {
            end.numbers.push_back(number);
        }
    }

    /// Gives a number to one role.
    pub fn give_number_to(&mut self, role: Role, number: i32) {
        self.ends[role.index()].numbers.push_back(number);
    }

    /// Lets both roles inherit a region.
    pub fn give_region(&mut self, region: &Arc<Region>) {
        for end in &mut self.ends {
            end.regions.push_back(Arc::clone(region));
        }
    }

    /// Removes something with the link that the kernel would keep.
    pub fn removes(&mut self, remove: impl FnOnce() -> io::Result<()> + Send + Sync + 'static) {
        self.clean_ups.push(CleanUp::new(remove));
    }

    /// Keeps the supervisor's own view of a region for as long as the link.
    pub fn keep(&mut self, region: &Arc<Region>) {
        self.kept.push(Arc::clone(region));
    }

    /// Notes a value that is in force.
    pub fn note(&mut self, name: &str, value: usize) {
        self.effective.insert(name.to_owned(), value as u64);
    }

    /// One role's part, to look at.
    pub fn end(&self, role: Role) -> &Handles {
        &self.ends[role.index()]
    }

    /// One role's part, to take away.
    pub fn take_end(&mut self, role: Role) -> Handles {
        std::mem::take(&mut self.ends[role.index()])
    }
}

/// The values in force at the responder's end, where they may be others than at the initiator's.
pub fn noted_by_responder(effective: BTreeMap<String, u64>) -> impl Iterator<Item = (String, u64)> {
    effective.into_iter().map(|(name, value)| (format!("responder-{name}"), value))
}

/// Where a role sits: which end it is, what it was handed, and who sits opposite.
#[derive(Debug)]
pub struct EndpointSetup {
    /// Which end.
    pub role: Role,
    /// What it was handed and has not taken yet.
    pub handles: Handles,
    /// The process number of the other role.
    pub peer: i32,
}

impl EndpointSetup {
    /// The next descriptor.
    pub fn descriptor(&mut self) -> io::Result<Handle> {
        self.handles.descriptors.pop_front().ok_or_else(|| missing("descriptor"))
    }

    /// So many descriptors.
    pub fn descriptors(&mut self, count: usize) -> io::Result<Vec<Handle>> {
        (0..count).map(|_| self.descriptor()).collect()
    }

    /// Of two things, one for the way there and one for the way back, first the one that this role sends by and
    /// then the one that it receives by.
    pub fn send_and_receive<T>(&self, there: T, back: T) -> (T, T) {
        match self.role {
            Role::Initiator => (there, back),
            Role::Responder => (back, there),
        }
    }

    /// The next number.
    pub fn number(&mut self) -> io::Result<i32> {
        self.handles.numbers.pop_front().ok_or_else(|| missing("number"))
    }

    /// The next region.
    pub fn region(&mut self) -> io::Result<Arc<Region>> {
        self.handles.regions.pop_front().ok_or_else(|| missing("region"))
    }
}

fn missing(what: &str) -> io::Error {
    io::Error::other(format!("the supervisor handed over one {what} too few"))
}

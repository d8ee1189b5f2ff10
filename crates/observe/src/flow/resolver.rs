//! Identification of the flows behind descriptors, queue IDs and addresses of processes.

use super::ends::{Ends, FlowId, FlowInfo, OpenEnd};
use super::means::Means;
use super::ranges::{SharedRange, shared_ranges};
use crate::identity::{ObjectId, ObjectKind};
use crate::objects::{Sockets, resolve};
use furlong_os::clock;
use furlong_os::linux::ipc_call::CallTarget;
use std::collections::HashMap;
use std::fs;

/// Shortest time between two readings of the ranges of a process.
const REREAD_NS: u64 = 20_000_000;

/// Identity of a flow in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FlowKey {
    Object(ObjectId),
    /// Bytes that the socket with this inode receives.
    Into(u64),
    /// Bytes that the socket with this inode sends to an unknown receiver.
    From(u64),
    SysvQueue(i32),
    SysvSemaphores(i32),
    Word(String, u64),
    PrivateWord(i32, u64),
    /// Memory that is copied from the first process to the second.
    Memory(i32, i32),
    Signals(i32),
}

/// Finds flows of running processes in /proc, and remembers them until a descriptor is closed.
#[derive(Debug)]
pub struct Resolver {
    sockets: Sockets,
    /// Time of the last reading of the sockets, and how long it took.
    read_ns: u64,
    reading_ns: u64,
    /// Whether the last target could not be identified yet.
    is_provisional: bool,
    known: HashMap<(i32, CallTarget), Option<Ends>>,
    numbers: HashMap<FlowKey, FlowId>,
    flows: Vec<FlowInfo>,
    /// Number of times that a descriptor will be closed, by calls that have happened and are not processed yet.
    closing: HashMap<(i32, i32), u32>,
    ranges: HashMap<i32, (u64, Vec<SharedRange>)>,
    /// Number of descriptors that were closed before they could be identified.
    pub unidentified: u64,
}

impl Resolver {
    /// Reads the sockets of this machine.
    pub fn new() -> Resolver {
        Resolver {
            sockets: Sockets::read(),
            read_ns: clock::now_ns(),
            reading_ns: 0,
            is_provisional: false,
            known: HashMap::new(),
            numbers: HashMap::new(),
            flows: Vec::new(),
            closing: HashMap::new(),
            ranges: HashMap::new(),
            unidentified: 0,
        }
    }

    /// Returns the flows of a target that was identified before. The inner value is `None` if it is no object.
    pub fn known(&self, pid: i32, target: CallTarget) -> Option<Option<Ends>> {
        self.known.get(&(pid, target)).copied()
    }

    /// Keeps the flows of a target until its descriptor is closed. If a close has been announced in the meantime, the descriptor may
    /// have been another object, so the flows are dropped.
    pub fn keep(&mut self, pid: i32, target: CallTarget, ends: Option<Ends>) -> Option<Ends> {
        if std::mem::take(&mut self.is_provisional) {
            return None;
        }
        let ends = match target {
            CallTarget::Descriptor(number) | CallTarget::PosixQueue(number)
                if ends.is_some() && self.closing.contains_key(&(pid, number)) =>
            {
                self.unidentified += 1;
                None
            }
            _ => ends,
        };
        self.known.insert((pid, target), ends);
        ends
    }

    /// Announces that a descriptor has been closed by a call that is processed later.
    pub fn announce_close(&mut self, pid: i32, descriptor: i32) {
        *self.closing.entry((pid, descriptor)).or_default() += 1;
    }

    /// Forgets all descriptors, because events were lost, which may have closed some.
    pub fn forget(&mut self) {
        self.closing.clear();
        self.known.clear();
    }

    /// Returns the known facts of a flow.
    pub fn info(&self, flow: FlowId) -> &FlowInfo {
        &self.flows[flow.0 as usize]
    }

    fn number(&mut self, key: FlowKey, info: impl FnOnce() -> FlowInfo) -> FlowId {
        let next = FlowId(self.flows.len() as u32);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.flows.push(info());
        }
        number
    }

    /// Returns the flows that a target has now; `None` if it is not an object of inter-process communication.
    pub fn identify(&mut self, pid: i32, target: CallTarget) -> Option<Ends> {
        match target {
            CallTarget::Descriptor(number) | CallTarget::PosixQueue(number) => self.descriptor(pid, number),
            CallTarget::SysvQueue(id) => {
                let info = || named(Means::SysvMq, format!("ID {id}"));
                Some(Ends::for_object(self.number(FlowKey::SysvQueue(id), info)))
            }
            CallTarget::SysvSemaphores(id) => {
                let info = || named(Means::SysvSem, format!("ID {id}"));
                Some(Ends::for_object(self.number(FlowKey::SysvSemaphores(id), info)))
            }
            CallTarget::Word { address, is_private } => Some(self.word(pid, address, is_private)),
            CallTarget::Memory(other) => {
                let [out, into] = [(pid, other), (other, pid)].map(|(from, to)| {
                    self.number(FlowKey::Memory(from, to), || FlowInfo {
                        peers: [Some(from), Some(to)],
                        ..named(Means::ProcessVm, String::new())
                    })
                });
                Some(Ends { out: Some(out), into: Some(into) })
            }
            CallTarget::Signals(other) => Some(Ends::for_object(self.signals(other))),
            CallTarget::OwnSignals => Some(Ends::for_object(self.signals(pid))),
        }
    }

    fn signals(&mut self, pid: i32) -> FlowId {
        // PIDs of 0 and below are groups.
        let receiver = (pid > 0).then_some(pid);
        self.number(FlowKey::Signals(pid), || FlowInfo {
            peers: [None, receiver],
            ..named(Means::Signal, String::new())
        })
    }

    fn descriptor(&mut self, pid: i32, number: i32) -> Option<Ends> {
        if self.closing.contains_key(&(pid, number)) {
            self.unidentified += 1;
            return None;
        }
        let link = fs::read_link(format!("/proc/{pid}/fd/{number}")).ok()?.to_string_lossy().into_owned();
        let other = link.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/mem")?.parse().ok());
        if let Some(other) = other {
            return self.identify(pid, CallTarget::Memory(other));
        }
        let inode = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
        let is_unconnected = inode.is_some_and(|inode| self.sockets.peer(inode).is_none());
        // It may have been connected after the last reading.
        if is_unconnected && !self.read_sockets() {
            self.is_provisional = true;
            return None;
        }
        let found = resolve(pid, number, &self.sockets)?;
        let means = match found.id.kind {
            ObjectKind::Pipe => Means::Pipe,
            ObjectKind::Fifo => Means::Fifo,
            ObjectKind::PosixMq => Means::PosixMq,
            ObjectKind::Eventfd => Means::Eventfd,
            ObjectKind::Unix => Means::Unix,
            ObjectKind::Tcp => Means::Tcp,
            ObjectKind::Udp => Means::Udp,
            ObjectKind::Signalfd => return Some(Ends::for_object(self.signals(pid))),
            _ => return None,
        };
        let name = found.name.unwrap_or(link);
        match found.end {
            Some(inode) => Some(self.socket(means, &name, inode)),
            None => {
                let info = || FlowInfo { open: [Some(OpenEnd::Object(found.id)); 2], ..named(means, name) };
                Some(Ends::for_object(self.number(FlowKey::Object(found.id), info)))
            }
        }
    }

    /// Reads the sockets again, unless that was done a moment ago. Returns whether it did.
    fn read_sockets(&mut self) -> bool {
        let now_ns = clock::now_ns();
        let is_due = now_ns - self.read_ns > 2 * self.reading_ns;
        if is_due {
            self.sockets = Sockets::read();
            self.read_ns = clock::now_ns();
            self.reading_ns = self.read_ns - now_ns;
        }
        is_due
    }

    fn socket(&mut self, means: Means, name: &str, inode: u64) -> Ends {
        let peer = self.sockets.peer(inode);
        let info = |from: Option<u64>, to: Option<u64>| FlowInfo {
            open: [from, to].map(|inode| inode.map(OpenEnd::Socket)),
            ..named(means, name.to_owned())
        };
        // A receiver of datagrams may have several senders.
        let into = self.number(FlowKey::Into(inode), || info(peer, Some(inode)));
        let out = match peer {
            Some(peer) => self.number(FlowKey::Into(peer), || info(Some(inode), Some(peer))),
            None => self.number(FlowKey::From(inode), || info(Some(inode), None)),
        };
        Ends { out: Some(out), into: Some(into) }
    }

    fn word(&mut self, pid: i32, address: u64, is_private: bool) -> Ends {
        let shared = if is_private { None } else { self.shared_word(pid, address) };
        let flow = match shared {
            Some((object, offset, name)) => self
                .number(FlowKey::Word(object, offset), || named(Means::Futex, format!("{name} at {offset}"))),
            None => self.number(FlowKey::PrivateWord(pid, address), || {
                named(Means::PrivateFutex, format!("{address:#x}"))
            }),
        };
        Ends::for_object(flow)
    }

    fn shared_word(&mut self, pid: i32, address: u64) -> Option<(String, u64, String)> {
        let now_ns = clock::now_ns();
        let (read_ns, ranges) = self.ranges.entry(pid).or_default();
        let find = |ranges: &[SharedRange]| {
            let found = |range: &SharedRange| {
                Some((range.object.clone(), range.offset(address)?, range.name.clone()))
            };
            ranges.iter().find_map(found)
        };
        find(ranges).or_else(|| {
            if now_ns - *read_ns <= REREAD_NS {
                self.is_provisional = true;
                return None;
            }
            (*read_ns, *ranges) = (now_ns, shared_ranges(pid));
            find(ranges)
        })
    }

    /// Forgets the descriptors from `first` to `last`, because the process has closed them.
    pub fn close(&mut self, pid: i32, first: i32, last: i32) {
        if first == last {
            self.known.remove(&(pid, CallTarget::Descriptor(first)));
            self.known.remove(&(pid, CallTarget::PosixQueue(first)));
            if let Some(count) = self.closing.get_mut(&(pid, first)) {
                *count -= 1;
                if *count == 0 {
                    self.closing.remove(&(pid, first));
                }
            }
            return;
        }
        self.known.retain(|(known, target), _| match target {
            CallTarget::Descriptor(number) | CallTarget::PosixQueue(number) => {
                *known != pid || !(first..=last).contains(number)
            }
            _ => true,
        });
    }

    /// Forgets all targets of a process, because it has begun another program.
    pub fn replace(&mut self, pid: i32) {
        self.known.retain(|(known, _), _| *known != pid);
        self.ranges.remove(&pid);
    }
}

/// Returns a flow whose ends are known only from their calls.
fn named(means: Means, name: String) -> FlowInfo {
    FlowInfo { means, name, peers: [None; 2], open: [None; 2] }
}

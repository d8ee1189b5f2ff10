//! Identification of the flows behind descriptors, queue IDs and addresses of processes.

use super::calls::Call;
use super::connects::{ConnectionSteps, Group, ProcessDescriptor};
use super::ends::{Ends, FlowId, FlowInfo, OpenEnd};
use super::means::Means;
use super::ranges::{SharedRange, shared_ranges};
use crate::identity::{ObjectId, ObjectKind};
use crate::objects::{Sockets, resolve};
use furlong_os::clock;
use furlong_os::linux::file_status::file_status;
use furlong_os::linux::inotify::watched;
use furlong_os::linux::ipc_call::{CallTarget, ConnectionStep};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

/// Shortest time between two readings of the ranges of a process.
const REREAD_NS: u64 = 20_000_000;

/// Identity of a flow in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FlowKey {
    Object(ObjectId),
    /// Bytes that the socket with this inode receives.
    Into(u64),
    /// Bytes that the socket with this inode sends to an unknown receiver, or to a peer that has not accepted the connection.
    From(u64),
    /// Short connections: their requests, or their responses.
    Short(Group, bool),
    /// Device and inode of a file or directory whose changes a process reads.
    Watched((u64, u64)),
    /// Locks of the file with this device and inode.
    Locks(Means, (u64, u64)),
    /// Waits of a process for these locks.
    LockWaits(Means, (u64, u64), i32),
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
    flows: HashMap<FlowId, FlowInfo>,
    /// Number of the next flow.
    next: u32,
    connects: ConnectionSteps,
    /// Flows of files and directories whose changes a process reads, by device and inode.
    watched: HashMap<(u64, u64), FlowId>,
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
            flows: HashMap::new(),
            next: 0,
            connects: ConnectionSteps::default(),
            watched: HashMap::new(),
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
        let mut is_provisional = std::mem::take(&mut self.is_provisional);
        let end = target.descriptor().map(|number| (pid, number));
        let is_closing = end.is_some_and(|end| self.closing.contains_key(&end));
        let mut ends = ends.filter(|_| !is_closing);
        if let (None, Some(end)) = (ends, end) {
            ends = self.short(end);
            is_provisional &= ends.is_none();
            self.unidentified += u64::from(is_closing && ends.is_none());
        }
        if !is_provisional {
            self.known.insert((pid, target), ends);
        }
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
        self.connects = ConnectionSteps::default();
    }

    /// Forgets flows that are not `used` and that no process has open. Returns the remaining ones.
    pub fn forget_unused(&mut self, used: &HashSet<FlowId>) -> HashSet<FlowId> {
        let flows = |ends: &Ends| [ends.out, ends.into].into_iter().flatten();
        self.known.retain(|(_, target), ends| {
            let is_used = |ends: &Ends| flows(ends).any(|flow| used.contains(&flow));
            target.descriptor().is_some() || ends.as_ref().is_some_and(is_used)
        });
        let kept: HashSet<FlowId> = self.known.values().flatten().flat_map(flows).collect();
        self.numbers.retain(|_, flow| kept.contains(flow));
        self.flows.retain(|flow, _| kept.contains(flow));
        self.watched.retain(|_, flow| kept.contains(flow));
        kept
    }

    /// Returns the known facts of a flow.
    pub fn info(&self, flow: FlowId) -> &FlowInfo {
        &self.flows[&flow]
    }

    fn number(&mut self, key: FlowKey, info: impl FnOnce() -> FlowInfo) -> FlowId {
        let next = FlowId(self.next);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.next += 1;
            self.flows.insert(number, info());
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
            CallTarget::Word { address, is_private } => self.word(pid, address, is_private),
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
            CallTarget::Flock(number) => self.locks(pid, number, Means::Flock),
            CallTarget::FcntlLock(number) => self.locks(pid, number, Means::FcntlLock),
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
            return None;
        }
        let link = fs::read_link(format!("/proc/{pid}/fd/{number}")).ok()?.to_string_lossy().into_owned();
        let other = link.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/mem")?.parse().ok());
        if let Some(other) = other {
            return self.identify(pid, CallTarget::Memory(other));
        }
        if link == "anon_inode:inotify" {
            return self.watcher(pid, number);
        }
        if let Some(flow) = self.watched_file(pid, number, &link) {
            return Some(Ends { out: Some(flow), into: None });
        }
        let inode = socket_inode(&link);
        let has_peer = |sockets: &Sockets| inode.is_none_or(|inode| sockets.peer(inode).is_some());
        // It may have been connected after the last reading.
        if !has_peer(&self.sockets) {
            let is_current = self.read_sockets();
            if !is_current || !has_peer(&self.sockets) && self.connects.group((pid, number)).is_some() {
                self.is_provisional = true;
                return None;
            }
            let socket = inode.and_then(|inode| self.sockets.get(inode));
            // It may be accepted later.
            self.is_provisional =
                !has_peer(&self.sockets) && socket.is_some_and(|found| !found.is_datagram());
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
        // A receiver of datagrams may have several senders.
        let into = self.stream(means, name, peer, Some(inode));
        let out = self.stream(means, name, Some(inode), peer);
        Ends { out: Some(out), into: Some(into) }
    }

    /// Returns the flow between two sockets. One of them may be unknown.
    fn stream(&mut self, means: Means, name: &str, from: Option<u64>, to: Option<u64>) -> FlowId {
        let open = [from, to].map(|inode| inode.map(OpenEnd::Socket));
        let early = from.and_then(|from| self.numbers.get(&FlowKey::From(from)).copied());
        let key = match (from, to) {
            (_, Some(to)) => FlowKey::Into(to),
            (from, None) => FlowKey::From(from.unwrap_or_default()),
        };
        // The flow of a connection that was used before it was accepted has only its sender.
        if let (Some(early), Some(to)) = (early, to)
            && self.sockets.get(to).is_some_and(|socket| !socket.is_datagram())
        {
            self.numbers.entry(key.clone()).or_insert(early);
            self.flows.entry(early).and_modify(|info| info.open = open);
        }
        self.number(key, || FlowInfo { open, ..named(means, name.to_owned()) })
    }

    /// Returns the flows of a connection that was closed before it was identified.
    fn short(&mut self, end: ProcessDescriptor) -> Option<Ends> {
        let (group, is_client) = self.connects.group(end)?;
        let peer = self.connects.peer(end);
        // If the other end was identified, both have the flows of the connection.
        if let Some(peer) = peer.and_then(|(pid, number)| self.known(pid, CallTarget::Descriptor(number))?) {
            return Some(Ends { out: peer.into, into: peer.out });
        }
        let (is_unix, addresses) = self.connects.describe(group);
        let means = if is_unix { Means::Unix } else { Means::Tcp };
        let peers = match group {
            Group::Client(dialer) => [Some(dialer.pid), None],
            Group::Listener((pid, _)) => [None, Some(pid)],
        };
        let [requests, responses] = [peers, [peers[1], peers[0]]].map(|peers| {
            let info = FlowInfo { peers, ..named(means, addresses.clone()) };
            let flow = self.number(FlowKey::Short(group, peers[0].is_some()), || info.clone());
            self.flows.insert(flow, info);
            flow
        });
        let [out, into] = if is_client { [requests, responses] } else { [responses, requests] };
        Some(Ends { out: Some(out), into: Some(into) })
    }

    /// Notes a step of a process towards a connection.
    pub fn connect(&mut self, call: &Call, step: ConnectionStep) {
        let mut connects = std::mem::take(&mut self.connects);
        connects.add(call.pid, step, [call.entered_ns, call.returned_ns], |listener| self.listener(listener));
        self.connects = connects;
    }

    /// Returns whether a listening socket is of AF_UNIX, and its address.
    fn listener(&mut self, (pid, number): ProcessDescriptor) -> Option<(bool, String)> {
        let link = fs::read_link(format!("/proc/{pid}/fd/{number}")).ok()?;
        let inode = socket_inode(&link.to_string_lossy())?;
        if self.sockets.get(inode).is_none() {
            self.read_sockets();
        }
        let socket = self.sockets.get(inode)?;
        Some((socket.kind() == ObjectKind::Unix, socket.name().unwrap_or_default()))
    }

    /// Returns the flow of the files whose changes a descriptor of inotify queues.
    fn watcher(&mut self, pid: i32, number: i32) -> Option<Ends> {
        let files = watched(pid, number).ok()?;
        let unwritten = (u64::MAX, u64::from(pid.unsigned_abs()) << 32 | u64::from(number.unsigned_abs()));
        let key = FlowKey::Watched(files.first().copied().unwrap_or(unwritten));
        let known = files.iter().find_map(|file| self.watched.get(file).copied());
        let flow = known.unwrap_or_else(|| self.number(key, || named(Means::Inotify, String::new())));
        self.watched.extend(files.into_iter().map(|file| (file, flow)));
        // Their writers were users of ordinary files until now.
        self.known.retain(|_, ends| ends.is_some());
        Some(Ends { out: None, into: Some(flow) })
    }

    /// Returns the flow of a file if a process watches it or its directory.
    fn watched_file(&mut self, pid: i32, number: i32, link: &str) -> Option<FlowId> {
        let folder =
            Path::new(link).parent().filter(|_| !self.watched.is_empty() && link.starts_with('/'))?;
        let file = format!("/proc/{pid}/fd/{number}");
        let found = [(Path::new(&file), link), (folder, &*folder.to_string_lossy())].map(|(path, name)| {
            let status = file_status(path).ok()?;
            Some((*self.watched.get(&(status.device, status.inode))?, name.to_owned()))
        });
        let (flow, name) = found.into_iter().flatten().next()?;
        self.flows.entry(flow).and_modify(|info| info.name = name);
        Some(flow)
    }

    /// Returns the flow of all locks of a file, and that of the waits of a process for them.
    fn locks(&mut self, pid: i32, number: i32, means: Means) -> Option<Ends> {
        if self.closing.contains_key(&(pid, number)) {
            return None;
        }
        let path = format!("/proc/{pid}/fd/{number}");
        let (status, link) = (file_status(Path::new(&path)).ok()?, fs::read_link(&path).ok()?);
        let file = (status.device, status.inode);
        let info =
            |waits| FlowInfo { peers: [None, waits], ..named(means, link.to_string_lossy().into_owned()) };
        let out = self.number(FlowKey::Locks(means, file), || info(None));
        let into = self.number(FlowKey::LockWaits(means, file, pid), || info(Some(pid)));
        Some(Ends { out: Some(out), into: Some(into) })
    }

    fn word(&mut self, pid: i32, address: u64, is_private: bool) -> Option<Ends> {
        let shared = if is_private { None } else { self.shared_word(pid, address) };
        let flow = match shared {
            Some((object, offset, name)) => self
                .number(FlowKey::Word(object, offset), || named(Means::Futex, format!("{name} at {offset}"))),
            None if self.is_provisional => return None,
            None => self.number(FlowKey::PrivateWord(pid, address), || {
                named(Means::PrivateFutex, format!("{address:#x}"))
            }),
        };
        Some(Ends::for_object(flow))
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
            let targets: [fn(i32) -> CallTarget; 4] =
                [CallTarget::Descriptor, CallTarget::PosixQueue, CallTarget::Flock, CallTarget::FcntlLock];
            for target in targets {
                self.known.remove(&(pid, target(first)));
            }
            self.connects.close((pid, first));
            if let Some(count) = self.closing.get_mut(&(pid, first)) {
                *count -= 1;
                if *count == 0 {
                    self.closing.remove(&(pid, first));
                }
            }
            return;
        }
        self.known.retain(|(known, target), _| {
            *known != pid || target.descriptor().is_none_or(|number| !(first..=last).contains(&number))
        });
    }

    /// Forgets all targets of a process, because it has begun another program.
    pub fn replace(&mut self, pid: i32) {
        self.known.retain(|(known, _), _| *known != pid);
        self.ranges.remove(&pid);
        self.connects.forget(pid);
    }

    /// Forgets a process that has exited.
    pub fn forget_process(&mut self, pid: i32) {
        self.replace(pid);
        self.closing.retain(|(known, _), _| *known != pid);
    }
}

/// Returns the inode in a link such as `socket:[123]`.
fn socket_inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns a flow whose ends are known only from their calls.
fn named(means: Means, name: String) -> FlowInfo {
    FlowInfo { means, name, peers: [None; 2], open: [None; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::AsHandle;
    use furlong_os::linux::{inotify, segment};
    use furlong_os::pipe::pipe;
    use std::net::{TcpListener, TcpStream};
    use std::process;

    /// Returns the flows of a descriptor of this process, as soon as they are known.
    fn find(resolver: &mut Resolver, end: &impl AsHandle) -> Ends {
        let (pid, target) = (process::id() as i32, CallTarget::Descriptor(end.raw_handle()));
        loop {
            let found = resolver.identify(pid, target);
            if let Some(ends) = resolver.keep(pid, target, found) {
                return ends;
            }
        }
    }

    #[test]
    fn connection_that_was_used_before_it_was_accepted_has_one_flow_per_direction() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut resolver = Resolver::new();
        let early = find(&mut resolver, &client);
        let (server, _) = listener.accept().unwrap();
        let accepted = find(&mut resolver, &server);
        assert_eq!((accepted.into, accepted.out), (early.out, early.into));
        assert_eq!(find(&mut resolver, &client), early);
        assert!(resolver.info(early.out.unwrap()).open.iter().all(Option::is_some));
    }

    #[test]
    fn watched_file_has_one_flow_from_its_writers_to_its_watchers() {
        let file = segment::memfd("watched", 1).unwrap();
        let (pid, target) = (process::id() as i32, CallTarget::Descriptor(file.raw_handle()));
        let mut resolver = Resolver::new();
        assert_eq!(resolver.identify(pid, target), None);
        assert_eq!(resolver.keep(pid, target, None), None);
        let queue = inotify::watch_writes(file.as_handle()).unwrap();
        let watcher = find(&mut resolver, &queue);
        assert_eq!(resolver.known(pid, target), None);
        let writer = find(&mut resolver, &file);
        assert_eq!((writer.out, writer.into, watcher.out), (watcher.into, None, None));
        assert!(resolver.info(writer.out.unwrap()).name.starts_with("/memfd:watched"));
    }

    #[test]
    fn locks_of_a_file_have_a_flow_per_waiting_process() {
        let file = segment::memfd("locked", 1).unwrap();
        let other = file.try_clone().unwrap();
        let mut resolver = Resolver::new();
        let mut locks = |end: i32, lock: fn(i32) -> CallTarget| {
            resolver.identify(process::id() as i32, lock(end)).unwrap()
        };
        let first = locks(file.raw_handle(), CallTarget::Flock);
        assert_eq!(first, locks(other.raw_handle(), CallTarget::Flock));
        assert_ne!(first.out, first.into);
        assert_ne!(first, locks(file.raw_handle(), CallTarget::FcntlLock));
    }

    #[test]
    fn facts_of_closed_objects_are_forgotten() {
        let mut resolver = Resolver::new();
        let pid = process::id() as i32;
        let mut last = None;
        for number in 0..10 {
            let (reader, _writer) = pipe().unwrap();
            last = find(&mut resolver, &reader).into;
            resolver.close(pid, reader.raw_handle(), reader.raw_handle());
            let word = CallTarget::Word { address: 64 * number, is_private: true };
            let ends = resolver.identify(pid, word);
            resolver.keep(pid, word, ends);
        }
        let (reader, _writer) = pipe().unwrap();
        let open = find(&mut resolver, &reader).into.unwrap();
        assert_eq!(resolver.flows.len(), 21);
        // The flows of the last interval can be described until the next one.
        assert_eq!(resolver.info(last.unwrap()).means, Means::Pipe);
        assert_eq!(resolver.forget_unused(&HashSet::new()), HashSet::from([open]));
        assert_eq!([resolver.flows.len(), resolver.numbers.len(), resolver.known.len()], [1; 3]);
        resolver.forget_process(pid);
        resolver.forget_unused(&HashSet::new());
        assert_eq!([resolver.flows.len(), resolver.numbers.len(), resolver.known.len()], [0; 3]);
    }
}

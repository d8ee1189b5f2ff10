//! Connections that are closed before /proc shows their ends. Their processes follow from the calls `socket`, `connect` and `accept`.

use furlong_os::linux::ipc_call::ConnectionStep;
use std::collections::{BTreeSet, HashMap};

/// Descriptor of a process.
pub type ProcessDescriptor = (i32, i32);

/// Longest time from `connect` to the return of `accept`.
const LONGEST_NS: u64 = 1_000_000_000;

/// Most calls of each kind that wait for their counterparts.
const MOST: usize = 32;

/// Connections of a client before it is known which of its connections are accepted by observed processes.
const LEAST: u32 = 4;

/// Process that connects sockets of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialer {
    pub pid: i32,
    pub is_unix: bool,
}

/// Short connections that are reported together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Those of a client.
    Client(Dialer),
    /// Those that a server accepts from unknown clients, through this listening socket.
    Listener(ProcessDescriptor),
}

/// Known facts of a descriptor.
#[derive(Debug, Default)]
struct Socket {
    /// Whether its family is AF_UNIX.
    is_unix: bool,
    /// Address, if it accepts connections.
    listens_at: Option<String>,
    /// Client, and the listening socket at the server's end.
    dialer: Option<Dialer>,
    listener: Option<ProcessDescriptor>,
    /// Other end of the connection.
    peer: Option<ProcessDescriptor>,
}

/// Connections of a client.
#[derive(Debug, Default)]
struct Client {
    connections: u32,
    /// Connections that observed processes have accepted.
    accepted: u32,
    listener: Option<ProcessDescriptor>,
    /// Addresses of their listening sockets.
    addresses: BTreeSet<String>,
}

/// A `connect` whose `accept` has not returned, or the reverse.
#[derive(Debug, Clone, Copy)]
struct Step {
    end: ProcessDescriptor,
    is_unix: bool,
    /// Listening socket of an `accept`.
    listener: ProcessDescriptor,
    /// Beginning of a `connect`, end of an `accept`.
    time_ns: u64,
}

/// Steps towards connections of the observed processes.
#[derive(Debug, Default)]
pub struct ConnectionSteps {
    sockets: HashMap<ProcessDescriptor, Socket>,
    clients: HashMap<Dialer, Client>,
    connected: Vec<Step>,
    accepted: Vec<Step>,
}

impl ConnectionSteps {
    /// Adds a step of a process in a call from `entered_ns` to `returned_ns`. `find` returns whether a listening socket is of
    /// AF_UNIX, and its address.
    pub fn add(
        &mut self,
        pid: i32,
        step: ConnectionStep,
        [entered_ns, returned_ns]: [u64; 2],
        find: impl FnOnce(ProcessDescriptor) -> Option<(bool, String)>,
    ) {
        match step {
            ConnectionStep::Created { descriptor, is_unix } => {
                self.sockets.insert((pid, descriptor), Socket { is_unix, ..Socket::default() });
            }
            ConnectionStep::Connected(descriptor) => {
                let end = (pid, descriptor);
                let Some(socket) = self.sockets.get_mut(&end) else { return };
                let dialer = Dialer { pid, is_unix: socket.is_unix };
                socket.dialer = Some(dialer);
                self.clients.entry(dialer).or_default().connections += 1;
                let step = Step { end, is_unix: dialer.is_unix, listener: end, time_ns: entered_ns };
                self.connected.push(step);
            }
            ConnectionStep::Accepted { listener, descriptor } => {
                let (end, listener) = ((pid, descriptor), (pid, listener));
                let known = self.sockets.entry(listener).or_default();
                if known.listens_at.is_none() {
                    let Some((is_unix, address)) = find(listener) else { return };
                    *known = Socket { is_unix, listens_at: Some(address), ..Socket::default() };
                }
                let is_unix = known.is_unix;
                self.sockets.insert(end, Socket { is_unix, listener: Some(listener), ..Socket::default() });
                self.accepted.push(Step { end, is_unix, listener, time_ns: returned_ns });
            }
        }
        self.join(returned_ns);
    }

    /// Joins each `accept` with the first `connect` that it may have accepted, if all are of one process, or one process is known to
    /// connect to this listening socket.
    fn join(&mut self, now_ns: u64) {
        for steps in [&mut self.connected, &mut self.accepted] {
            steps.drain(..steps.len().saturating_sub(MOST));
            steps.retain(|step| step.time_ns + LONGEST_NS > now_ns);
        }
        for accept in std::mem::take(&mut self.accepted) {
            let fits = |step: &&Step| step.is_unix == accept.is_unix && step.time_ns < accept.time_ns;
            let pids: BTreeSet<i32> = self.connected.iter().filter(fits).map(|step| step.end.0).collect();
            let is_known = |step: &&Step| {
                let client = self.clients.get(&Dialer { pid: step.end.0, is_unix: step.is_unix });
                pids.len() == 1 || client.is_some_and(|client| client.listener == Some(accept.listener))
            };
            match self.connected.iter().position(|step| fits(&step) && is_known(&step)) {
                Some(index) => {
                    let connect = self.connected.remove(index);
                    self.connect(connect, accept);
                }
                None => self.accepted.push(accept),
            }
        }
    }

    fn connect(&mut self, connect: Step, accept: Step) {
        let dialer = Dialer { pid: connect.end.0, is_unix: connect.is_unix };
        let address = self.sockets.get(&accept.listener).and_then(|socket| socket.listens_at.clone());
        let client = self.clients.entry(dialer).or_default();
        client.accepted += 1;
        client.listener = Some(accept.listener);
        client.addresses.extend(address);
        for (end, peer) in [(connect.end, accept.end), (accept.end, connect.end)] {
            if let Some(socket) = self.sockets.get_mut(&end) {
                (socket.dialer, socket.peer) = (Some(dialer), Some(peer));
            }
        }
    }

    /// Returns the group of a connection, and whether the descriptor is at the client's end.
    pub fn group(&self, end: ProcessDescriptor) -> Option<(Group, bool)> {
        let socket = self.sockets.get(&end)?;
        let client = socket.dialer.and_then(|dialer| self.clients.get(&dialer));
        let is_early = client.is_some_and(|client| client.connections < LEAST);
        // An observed server accepts most connections of the client. Otherwise it may be chance that an `accept` fits.
        let is_accepted = client.is_some_and(|client| 10 * client.accepted >= 8 * client.connections);
        match (socket.dialer, socket.listener) {
            _ if is_early => None,
            (Some(dialer), listener) if is_accepted => Some((Group::Client(dialer), listener.is_none())),
            (_, Some(listener)) => Some((Group::Listener(listener), false)),
            _ => None,
        }
    }

    /// Returns the other end of a connection.
    pub fn peer(&self, end: ProcessDescriptor) -> Option<ProcessDescriptor> {
        self.sockets.get(&end)?.peer
    }

    /// Returns whether the connections of a group are of AF_UNIX, and the addresses to which they were made.
    pub fn describe(&self, group: Group) -> (bool, String) {
        match group {
            Group::Client(dialer) => {
                let addresses = self.clients.get(&dialer).map(|client| client.addresses.iter());
                let addresses: Vec<_> = addresses.into_iter().flatten().cloned().collect();
                (dialer.is_unix, addresses.join(", "))
            }
            Group::Listener(listener) => {
                let socket = self.sockets.get(&listener);
                let address = socket.and_then(|socket| socket.listens_at.clone());
                (socket.is_some_and(|socket| socket.is_unix), address.unwrap_or_default())
            }
        }
    }

    /// Forgets a descriptor, because it was closed.
    pub fn close(&mut self, end: ProcessDescriptor) {
        let peer = self.sockets.remove(&end).and_then(|socket| socket.peer);
        // Its number may belong to another connection before this one is accepted.
        self.connected.iter_mut().filter(|step| step.end == end).for_each(|step| step.end.1 = -1);
        if let Some(peer) = peer.and_then(|peer| self.sockets.get_mut(&peer)) {
            peer.peer = None;
        }
    }

    /// Forgets a process.
    pub fn forget(&mut self, pid: i32) {
        self.sockets.retain(|(known, _), _| *known != pid);
        self.clients.retain(|dialer, _| dialer.pid != pid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process 8 accepts a connection as descriptor 6.
    fn accept(connects: &mut ConnectionSteps, at_ns: u64) {
        let step = ConnectionStep::Accepted { listener: 3, descriptor: 6 };
        connects
            .add(8, step, [0, at_ns], |listener| (listener == (8, 3)).then(|| (true, "/run/s".to_owned())));
    }

    /// A client connects descriptor 5.
    fn connect(connects: &mut ConnectionSteps, pid: i32, at_ns: u64) {
        for step in [ConnectionStep::Created { descriptor: 5, is_unix: true }, ConnectionStep::Connected(5)] {
            connects.add(pid, step, [at_ns, at_ns + 20], |_| None);
        }
    }

    #[test]
    fn connections_of_a_client_are_a_group_after_some() {
        let mut connects = ConnectionSteps::default();
        for round in 1..=6 {
            // The server may return first.
            accept(&mut connects, round * 1000 + 10);
            connect(&mut connects, 7, round * 1000);
            let group = (round >= 4).then_some(Group::Client(Dialer { pid: 7, is_unix: true }));
            assert_eq!(connects.group((7, 5)), group.map(|group| (group, true)), "{round}");
            assert_eq!(connects.group((8, 6)), group.map(|group| (group, false)));
            assert_eq!(connects.peer((7, 5)), Some((8, 6)));
            [(7, 5), (8, 6)].into_iter().for_each(|end| connects.close(end));
            assert_eq!((connects.group((7, 5)), connects.peer((8, 6))), (None, None));
        }
        let group = Group::Client(Dialer { pid: 7, is_unix: true });
        assert_eq!(connects.describe(group), (true, "/run/s".to_owned()));
        connects.forget(7);
        assert_eq!(connects.describe(group), (true, String::new()));
    }

    #[test]
    fn client_of_unobserved_servers_is_no_peer_by_chance() {
        let mut connects = ConnectionSteps::default();
        for round in 1..=20 {
            connect(&mut connects, 7, round * 2_000_000_000);
            // One of four connections fits an `accept`.
            if round % 4 == 0 {
                accept(&mut connects, round * 2_000_000_000 + 30);
            }
        }
        assert_eq!(connects.group((7, 5)), None);
        assert_eq!(connects.group((8, 6)), Some((Group::Listener((8, 3)), false)));
        assert_eq!(connects.describe(Group::Listener((8, 3))), (true, "/run/s".to_owned()));
    }

    #[test]
    fn connections_of_several_clients_are_joined_once_their_server_is_known() {
        let mut connects = ConnectionSteps::default();
        for round in 1..=4 {
            connect(&mut connects, 7, round * 1000);
            accept(&mut connects, round * 1000 + 30);
        }
        // Both wait, and only one is known to connect to this listening socket.
        connect(&mut connects, 9, 10_000);
        connect(&mut connects, 7, 11_000);
        accept(&mut connects, 12_000);
        assert_eq!((connects.peer((7, 5)), connects.peer((9, 5))), (Some((8, 6)), None));
    }
}

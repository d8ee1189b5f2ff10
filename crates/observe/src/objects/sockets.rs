//! Sockets of this network namespace, and which of them are connected with each other.

use crate::identity::{Access, ObjectId, ObjectKind};
use furlong_os::linux::socket_diagnosis::{
    InternetSocket, Transport, UnixSocket, internet_sockets, unix_sockets,
};
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;

/// A socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Socket {
    /// Socket of AF_UNIX.
    Unix(UnixSocket),
    /// Socket of AF_INET or AF_INET6.
    Internet(Transport, InternetSocket),
}

/// The sockets of this network namespace at one moment.
#[derive(Debug, Default)]
pub struct Sockets {
    by_inode: HashMap<u64, Socket>,
    /// Inode of the socket to which each connected socket sends, on this machine.
    targets: HashMap<u64, u64>,
    /// Inodes of the sockets that send to each receiver, which does not send to them.
    senders: HashMap<u64, Vec<u64>>,
    /// Addresses of listening sockets, by which the server of a connection is known.
    listening: HashSet<SocketAddr>,
    /// Kinds that could not be read, with the reason.
    pub unreadable: Vec<(ObjectKind, String)>,
}

impl Sockets {
    /// Reads the sockets of AF_UNIX, TCP and UDP. Kinds that the kernel cannot report are in `unreadable`.
    pub fn read() -> Sockets {
        let mut sockets = Sockets::default();
        let unix = unix_sockets().map(|found| found.into_iter().map(Socket::Unix).collect());
        sockets.add(ObjectKind::Unix, unix);
        for (kind, transport) in [(ObjectKind::Tcp, Transport::Tcp), (ObjectKind::Udp, Transport::Udp)] {
            let named = |found: Vec<InternetSocket>| {
                found.into_iter().map(|socket| Socket::Internet(transport, socket)).collect()
            };
            sockets.add(kind, internet_sockets(transport).map(named));
        }
        sockets.connect_unix();
        sockets.connect(Transport::Tcp);
        sockets.connect(Transport::Udp);
        for (sender, target) in &sockets.targets {
            if !sockets.is_mutual(*sender, *target) {
                sockets.senders.entry(*target).or_default().push(*sender);
            }
        }
        sockets
    }

    fn add(&mut self, kind: ObjectKind, found: io::Result<Vec<Socket>>) {
        match found {
            Ok(found) => self.by_inode.extend(found.into_iter().map(|socket| (socket.inode(), socket))),
            Err(error) => self.unreadable.push((kind, error.to_string())),
        }
    }

    fn connect_unix(&mut self) {
        let peers = self.by_inode.values().filter_map(|socket| match socket {
            Socket::Unix(socket) => Some((socket.inode, socket.peer?)),
            Socket::Internet(..) => None,
        });
        self.targets.extend(peers.collect::<Vec<_>>());
    }

    fn connect(&mut self, transport: Transport) {
        let sockets = self.by_inode.values().filter_map(|socket| match socket {
            Socket::Internet(its, socket) if *its == transport => Some(socket),
            _ => None,
        });
        let sockets = sockets.collect::<Vec<_>>();
        let connected: HashMap<_, _> = sockets
            .iter()
            .filter(|socket| socket.is_connected)
            .map(|socket| ((socket.local, socket.remote), socket.inode))
            .collect();
        // Sockets that receive from any sender. A listening TCP socket receives no data. If several have one address, the kernel
        // distributes the senders among them (SO_REUSEPORT).
        let mut open = HashMap::<SocketAddr, Option<u64>>::new();
        for socket in sockets.iter().filter(|socket| !socket.is_connected && transport == Transport::Udp) {
            open.entry(socket.local).and_modify(|known| *known = None).or_insert(Some(socket.inode));
        }
        let target = |socket: &InternetSocket| {
            let mutual = connected.get(&(socket.remote, socket.local)).copied();
            let receiver = || {
                let any = UNSPECIFIED.map(|ip| SocketAddr::new(ip, socket.remote.port()));
                [socket.remote]
                    .into_iter()
                    .chain(any)
                    .find_map(|address| open.get(&address))
                    .copied()
                    .flatten()
            };
            mutual
                .or_else(|| sends_here(socket).then(receiver).flatten())
                .filter(|target| *target != socket.inode)
        };
        let targets = sockets.iter().filter(|socket| socket.is_connected);
        let targets: Vec<_> = targets.filter_map(|socket| Some((socket.inode, target(socket)?))).collect();
        let listening = sockets.iter().filter(|socket| socket.is_listening).map(|socket| socket.local);
        let listening: Vec<_> = listening.collect();
        self.targets.extend(targets);
        self.listening.extend(listening);
    }

    /// Returns the socket with this inode.
    pub fn get(&self, inode: u64) -> Option<&Socket> {
        self.by_inode.get(&inode)
    }

    /// Returns all sockets.
    pub fn iter(&self) -> impl Iterator<Item = &Socket> {
        self.by_inode.values()
    }

    /// Returns the inode of the socket to which this one sends. Returns `None` if it is not connected, or not to a socket of this
    /// network namespace.
    pub fn peer(&self, inode: u64) -> Option<u64> {
        self.targets.get(&inode).copied()
    }

    /// Returns whether two sockets send to each other. Otherwise the peer receives from several senders.
    fn is_mutual(&self, inode: u64, peer: u64) -> bool {
        self.peer(peer) == Some(inode)
    }

    /// Returns the identity of the object to which a socket belongs: a connection has two sockets, and a receiver of datagrams has
    /// one more per connected sender. Returns `None` for sockets of other families and network namespaces, for internet sockets
    /// that are connected with another machine, and for sockets that did not exist when the table was read.
    pub fn link(&self, inode: u64) -> Option<ObjectId> {
        let socket = self.get(inode)?;
        let number = match self.peer(inode) {
            Some(peer) if self.is_mutual(inode, peer) => inode.min(peer),
            Some(peer) if self.by_inode.contains_key(&peer) => peer,
            None if matches!(socket, Socket::Internet(_, socket) if socket.is_connected && !sends_here(socket)) =>
            {
                return None;
            }
            _ => inode,
        };
        Some(ObjectId { kind: socket.kind(), device: 0, number })
    }

    /// Returns the inodes of the two ends of a connection, or of the only socket.
    pub fn ends(&self, id: ObjectId) -> (u64, Option<u64>) {
        (id.number, self.peer(id.number).filter(|peer| self.is_mutual(id.number, *peer)))
    }

    /// Returns the name of an object: the address that its server is bound to.
    pub fn name(&self, id: ObjectId) -> Option<String> {
        let (first, second) = self.ends(id);
        let mut ends: Vec<_> = [Some(first), second].into_iter().flatten().collect();
        ends.sort_by_key(|inode| !self.is_server(*inode));
        ends.into_iter().find_map(|inode| self.get(inode)?.name())
    }

    /// Returns whether a connected socket has the address of a server, because it was accepted.
    pub fn is_server(&self, inode: u64) -> bool {
        match self.get(inode) {
            Some(Socket::Unix(socket)) => socket.name.is_some(),
            Some(Socket::Internet(_, socket)) => {
                let any = UNSPECIFIED.map(|ip| SocketAddr::new(ip, socket.local.port()));
                [socket.local].iter().chain(&any).any(|address| self.listening.contains(address))
            }
            None => false,
        }
    }

    /// Returns the use that the holder of a socket makes of its object.
    pub fn access(&self, inode: u64) -> Access {
        let Some(socket) = self.get(inode) else { return Access::ReadsAndWrites };
        match self.peer(inode) {
            Some(peer) if !self.is_mutual(inode, peer) => Access::Writes,
            None if socket.is_bound() => Access::Listens,
            _ => Access::ReadsAndWrites,
        }
    }

    /// Returns the inodes of the connected sockets that send to this one, which does not send to them.
    pub fn senders(&self, inode: u64) -> &[u64] {
        self.senders.get(&inode).map_or(&[], Vec::as_slice)
    }
}

/// Addresses that receive for every address of the machine.
const UNSPECIFIED: [std::net::IpAddr; 2] = [
    std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
    std::net::IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED),
];

/// Returns whether a connected socket sends to this machine: to the loopback, or to the address from which it sends.
fn sends_here(socket: &InternetSocket) -> bool {
    socket.remote.ip().is_loopback() || socket.remote.ip() == socket.local.ip()
}

impl Socket {
    /// Returns its inode, as in `socket:[INODE]` of /proc/PID/fd.
    pub fn inode(&self) -> u64 {
        match self {
            Socket::Unix(socket) => socket.inode,
            Socket::Internet(_, socket) => socket.inode,
        }
    }

    /// Returns the kind of its object.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Socket::Unix(_) => ObjectKind::Unix,
            Socket::Internet(Transport::Tcp, _) => ObjectKind::Tcp,
            Socket::Internet(Transport::Udp, _) => ObjectKind::Udp,
        }
    }

    /// Returns its address, if it is bound to one. It may contain any character.
    pub fn name(&self) -> Option<String> {
        match self {
            Socket::Unix(socket) => {
                socket.name.as_deref().map(|name| String::from_utf8_lossy(name).into_owned())
            }
            Socket::Internet(_, socket) => (socket.local.port() != 0).then(|| socket.local.to_string()),
        }
    }

    /// Returns whether it accepts connections.
    pub fn is_listening(&self) -> bool {
        match self {
            Socket::Unix(socket) => socket.is_listening,
            Socket::Internet(_, socket) => socket.is_listening,
        }
    }

    /// Returns whether messages are datagrams.
    pub fn is_datagram(&self) -> bool {
        match self {
            Socket::Unix(socket) => socket.is_datagram,
            Socket::Internet(transport, _) => *transport == Transport::Udp,
        }
    }

    /// Returns the bytes that can be received, or of a listening socket the connections that can be accepted.
    pub fn receive_queue(&self) -> u64 {
        match self {
            Socket::Unix(socket) => socket.readable,
            Socket::Internet(_, socket) => socket.readable,
        }
    }

    /// Returns the bytes that were sent and not received, or of a listening socket its backlog in connections.
    pub fn send_queue(&self) -> u64 {
        match self {
            Socket::Unix(socket) => socket.unreceived,
            Socket::Internet(_, socket) => socket.unreceived,
        }
    }

    /// Returns the size of the buffer that limits its messages: of UNIX sockets that of the sender, otherwise that of the receiver.
    pub fn buffer_bytes(&self) -> u64 {
        match self {
            Socket::Unix(socket) => socket.send_buffer_bytes.unwrap_or(0),
            Socket::Internet(_, socket) => socket.receive_buffer_bytes.unwrap_or(0),
        }
    }

    /// Returns whether it receives connections or datagrams from any sender.
    fn is_bound(&self) -> bool {
        match self {
            // A connection that was accepted keeps the server's name after the peer has closed.
            Socket::Unix(socket) => socket.is_listening || socket.is_datagram && socket.name.is_some(),
            Socket::Internet(_, socket) => !socket.is_connected && socket.local.port() != 0,
        }
    }
}

//! All sockets of this network namespace, as the kernel reports them (sock_diag(7)).
//!
//! The formats are those of `linux/sock_diag.h`, `linux/unix_diag.h` and `linux/inet_diag.h`.

use crate::error::Context;
use crate::linux::socket::{open, receive_message, send};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

/// State of a listening socket (`TCP_LISTEN`), also of AF_UNIX.
const LISTENING: u8 = 10;
/// All states except those without a socket that a process holds: `TCP_SYN_RECV`, `TCP_TIME_WAIT`, `TCP_NEW_SYN_RECV`.
const HELD_STATES: u32 = !(1 << 3 | 1 << 6 | 1 << 12);

/// Socket of AF_UNIX.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnixSocket {
    /// Inode, as in `socket:[INODE]` of /proc/PID/fd.
    pub inode: u64,
    /// Whether its type is `SOCK_DGRAM`.
    pub is_datagram: bool,
    #[expect(missing_docs, reason = "the name says everything")]
    pub is_listening: bool,
    /// Path, or abstract name after `@`; it may contain any byte.
    pub name: Option<Vec<u8>>,
    /// Device, as in `st_dev`, and the lower 32 bits of the inode of the file at the path.
    pub file: Option<(u64, u32)>,
    /// Inode of the socket to which it is connected. `None` also if the peer is not accepted yet or is closed.
    pub peer: Option<u64>,
    /// Bytes that it can read, of datagrams those of the next one; connections that a listening socket can accept.
    pub readable: u64,
    /// Memory of messages that it has sent and that are not received yet, in bytes with the kernel's overhead; the backlog of a
    /// listening socket, in connections.
    pub unreceived: u64,
    /// Limit of `unreceived` (SO_SNDBUF), in bytes with the kernel's overhead.
    pub send_buffer_bytes: Option<u64>,
}

/// Transport protocol of an internet socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say everything")]
pub enum Transport {
    Tcp,
    Udp,
}

/// Socket of AF_INET or AF_INET6. Addresses of IPv4 in IPv6 are IPv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InternetSocket {
    /// Inode, as in `socket:[INODE]` of /proc/PID/fd.
    pub inode: u64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub is_listening: bool,
    /// Whether it has a remote address, also if the peer has closed.
    pub is_connected: bool,
    #[expect(missing_docs, reason = "the name says everything")]
    pub local: SocketAddr,
    /// Address of its peer; unspecified if it is not connected.
    pub remote: SocketAddr,
    /// TCP: bytes that it can read, or connections that it can accept. UDP: memory of received datagrams, in bytes with the
    /// kernel's overhead.
    pub readable: u64,
    /// TCP: bytes that the peer has not acknowledged, or the backlog of a listening socket in connections. UDP: memory of unsent
    /// datagrams.
    pub unreceived: u64,
    /// Limit of the receive queue (SO_RCVBUF), in bytes with the kernel's overhead.
    pub receive_buffer_bytes: Option<u64>,
}

/// Returns the sockets of AF_UNIX.
///
/// # Errors
/// Returns an error if the kernel cannot report them (`CONFIG_UNIX_DIAG`).
pub fn unix_sockets() -> io::Result<Vec<UnixSocket>> {
    /// `UDIAG_SHOW_NAME`, `_VFS`, `_PEER`, `_RQLEN` and `_MEMINFO`.
    const SHOWN: u32 = 1 | 2 | 4 | 16 | 32;
    let mut request = vec![libc::AF_UNIX as u8, 0, 0, 0];
    for word in [u32::MAX, 0, SHOWN, u32::MAX, u32::MAX] {
        request.extend(word.to_ne_bytes());
    }
    let answers = dump(&request).context(|| "ask for UNIX sockets (sock_diag, CONFIG_UNIX_DIAG)")?;
    Ok(answers.iter().filter_map(|answer| unix_socket(answer)).collect())
}

fn unix_socket(message: &[u8]) -> Option<UnixSocket> {
    const HEADER_BYTES: usize = 16;
    let is_listening = *message.get(2)? == LISTENING;
    let mut socket = UnixSocket {
        inode: word(message, 4)?.into(),
        is_datagram: i32::from(*message.get(1)?) == libc::SOCK_DGRAM,
        is_listening,
        ..UnixSocket::default()
    };
    for (kind, value) in attributes(message.get(HEADER_BYTES..)?) {
        match kind {
            0 => socket.name = name(value),
            1 => socket.file = Some((device_number(word(value, 4)?), word(value, 0)?)),
            2 => socket.peer = word(value, 0).filter(|inode| *inode != 0).map(u64::from),
            4 => (socket.readable, socket.unreceived) = (word(value, 0)?.into(), word(value, 4)?.into()),
            5 => socket.send_buffer_bytes = send_buffer(value),
            _ => {}
        }
    }
    Some(socket)
}

/// Returns a path, or an abstract name, whose first byte is zero, with `@` in place of it.
fn name(value: &[u8]) -> Option<Vec<u8>> {
    match value {
        [] => None,
        [0, name @ ..] => Some([b"@", name].concat()),
        path => Some(path.split(|byte| *byte == 0).next()?.to_vec()),
    }
}

/// Returns a device number in the form of `st_dev` from the kernel's form.
pub(super) fn device_number(number: u32) -> u64 {
    const MINOR_BITS: u32 = 20;
    libc::makedev(number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1))
}

/// Returns `SK_MEMINFO_SNDBUF`.
fn send_buffer(value: &[u8]) -> Option<u64> {
    word(value, 3 * 4).map(u64::from)
}

/// Returns the sockets of a transport protocol, over IPv4 and IPv6.
///
/// # Errors
/// Returns an error if the kernel cannot report them (`CONFIG_INET_DIAG`, `CONFIG_INET_UDP_DIAG`).
pub fn internet_sockets(transport: Transport) -> io::Result<Vec<InternetSocket>> {
    /// Bit of `INET_DIAG_SKMEMINFO`.
    const MEMORY: u8 = 1 << 6;
    /// Size of `inet_diag_sockid`, which stays empty in a request for all sockets.
    const ID_BYTES: usize = 48;
    let protocol = match transport {
        Transport::Tcp => libc::IPPROTO_TCP,
        Transport::Udp => libc::IPPROTO_UDP,
    };
    let mut sockets = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut request = vec![family as u8, protocol as u8, MEMORY, 0];
        request.extend(HELD_STATES.to_ne_bytes());
        request.extend([0; ID_BYTES]);
        match dump(&request) {
            Ok(answers) => sockets.extend(answers.iter().filter_map(|answer| internet_socket(answer))),
            // A kernel may have no IPv6.
            Err(_) if family == libc::AF_INET6 => {}
            Err(error) => return Err(error).context(|| format!("ask for {transport:?} sockets (sock_diag)")),
        }
    }
    Ok(sockets)
}

fn internet_socket(message: &[u8]) -> Option<InternetSocket> {
    const HEADER_BYTES: usize = 72;
    let address = |port: usize, address: usize| {
        let port = u16::from_be_bytes(message.get(port..port + 2)?.try_into().ok()?);
        let bytes: [u8; 16] = message.get(address..address + 16)?.try_into().ok()?;
        let ip = match i32::from(*message.first()?) {
            libc::AF_INET => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
            _ => IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical(),
        };
        Some(SocketAddr::new(ip, port))
    };
    // A closed socket that is still connected has no inode.
    let inode = word(message, 68).filter(|inode| *inode != 0)?.into();
    let (local, remote) = (address(4, 8)?, address(6, 24)?);
    let mut socket = InternetSocket {
        inode,
        is_listening: *message.get(1)? == LISTENING,
        is_connected: remote.port() != 0,
        local,
        remote,
        readable: word(message, 56)?.into(),
        unreceived: word(message, 60)?.into(),
        receive_buffer_bytes: None,
    };
    for (kind, value) in attributes(message.get(HEADER_BYTES..)?) {
        // `INET_DIAG_SKMEMINFO`, and in it `SK_MEMINFO_RCVBUF`.
        if kind == 7 {
            socket.receive_buffer_bytes = word(value, 4).map(u64::from);
        }
    }
    Some(socket)
}

/// Returns the 32-bit number at an offset.
fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

/// Returns kind and value of each attribute.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let head = word(bytes, 0)?.to_ne_bytes();
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([head[2], head[3]]), value))
    })
}

/// Sends a request for all objects, and returns the answers without their headers.
fn dump(request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    const HEADER_BYTES: usize = 16;
    /// `SOCK_DIAG_BY_FAMILY`.
    const BY_FAMILY: u16 = 20;
    const ERROR: u16 = 2;
    const DONE: u16 = 3;
    /// The kernel fills at most 32 KiB per read.
    const AT_ONCE: usize = 64 << 10;
    let kernel = open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_SOCK_DIAG)?;
    let mut bytes = ((HEADER_BYTES + request.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(request);
    send(kernel.as_fd(), &bytes)?;
    let (mut buffer, mut answers) = (vec![0; AT_ONCE], Vec::new());
    loop {
        let length = receive_message(kernel.as_fd(), &mut buffer)?.min(AT_ONCE);
        let mut rest = &buffer[..length];
        while let Some(length) = word(rest, 0).map(|length| length as usize) {
            let message = rest.get(..length).filter(|message| message.len() >= HEADER_BYTES);
            let message = message.ok_or_else(|| io::Error::other("the kernel's answer is not understood"))?;
            match u16::from_ne_bytes([message[4], message[5]]) {
                DONE => return Ok(answers),
                ERROR => {
                    let number = word(message, HEADER_BYTES).unwrap_or_default() as i32;
                    return Err(io::Error::from_raw_os_error(number.wrapping_neg()));
                }
                _ => answers.push(message[HEADER_BYTES..].to_vec()),
            }
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::file_status::file_status;
    use crate::linux::socket::{Kind, listen, socketpair};
    use std::io::Write;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::{AsRawFd, RawFd};

    fn inode(descriptor: RawFd) -> u64 {
        file_status(format!("/proc/self/fd/{descriptor}").as_ref()).unwrap().inode
    }

    #[test]
    fn ends_of_a_pair_are_peers_and_show_waiting_bytes() {
        let (one, other) = socketpair(Kind::Stream).unwrap();
        send(one.as_fd(), b"twelve bytes").unwrap();
        let sockets = unix_sockets().unwrap();
        let [one, other] = [one, other].map(|end| {
            let inode = inode(end.as_raw_fd());
            sockets.iter().find(|socket| socket.inode == inode).unwrap()
        });
        assert_eq!((one.peer, other.peer), (Some(other.inode), Some(one.inode)));
        assert_eq!((one.is_datagram, &one.name, one.is_listening), (false, &None, false));
        assert_eq!((one.readable, other.readable), (0, 12));
        assert!(one.unreceived >= 12 && one.unreceived < one.send_buffer_bytes.unwrap(), "{one:?}");
    }

    #[test]
    fn listening_socket_shows_its_file_and_waiting_connections() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = listen(Kind::Stream, &path).unwrap();
        let client = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let sockets = unix_sockets().unwrap();
        let inode = inode(listener.as_raw_fd());
        let found = sockets.iter().find(|socket| socket.inode == inode).unwrap();
        let file = file_status(&path).unwrap();
        assert_eq!(found.name.as_deref(), Some(path.as_os_str().as_encoded_bytes()));
        assert_eq!(found.file, Some((file.device, file.inode as u32)));
        assert!(found.is_listening && found.readable == 1 && found.unreceived >= 1, "{found:?}");
        drop(client);
    }

    #[test]
    fn internet_sockets_show_addresses_and_waiting_bytes() {
        let listener =
            TcpListener::bind("[::1]:0").unwrap_or_else(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(b"twelve bytes").unwrap();
        let sockets = internet_sockets(Transport::Tcp).unwrap();
        let [listening, client, server] =
            [listener.as_raw_fd(), client.as_raw_fd(), server.as_raw_fd()].map(|descriptor| {
                let inode = inode(descriptor);
                sockets.iter().find(|socket| socket.inode == inode).unwrap()
            });
        assert!(listening.is_listening && !listening.is_connected && client.is_connected);
        assert_eq!((client.local, client.remote), (server.remote, server.local));
        assert_eq!((server.readable, client.readable), (12, 0));
        assert!(server.receive_buffer_bytes.is_some_and(|bytes| bytes > 12));

        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        sender.send(b"datagram").unwrap();
        let sockets = internet_sockets(Transport::Udp).unwrap();
        let [receiver, sender] = [receiver.as_raw_fd(), sender.as_raw_fd()].map(|descriptor| {
            let inode = inode(descriptor);
            sockets.iter().find(|socket| socket.inode == inode).unwrap()
        });
        assert_eq!(sender.remote, receiver.local);
        assert!(sender.is_connected && !receiver.is_connected && receiver.readable >= 8, "{receiver:?}");
    }

    #[test]
    fn damaged_answers_are_no_sockets() {
        assert_eq!(unix_socket(&[1; 10]), None);
        assert_eq!(internet_socket(&[2; 71]), None);
        // An attribute that is longer than the message, and one that is shorter than its own header.
        assert_eq!(attributes(&[200, 0, 1, 0, 5]).count(), 0);
        assert_eq!(attributes(&[2, 0, 1, 0, 5]).count(), 0);
    }
}

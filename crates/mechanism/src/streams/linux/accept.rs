//! A connection for each message, to a listening socket: how a server with several workers accepts short requests.
//!
//! All workers wait in `accept` on one listening socket, and a free worker accepts the next connection: the kernel wakes one of
//! them. A message costs two sockets in addition to its bytes. So expect several times the latency of `unix-stream` and `tcp`
//! over a persistent link. TCP's handshake and close pass the protocol layers seven times. `-m connect` measures links that one
//! process makes and uses. Here the two ends are in different processes, one of which waits.
//!
//! A sender closes no connection before the peer has read the message, and keeps at most 16 connections open, because a full
//! accept queue makes TCP retry after a second. The receiver closes a TCP connection with a reset, so that no port stays in
//! TIME_WAIT. The client treats the reset as the end.

use crate::{DIRECTIONS, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Reach, Role, Sharing, Unavailable,
};
use furlong_os::Handle;
use furlong_os::linux::listening::{UnixListener, UnixStream, listen, reset_on_close};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::marker::PhantomData;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

/// Maximum number of open connections of a sender. Every accept queue is longer.
const MOST_OPEN: usize = 16;

/// Bytes of a message that the buffers of every connection hold, with the kernel's overhead.
const BUFFERED_BYTES: usize = 64 << 10;

/// The connections of an address family.
pub trait Connections: 'static {
    /// Name of the mechanism.
    const NAME: &'static str;
    /// Summary of the mechanism in a few words.
    const SUMMARY: &'static str;
    /// Resource that two processes must share to connect.
    const REACH: Reach;
    /// Address of a listening socket.
    type Address;
    /// A listening socket.
    type Listener: From<Handle> + Into<Handle>;
    /// A connection.
    type Connection: Read + Write;

    /// Opens a socket that listens for the messages of this role. Its port, if it has one, is added to the role's end.
    fn listen(specification: &LinkSpecification, sender: Role, link: &mut Link)
    -> io::Result<Self::Listener>;

    /// Returns the address of that socket.
    fn address(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self::Address>;

    /// Connects to that address.
    fn connect(address: &Self::Address) -> io::Result<Self::Connection>;

    /// Shuts the connection down for writing.
    fn finish(connection: &Self::Connection) -> io::Result<()>;

    /// Accepts the next connection.
    fn accept(listener: &Self::Listener) -> io::Result<Self::Connection>;
}

/// Connections to paths.
#[derive(Debug)]
pub struct UnixConnections;

impl Connections for UnixConnections {
    const NAME: &'static str = "unix-accept";
    const SUMMARY: &'static str = "a UNIX stream connection for each message, to a listening socket";
    const REACH: Reach = Reach::FileSystem;
    type Address = PathBuf;
    type Listener = UnixListener;
    type Connection = UnixStream;

    fn listen(specification: &LinkSpecification, sender: Role, link: &mut Link) -> io::Result<UnixListener> {
        let path = path(specification, sender)?;
        let listener = listen(&path)?;
        link.removes(move || std::fs::remove_file(path));
        Ok(listener)
    }

    fn address(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<PathBuf> {
        path(specification, setup.role)
    }

    #[inline]
    fn connect(address: &PathBuf) -> io::Result<UnixStream> {
        UnixStream::connect(address)
    }

    #[inline]
    fn finish(connection: &UnixStream) -> io::Result<()> {
        connection.shutdown(Shutdown::Write)
    }

    #[inline]
    fn accept(listener: &UnixListener) -> io::Result<UnixStream> {
        listener.accept().map(|(connection, _)| connection)
    }
}

/// Returns the path of the socket that listens for the messages of a role.
fn path(specification: &LinkSpecification, sender: Role) -> io::Result<PathBuf> {
    Ok(specification.socket_folder()?.join(format!("{}.socket", DIRECTIONS[sender.index()])))
}

/// Returns a separate address of the loopback interface, so that a port scan of 127.0.0.1 is not mistaken for a sender.
fn own_address(specification: &LinkSpecification) -> Ipv4Addr {
    let [a, b, c, _] = specification.key.to_le_bytes();
    Ipv4Addr::new(127, a, b, c | 1)
}

/// Connections over the loopback interface.
#[derive(Debug)]
pub struct TcpConnections;

impl Connections for TcpConnections {
    const NAME: &'static str = "tcp-accept";
    const SUMMARY: &'static str = "a TCP connection over loopback for each message, to a listening socket";
    const REACH: Reach = Reach::Network;
    type Address = SocketAddr;
    type Listener = TcpListener;
    type Connection = TcpStream;

    fn listen(specification: &LinkSpecification, sender: Role, link: &mut Link) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((own_address(specification), 0))?;
        // Accepted connections inherit the option.
        reset_on_close(&listener)?;
        link.give_number_to(sender, listener.local_addr()?.port().into());
        Ok(listener)
    }

    fn address(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<SocketAddr> {
        Ok(SocketAddr::new(own_address(specification).into(), setup.number()? as u16))
    }

    #[inline]
    fn connect(address: &SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address)
    }

    #[inline]
    fn finish(connection: &TcpStream) -> io::Result<()> {
        connection.shutdown(Shutdown::Write)
    }

    #[inline]
    fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
        listener.accept().map(|(connection, _)| connection)
    }
}

/// A mechanism with a connection for each message.
#[derive(Debug)]
pub struct ConnectionPerMessage<C>(PhantomData<C>);

impl<C: Connections> Mechanism for ConnectionPerMessage<C> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: C::NAME,
        summary: C::SUMMARY,
        family: Family::Socket,
        calls: Calls::of(
            &[
                Call::Once("socket"),
                Call::Once("connect"),
                Call::Once("sendto"),
                Call::Once("shutdown"),
                Call::AtMostOnce("recvfrom"),
                Call::AtMostOnce("close"),
                Call::AtMostOnce("fcntl"),
            ],
            // A build with assertions checks with `fcntl` that each descriptor is open before it closes it.
            &[
                Call::Once("accept4"),
                Call::Once("recvfrom"),
                Call::Once("recvfrom"),
                Call::Once("close"),
                Call::AtMostOnce("fcntl"),
            ],
        ),
        peer_death: PeerDeath::Unnoticed,
        reach: C::REACH,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = AcceptEnd<C>;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // If no buffer holds a message completely, its sender waits until a part of it is read.
        let held = |bytes: usize| Depth::of(if bytes <= BUFFERED_BYTES { MOST_OPEN } else { 0 });
        let mut link = Link::new(specification.sizes_bytes.map(held));
        for sender in Role::ALL {
            let listener = C::listen(specification, sender, &mut link)?;
            link.give(sender.peer(), listener.into());
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<AcceptEnd<C>> {
        let listener = setup.descriptor()?.into();
        let to = C::address(specification, &mut setup)?;
        Ok(AcceptEnd { listener, to, open: VecDeque::with_capacity(MOST_OPEN) })
    }
}

/// A listening socket, and the address of the peer's listening socket.
pub struct AcceptEnd<C: Connections> {
    listener: C::Listener,
    to: C::Address,
    /// Connections whose messages may not be read yet, the oldest first.
    open: VecDeque<C::Connection>,
}

impl<C: Connections> Endpoint for AcceptEnd<C> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        if self.open.len() == MOST_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            taken(oldest)?;
        }
        let mut connection = C::connect(&self.to)?;
        connection.write_all(message)?;
        C::finish(&connection)?;
        self.open.push_back(connection);
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let mut connection = C::accept(&self.listener)?;
        let mut length = 0;
        let mut beyond = [0; 64];
        loop {
            // Bytes beyond the room of the message are counted too.
            let room = if length < message.len() { &mut message[length..] } else { &mut beyond[..] };
            match connection.read(room) {
                Ok(0) => return Ok(length),
                Ok(count) => length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits until the peer has closed a connection, which it does after reading the message.
fn taken(mut connection: impl Read) -> io::Result<()> {
    loop {
        match connection.read(&mut [0]) {
            Ok(0) => return Ok(()),
            Ok(_) => return Err(io::Error::other("data came back on a connection for one message")),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

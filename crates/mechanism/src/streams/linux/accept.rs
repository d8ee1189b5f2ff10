//! A connection for each message, to a socket that listens: how a server with several workers takes short requests.
//!
//! All workers wait in `accept` at one listening socket, and one that is free takes the next connection: the kernel wakes one of
//! them. A message costs two sockets beside its bytes, so expect several times what `unix-stream` and `tcp` take over a link that
//! lasts; TCP's handshake and its end pass the protocol's layers seven times. `-m connect` measures links that one process makes and
//! uses; here those who meet are in different processes, one of which waits.
//!
//! A sender closes no connection before the other side has taken what it carries, and leaves a few open at most: a queue of
//! connections that is full makes TCP try again after a second. The receiver ends a connection of TCP with a reset, so that no port waits
//! for stragglers afterwards; who connected takes that for the end.

use crate::{DIRECTIONS, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Copies, Depth, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Role,
    Sharing, Start, Unavailable, Wait, WhenFull,
};
use furlong_os::Handle;
use furlong_os::linux::listening::{UnixListener, UnixStream, listen, reset_on_close};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::marker::PhantomData;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

/// Connections that a sender has open at most. Every queue of connections holds more.
const MOST_OPEN: usize = 16;

/// Bytes that the buffers of every connection hold, with what the kernel counts beside them.
const BUFFERED_BYTES: usize = 64 << 10;

/// The connections of a family of addresses.
pub trait Connections: 'static {
    /// The row.
    const NAME: &'static str;
    /// The row in a few words.
    const SUMMARY: &'static str;
    /// Who can connect.
    const REACH: Reach;
    /// Where a socket listens.
    type Address;
    /// A socket that listens.
    type Listener: From<Handle> + Into<Handle>;
    /// A connection.
    type Connection: Read + Write;

    /// A socket that listens for what this role sends; its number, if it has one, is given to the role.
    fn listen(specification: &LinkSpecification, sender: Role, link: &mut Link)
    -> io::Result<Self::Listener>;

    /// Where that is.
    fn address(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self::Address>;

    /// Connects to it.
    fn connect(address: &Self::Address) -> io::Result<Self::Connection>;

    /// Says that nothing more comes.
    fn finish(connection: &Self::Connection) -> io::Result<()>;

    /// Takes the next connection.
    fn accept(listener: &Self::Listener) -> io::Result<Self::Connection>;
}

/// Connections between paths.
#[derive(Debug)]
pub struct UnixConnections;

impl Connections for UnixConnections {
    const NAME: &'static str = "unix-accept";
    const SUMMARY: &'static str = "a UNIX stream connection for each message, to a socket that listens";
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

/// Where a socket listens for what a role sends.
fn path(specification: &LinkSpecification, sender: Role) -> io::Result<PathBuf> {
    Ok(specification.socket_folder()?.join(format!("{}.socket", DIRECTIONS[sender.index()])))
}

/// An address of the loopback interface on which nobody else looks for a service: whoever tries all ports of the usual one is not taken
/// for a sender.
fn own_address(specification: &LinkSpecification) -> Ipv4Addr {
    let [a, b, c, _] = specification.key.to_le_bytes();
    Ipv4Addr::new(127, a, b, c | 1)
}

/// Connections over the loopback interface.
#[derive(Debug)]
pub struct TcpConnections;

impl Connections for TcpConnections {
    const NAME: &'static str = "tcp-accept";
    const SUMMARY: &'static str = "a TCP connection over loopback for each message, to a socket that listens";
    const REACH: Reach = Reach::Network;
    type Address = SocketAddr;
    type Listener = TcpListener;
    type Connection = TcpStream;

    fn listen(specification: &LinkSpecification, sender: Role, link: &mut Link) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((own_address(specification), 0))?;
        // Every connection that it accepts has that from it.
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

/// A connection for each message.
#[derive(Debug)]
pub struct Accept<C>(PhantomData<C>);

impl<C: Connections> Mechanism for Accept<C> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: C::NAME,
        summary: C::SUMMARY,
        family: Family::Socket,
        waits: &[Wait::Block],
        boundaries: true,
        fixed_size_bytes: None,
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
            // A build with assertions asks of each descriptor that it closes whether it is open.
            &[
                Call::Once("accept4"),
                Call::Once("recvfrom"),
                Call::Once("recvfrom"),
                Call::Once("close"),
                Call::AtMostOnce("fcntl"),
            ],
        ),
        buffer: KernelBuffer::None,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: PeerDeath::Unnoticed,
        reach: C::REACH,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
        sharing: Sharing::Messages,
    };
    const IS_COMMON: bool = false;
    type Endpoint = AcceptEnd<C>;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // Of a message that no buffer holds whole, its sender waits for a part to be taken.
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

/// A socket that listens, and where the other one does.
pub struct AcceptEnd<C: Connections> {
    listener: C::Listener,
    to: C::Address,
    /// Connections whose messages may not have been taken yet, the oldest first.
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
            // What there is no room for is counted.
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

/// Waits until the other side has closed a connection, which it does when it has taken the message.
fn taken(mut connection: impl Read) -> io::Result<()> {
    loop {
        match connection.read(&mut [0]) {
            Ok(0) => return Ok(()),
            Ok(_) => return Err(io::Error::other("something came back on a connection for one message")),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

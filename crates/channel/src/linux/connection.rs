//! How two processes that know a name create the two ends of a channel.
//!
//! The listener creates the channel and sends the descriptors of the other end through the connection, with a greeting
//! that contains the size of the channel. It does not wait for an answer, so no client can block it. The connection is
//! then the socket of the direction in which the client sends. Only the listener's socket has a name.

use crate::channel::{Channel, Side};
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::greeting::{self, Offer};
use crate::linux::link::Link;
use crate::linux::passing;
use crate::linux::socket::{self, Address, BACKLOG};
use crate::linux::socket_file::SocketFile;
use crate::linux::{poll, shared_memory};
use crate::options::Options;
use crate::storage::shared_bytes;
use crate::waiting::Limit;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Number of disconnected clients that one call skips before it checks its limit: more than the backlog can hold.
const MOST_LEFT: i32 = 2 * BACKLOG;

/// Accepts processes that connect by a name.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Listener, Options};
///
/// let name = format!("@furlong-channel-listener-{}", std::process::id());
/// let listener = Listener::bind(&name, &Options::new())?;
/// // Usually in another process.
/// let client = std::thread::spawn(move || Channel::connect(&name, &Options::new())?.send(b"hello"));
/// assert_eq!(listener.accept()?.recv_vec()?, b"hello");
/// # client.join().unwrap()?;
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    options: Options,
    /// Dropped before the socket: as long as the socket is open, no other file has its inode.
    _file: Option<SocketFile>,
}

impl Listener {
    /// Listens at a path or, after `@`, under a name outside the file system, which disappears with the listener.
    ///
    /// The socket at a path is removed when the listener is dropped. The socket of a dead process is replaced; any
    /// other file is left alone.
    ///
    /// # Errors
    /// Returns `System` with `AddrInUse` if a process listens there or the path is another kind of file, or with any other
    /// error of the operating system.
    pub fn bind(name: &str, options: &Options) -> Result<Listener> {
        let address = Address::new(name.as_bytes())?;
        let (socket, file) = if name.starts_with('@') {
            (socket::listen(&address)?, None)
        } else {
            let (socket, file) = SocketFile::listen(name, &address)?;
            (socket, Some(file))
        };
        Ok(Listener { socket, options: *options, _file: file })
    }

    /// Waits until a process connects, and creates this end of a new channel.
    pub(crate) fn accept_until(
        &self,
        limit: Limit,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<Channel> {
        self.accept_with(limit, is_allowed, |connection, process, peer| self.greet(connection, process, peer))
    }

    /// Waits until a process connects, and returns the end that `greet` creates for it. `greet` returns `None` if the
    /// process has disconnected.
    pub(crate) fn accept_with<E>(
        &self,
        limit: Limit,
        is_allowed: impl Fn(&Credentials) -> bool,
        mut greet: impl FnMut(OwnedFd, Option<OwnedFd>, Credentials) -> Result<Option<E>>,
    ) -> Result<E> {
        let mut left = 0;
        loop {
            let Some(connection) = self.next_connection(limit)? else {
                return Err(limit.exceeded());
            };
            let peer = socket::credentials(connection.as_fd())?;
            if !is_allowed(&peer) {
                return Err(Error::Refused(peer));
            }
            let process = socket::peer_process(connection.as_fd())?;
            if let Some(end) = greet(connection, process, peer)? {
                return Ok(end);
            }
            left += 1;
            if left >= MOST_LEFT && limit.left().is_none() {
                return Err(limit.exceeded());
            }
        }
    }

    fn next_connection(&self, limit: Limit) -> io::Result<Option<OwnedFd>> {
        loop {
            // Another thread may accept the connection that poll reported.
            let found = socket::accept(self.socket.as_fd())?;
            if found.is_some() || !poll::is_readable(self.socket.as_fd(), limit)? {
                return Ok(found);
            }
        }
    }

    /// Sends the other end to a client, and creates this one; `None` if the client has disconnected.
    fn greet(
        &self,
        connection: OwnedFd,
        process: Option<OwnedFd>,
        peer: Credentials,
    ) -> Result<Option<Channel>> {
        let memory = shared_memory::new(shared_bytes(self.options.capacity, 2))?;
        let [sending, other] = socket::pair()?;
        let greeting = greeting::encode(&self.options, Offer::Channel);
        if !give(connection.as_fd(), &greeting, &[memory.as_fd(), other.as_fd()])? {
            return Ok(None);
        }
        let links = Link::all([sending, connection], process);
        Channel::connected(memory.as_fd(), links, Side::First, &self.options, peer).map(Some)
    }

    /// Returns the options of the channels.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the descriptor that is readable if a process has connected. Use it with poll or epoll and
    /// [`try_accept`](Self::try_accept), which does not wait if that process has closed its connection.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor()
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor().as_raw_fd()
    }
}

/// Returns whether a peer is allowed if the caller has no rule: it must belong to this user or to root.
pub(crate) fn is_admitted(peer: &Credentials) -> bool {
    peer.user == socket::user() || peer.user == 0
}

/// Sends a greeting with descriptors to a client, and returns whether the client is still connected.
pub(crate) fn give(
    connection: BorrowedFd<'_>,
    greeting: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<bool> {
    match passing::send(connection, greeting, descriptors) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// A listener's offer, as accepted by a client.
pub(crate) struct AcceptedOffer<const N: usize> {
    connection: OwnedFd,
    peer: Credentials,
    pub(crate) options: Options,
    /// The descriptors of this end. The last one is a socket that the listener's process has created for it.
    pub(crate) descriptors: [OwnedFd; N],
    /// The pidfd of that process. The connection would identify the process that called listen(2).
    pub(crate) process: Option<OwnedFd>,
}

/// Connects to a listener, and accepts its offer if it is the wanted one.
pub(crate) fn greeted<const N: usize>(
    name: &str,
    options: &Options,
    limit: Limit,
    is_allowed: impl Fn(&Credentials) -> bool,
    wanted: Offer,
) -> Result<AcceptedOffer<N>> {
    let connection = socket::connect(&Address::new(name.as_bytes())?, limit).map_err(connection_error)?;
    let peer = socket::credentials(connection.as_fd())?;
    if !is_allowed(&peer) {
        return Err(Error::Refused(peer));
    }
    let mut greeting = [0; greeting::BYTES];
    let received = passing::receive(connection.as_fd(), &mut greeting, limit)?;
    let options = greeting::decode(&greeting, options, wanted)?;
    let descriptors: [OwnedFd; N] = passing::exactly(received)?;
    let socket = descriptors[N - 1].as_fd();
    socket::check(socket)?;
    let process = socket::peer_process(socket)?;
    Ok(AcceptedOffer { connection, peer, options, descriptors, process })
}

/// Connects to a listener and creates the other end of its channel.
pub(crate) fn connect_until(
    name: &str,
    options: &Options,
    limit: Limit,
    is_allowed: impl Fn(&Credentials) -> bool,
) -> Result<Channel> {
    let AcceptedOffer { connection, peer, options, descriptors: [memory, receiving], process } =
        greeted(name, options, limit, is_allowed, Offer::Channel)?;
    let links = Link::all([connection, receiving], process);
    Channel::connected(memory.as_fd(), links, Side::Second, &options, peer)
}

fn connection_error(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::TimedOut { Error::TimedOut } else { error.into() }
}

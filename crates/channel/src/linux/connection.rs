//! How two processes that know a name get the two ends of a channel.
//!
//! The listener makes the channel and sends the other end's descriptors through the connection, with a greeting that says
//! how large it is. It waits for no answer, so nobody can keep it. The connection itself is then the socket of the
//! direction in which the one who connected sends. Nothing but the listener's socket has a name.

use crate::channel::{Channel, Side};
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::greeting;
use crate::linux::passing::{self, PASSED};
use crate::linux::shared_memory;
use crate::linux::socket::{self, Address};
use crate::options::Options;
use crate::storage::shared_bytes;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// How long a greeting may take.
const GREETING_LIMIT: Duration = Duration::from_secs(5);

/// Waits for processes that connect by a name.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    options: Options,
    /// The path that is to be removed.
    path: Option<PathBuf>,
}

impl Listener {
    /// Listens at a path, or after `@` under a name that is in no file system and goes with the process. A path is removed
    /// when the listener is dropped; one that a dead process has left is taken over.
    ///
    /// # Errors
    /// What the operating system refused: `AddrInUse` where somebody listens there.
    pub fn bind(name: &str, options: &Options) -> Result<Listener> {
        let address = Address::new(name.as_bytes())?;
        let path = (!name.starts_with('@')).then(|| PathBuf::from(name));
        let socket = match socket::listen(&address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && path.is_some() => {
                let left = socket::connect(&address)
                    .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
                if !left {
                    return Err(error.into());
                }
                std::fs::remove_file(name)?;
                socket::listen(&address)?
            }
            other => other?,
        };
        Ok(Listener { socket, options: *options, path })
    }

    /// Waits for a process of the same user, or of root, to connect, and gives this end of a new channel.
    ///
    /// # Errors
    /// `Refused` if a process of another user came, which got nothing; what the operating system refused.
    pub fn accept(&self) -> Result<Channel> {
        let own = socket::user();
        self.accept_if(|peer| peer.user == own || peer.user == 0)
    }

    /// Waits for a process to connect, and gives this end of a new channel if `is_allowed` says so.
    ///
    /// # Errors
    /// As above.
    pub fn accept_if(&self, is_allowed: impl Fn(&Credentials) -> bool) -> Result<Channel> {
        let memory = shared_memory::new(shared_bytes(self.options.capacity))?;
        let [sending, other] = socket::pair()?;
        let greeting = greeting::encode(&self.options);
        loop {
            let connection = socket::accept(self.socket.as_fd())?;
            let peer = socket::credentials(connection.as_fd())?;
            if !is_allowed(&peer) {
                return Err(Error::Refused(peer));
            }
            match passing::send(connection.as_fd(), &greeting, [memory.as_fd(), other.as_fd()]) {
                Ok(()) => {
                    let links = [sending, connection];
                    return Channel::connected(memory.as_fd(), links, Side::First, &self.options, peer);
                }
                // Who came has left already.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The descriptor that is readable when somebody connects.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Who took it over meanwhile has a socket of their own, which they remove.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Channel {
    /// Connects with a [`Listener`](crate::Listener): a path, or after `@` a name that is in no file system. Waits at most
    /// five seconds for it to accept. How much the channel holds is for the listener to say; `longest` of `options` limits
    /// what is taken and sent here too.
    ///
    /// # Errors
    /// What the operating system refused; `TimedOut`; `Corrupt` if what listens is something else.
    pub fn connect(name: &str, options: &Options) -> Result<Channel> {
        let connection = socket::connect(&Address::new(name.as_bytes())?)?;
        let peer = socket::credentials(connection.as_fd())?;
        let mut greeting = [0; greeting::BYTES];
        let passed: [OwnedFd; PASSED] = passing::receive(connection.as_fd(), &mut greeting, GREETING_LIMIT)?;
        let options = greeting::decode(&greeting, options)?;
        let [memory, receiving] = passed;
        Channel::connected(memory.as_fd(), [connection, receiving], Side::Second, &options, peer)
    }
}

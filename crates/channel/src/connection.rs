//! How two processes that know a name get the two ends of a channel.
//!
//! The listener makes the channel and sends the other end's descriptors through the connection, with a greeting that says
//! how large it is. It waits for no answer, so nobody can keep it. The connection itself is then the socket of the
//! direction in which the one who connected sends. Nothing but the listener's socket has a name.

use crate::channel::{Channel, Descriptors, Side};
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::storage::shared_bytes;
use crate::sys::{self, Address, PASSED};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// What a greeting begins with: the library, and the version of the protocol and of what lies where in the memory.
const MAGIC: [u8; 8] = *b"furlong\x01";

/// Bytes of a greeting: [`MAGIC`], capacity, longest message, start.
const GREETING_BYTES: usize = 32;

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
        let socket = match sys::listen(&address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && path.is_some() => {
                let left = sys::connect(&address)
                    .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
                if !left {
                    return Err(error.into());
                }
                std::fs::remove_file(name)?;
                sys::listen(&address)?
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
        let own = sys::user();
        self.accept_if(|peer| peer.user == own || peer.user == 0)
    }

    /// Waits for a process to connect, and gives this end of a new channel if `is_allowed` says so.
    ///
    /// # Errors
    /// As above.
    pub fn accept_if(&self, is_allowed: impl Fn(&Credentials) -> bool) -> Result<Channel> {
        let memory = sys::sealed_memory(shared_bytes(self.options.capacity))?;
        let [sending, other] = sys::socket_pair()?;
        let greeting = greeting(&self.options);
        loop {
            let connection = sys::accept(self.socket.as_fd())?;
            let peer = sys::credentials(connection.as_fd())?;
            if !is_allowed(&peer) {
                return Err(Error::Refused(peer));
            }
            match sys::send_descriptors(connection.as_fd(), &greeting, [memory.as_fd(), other.as_fd()]) {
                Ok(()) => {
                    let side = Side::First;
                    let descriptors = Descriptors { memory, sending, receiving: connection, side };
                    return Channel::connected(descriptors, &self.options, peer);
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

fn greeting(options: &Options) -> [u8; GREETING_BYTES] {
    let mut greeting = [0; GREETING_BYTES];
    greeting[..8].copy_from_slice(&MAGIC);
    let numbers = [options.capacity as u64, options.longest as u64, options.start];
    for (number, place) in numbers.iter().zip(greeting[8..].chunks_exact_mut(8)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    greeting
}

impl Channel {
    /// Connects with a [`Listener`](crate::Listener): a path, or after `@` a name that is in no file system. Waits at most
    /// five seconds for it to accept. How much the channel holds is for the listener to say; `longest` of `options` limits
    /// what is taken and sent here too.
    ///
    /// # Errors
    /// What the operating system refused; `TimedOut`; `Corrupt` if what listens is something else.
    pub fn connect(name: &str, options: &Options) -> Result<Channel> {
        let connection = sys::connect(&Address::new(name.as_bytes())?)?;
        let peer = sys::credentials(connection.as_fd())?;
        let mut greeting = [0; GREETING_BYTES];
        let passed: [OwnedFd; PASSED] =
            sys::receive_descriptors(connection.as_fd(), &mut greeting, GREETING_LIMIT)?;
        if greeting[..8] != MAGIC {
            return Err(Error::Corrupt("the greeting is not of this library, or of another version of it"));
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&greeting[at..at + 8]);
            u64::from_le_bytes(number)
        };
        let longest = number(16).min(options.longest as u64);
        let options = Options::checked(number(8), longest, number(24), options.waiting)?;
        let [memory, receiving] = passed;
        let descriptors = Descriptors { memory, sending: connection, receiving, side: Side::Second };
        Channel::connected(descriptors, &options, peer)
    }
}

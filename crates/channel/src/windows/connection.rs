//! How two processes that know a name create the two ends of a channel.
//!
//! The listener creates the channel, sends its size and the values of its handles through a named pipe, and waits until
//! the client has copied the handles. The client makes the copies, because a value that the listener passes could be
//! the value of any other handle of the client. The pipe then carries no further data, and breaks when one of the
//! processes exits.

use crate::channel::{Channel, Side};
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::greeting::{self, Offer};
use crate::options::Options;
use crate::storage::shared_bytes;
use crate::waiting::Limit;
use crate::windows::handles::{Events, Handles};
use crate::windows::other_process::OtherProcess;
use crate::windows::pipe::{self, Instance, Path};
use crate::windows::shared_memory;
use std::io;
use std::mem;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of handles in a greeting: the section, and the events of both directions.
const PASSED: usize = 5;

/// Bytes of a greeting with the values of its handles.
const BYTES: usize = greeting::BYTES + 8 * PASSED;

/// The message that confirms the copies of the handles.
const COPIED: [u8; 1] = [1];

/// Timeout of an answer, so that a client that does not answer delays the next one only shortly.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Accepts processes that connect by a name.
#[derive(Debug)]
pub struct Listener {
    path: Path,
    /// The end of the pipe to which the next client connects. It always exists, so that no other process claims the
    /// name.
    next: Mutex<OwnedHandle>,
    options: Options,
}

impl Listener {
    /// Listens at the named pipe `\\.\pipe\NAME`. `name` is NAME or the whole path. The name exists as long as the
    /// listener or its process.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `AddrInUse` if another listener has the name,
    /// `InvalidInput` if the name is invalid.
    pub fn bind(name: &str, options: &Options) -> Result<Listener> {
        let path = Path::new(name)?;
        let next = Mutex::new(pipe::listen(&path, Instance::First)?);
        Ok(Listener { path, next, options: *options })
    }

    /// Waits until a process connects, and creates this end of a new channel. Only one thread waits at a time.
    pub(crate) fn accept_until(
        &self,
        limit: Limit,
        is_allowed: impl Fn(&Credentials) -> bool,
    ) -> Result<Channel> {
        let memory = shared_memory::new(shared_bytes(self.options.capacity, 2))?;
        let (there, back) = (Events::new()?, Events::new()?);
        let handles = [&memory, &there.sender, &there.receiver, &back.sender, &back.receiver];
        let greeting = greeting(&self.options, handles);
        loop {
            let connection = self.next_connection(limit)?;
            let process = match pipe::client_process(connection.as_handle()) {
                Ok(process) => process,
                // The client has disconnected already.
                Err(_) if !pipe::is_connected(connection.as_handle()) => continue,
                Err(error) => return Err(error.into()),
            };
            let peer = Credentials { process: process as i32 };
            if !is_allowed(&peer) {
                return Err(Error::Refused(peer));
            }
            match give(&connection, &greeting) {
                Ok(true) => {
                    let (sending, receiving) = (there, back);
                    let handles = Handles { memory, connection, sending, receiving, side: Side::First };
                    return handles.open(&self.options, process);
                }
                // The client has disconnected, or does not follow the protocol.
                Ok(false) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn next_connection(&self, limit: Limit) -> Result<OwnedHandle> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        pipe::wait_for_client(next.as_handle(), limit.time()).map_err(|error| {
            match (error.kind(), limit) {
                (io::ErrorKind::TimedOut, Limit::Now) => Error::WouldBlock,
                (io::ErrorKind::TimedOut, _) => Error::TimedOut,
                _ => error.into(),
            }
        })?;
        Ok(mem::replace(&mut *next, pipe::listen(&self.path, Instance::Further)?))
    }
}

fn greeting(options: &Options, handles: [&OwnedHandle; PASSED]) -> [u8; BYTES] {
    let mut greeting = [0; BYTES];
    greeting[..greeting::BYTES].copy_from_slice(&greeting::encode(options, Offer::Channel));
    for (handle, place) in handles.iter().zip(greeting[greeting::BYTES..].chunks_exact_mut(8)) {
        place.copy_from_slice(&(handle.as_raw_handle() as u64).to_le_bytes());
    }
    greeting
}

/// Sends a greeting, and waits until the client has copied its handles. Returns whether the client has confirmed this.
fn give(connection: &OwnedHandle, greeting: &[u8]) -> io::Result<bool> {
    pipe::write(connection.as_handle(), greeting, ANSWER_LIMIT)?;
    let mut answer = [0; COPIED.len()];
    let len = pipe::read(connection.as_handle(), &mut answer, ANSWER_LIMIT)?;
    Ok(len == COPIED.len() && answer == COPIED)
}

/// Returns true, because Windows admits only processes of this user, of administrators and of the system.
pub(crate) fn is_admitted(_peer: &Credentials) -> bool {
    true
}

/// Connects to a listener at a named pipe, and copies the handles of the other end.
pub(crate) fn connect_until(
    name: &str,
    options: &Options,
    limit: Limit,
    is_allowed: impl Fn(&Credentials) -> bool,
) -> Result<Channel> {
    let connection = pipe::connect(&Path::new(name)?, limit)?;
    let process = pipe::server_process(connection.as_handle())?;
    let peer = Credentials { process: process as i32 };
    if !is_allowed(&peer) {
        return Err(Error::Refused(peer));
    }
    let mut greeting = [0; BYTES];
    let left = limit.time().unwrap_or(Duration::MAX);
    let len = pipe::read(connection.as_handle(), &mut greeting, left).map_err(connection_error)?;
    if len != greeting.len() {
        return Err(Error::Corrupt("the greeting has the wrong length"));
    }
    let (head, numbers) = greeting.split_first_chunk().unwrap_or_else(|| unreachable!("it begins with one"));
    let options = greeting::decode(head, options, Offer::Channel)?;
    let mut copied = copies(process, numbers, &connection)?.into_iter();
    let mut next = || copied.next().unwrap_or_else(|| unreachable!("as many as are passed"));
    let memory = next();
    let [receiving, sending] = [0, 1].map(|_| Events { sender: next(), receiver: next() });
    pipe::write(connection.as_handle(), &COPIED, ANSWER_LIMIT).map_err(connection_error)?;
    Handles { memory, connection, sending, receiving, side: Side::Second }.open(&options, process)
}

/// Returns copies of the handles in a greeting.
fn copies(process: u32, numbers: &[u8], connection: &OwnedHandle) -> Result<[OwnedHandle; PASSED]> {
    let listener = OtherProcess::open(process).map_err(|error| {
        let reason = format!(
            "cannot copy the handles of process {process} ({error}): both processes must have the same user, and \
             the client must run elevated if the listener does"
        );
        io::Error::new(error.kind(), reason)
    })?;
    let copied: io::Result<Vec<_>> =
        (0..PASSED).map(|at| listener.copy(greeting::number(numbers, 8 * at))).collect();
    // As long as the pipe is connected, the process that created it is alive, so no other process has its PID.
    if !pipe::is_connected(connection.as_handle()) {
        return Err(Error::Closed);
    }
    let copied =
        copied.map_err(|_| Error::Corrupt("the greeting names handles that the listener does not have"))?;
    copied.try_into().map_err(|_| Error::Corrupt("the greeting names the wrong number of handles"))
}

/// Returns the error that a client reports if the connection failed.
fn connection_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::Closed,
        io::ErrorKind::TimedOut => Error::TimedOut,
        _ => error.into(),
    }
}

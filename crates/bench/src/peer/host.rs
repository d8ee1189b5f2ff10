//! The other host of a run, from its name to the connection that trials take turns with.

use super::connection::Connection;
use super::options::PeerOptions;
use crate::child_process::ChildProgram;
use crate::not_measured::{Interrupted, NotMeasured};
use crate::registry::MechanismEntry;
use crate::session::Session;
use furlong_model::{PeerHost, Unavailable};
use std::cell::RefCell;
use std::net::IpAddr;

/// Another host, which answers.
#[derive(Debug)]
pub struct Peer {
    options: PeerOptions,
    listen_at: IpAddr,
    host: PeerHost,
    /// `None` while a trial has it, and after one that did not end well.
    connection: RefCell<Option<Connection>>,
    /// The surroundings of the command. Its janitor ends the command if this process dies. It is dropped after the connection.
    surroundings: Session,
}

/// Why there is no such host.
#[derive(Debug, Clone, PartialEq)]
pub enum NoPeer {
    /// It does not answer as it should.
    Unreachable(Unavailable),
    /// Nothing says at which address its responders are to listen.
    NoAddress,
    /// A signal asked this process to end before the host had answered.
    Interrupted(Interrupted),
}

impl Peer {
    /// Goes there, and asks what it is. Signals that ask this process to end are requests from now on; the session of the run takes
    /// those that come later.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn connect(options: PeerOptions, program: ChildProgram) -> Result<Peer, NoPeer> {
        let unreachable = |detail: String| {
            let remedy = "a shell there must be had without a question: see that the command does what it should by hand";
            let reason = format!("{} is not reached: {detail}", options.address);
            NoPeer::Unreachable(Unavailable::new(reason, remedy))
        };
        let surroundings = Session::for_peer(program).map_err(|error| unreachable(error.to_string()))?;
        let opened = Connection::open(&options, surroundings.name(), &surroundings);
        let connection = opened.map_err(|why| match why {
            NotMeasured::Interrupted(interrupted) => NoPeer::Interrupted(interrupted),
            why => unreachable(why.reason()),
        })?;
        let listen_at = options.listen_at.or(connection.reached_at).ok_or(NoPeer::NoAddress)?;
        let host = PeerHost {
            peer: options.address.to_string(),
            address: listen_at.to_string(),
            machine: connection.machine.clone(),
        };
        Ok(Peer { options, listen_at, host, connection: RefCell::new(Some(connection)), surroundings })
    }

    /// What is recorded of it.
    pub fn host(&self) -> &PeerHost {
        &self.host
    }

    /// At which address responders listen there.
    pub(crate) fn listen_at(&self) -> IpAddr {
        self.listen_at
    }

    /// The connection, made again after a trial that has taken it and did not end well, and where its command has ended since.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn take(&self, session: &Session) -> Result<Connection, NotMeasured> {
        let mut kept = self.connection.take();
        if kept.as_mut().is_some_and(Connection::has_ended) {
            kept = None;
        }
        match kept {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.options, self.surroundings.name(), session),
        }
    }

    /// Takes it back from a trial after which nothing is under way on it.
    pub(crate) fn give_back(&self, connection: Connection) {
        self.connection.replace(Some(connection));
    }

    /// Why this cannot be measured with the responder on another host, of which there may be none, if it cannot.
    pub(crate) fn refusal(entry: &MechanismEntry, has_peer: bool) -> Option<Unavailable> {
        if !has_peer {
            return Some(Unavailable::new(
                "the place 'host' is another host, and none was named",
                "furlong run --peer ssh://HOST",
            ));
        }
        if entry.reaches_other_hosts() {
            return None;
        }
        let name = entry.capabilities.name;
        Some(Unavailable::new(
            format!("both programs of {name} are started on one host"),
            "ask for a row that furlong has itself and that reaches any host in the network",
        ))
    }
}

//! The other host of a run, from its address to the connection that the trials use in turn.

use super::connection::Connection;
use super::options::PeerOptions;
use crate::child_process::ChildProgram;
use crate::not_measured::{InterruptedTrial, NotMeasured};
use crate::registry::MechanismEntry;
use crate::session::Session;
use furlong_model::{PeerHost, Unavailable};
use std::cell::RefCell;
use std::net::IpAddr;

/// Another host, which has answered.
#[derive(Debug)]
pub struct Peer {
    options: PeerOptions,
    listen_at: IpAddr,
    host: PeerHost,
    /// The connection; `None` while a trial uses it, and after a trial that did not end well.
    connection: RefCell<Option<Connection>>,
    /// The session of the command. Its cleanup process ends the command if this process dies. The field is dropped
    /// after the connection.
    surroundings: Session,
}

/// The reason why a host cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub enum NoPeer {
    /// The host does not answer as expected.
    Unreachable(Unavailable),
    /// The address at which its responders listen is unknown.
    NoAddress,
    /// A signal requested the end of this process before the host had answered.
    Interrupted(InterruptedTrial),
}

impl Peer {
    /// Connects to the host and reads its description. From now on, signals that ask this process to end are recorded
    /// as requests; the session of the run handles later signals.
    ///
    /// # Errors
    /// Returns `Unreachable` if the host does not answer as expected, and `NoAddress` if the address of its responders
    /// is unknown. Returns `InterruptedTrial` if a signal requested the end of this process.
    pub fn connect(options: PeerOptions, program: ChildProgram) -> Result<Peer, NoPeer> {
        let unreachable = |detail: String| {
            let remedy = "check by hand that the command opens a shell there without a prompt, as in ssh -o \
                          BatchMode=yes HOST sh";
            let reason = format!("cannot reach {}: {detail}", options.address);
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

    /// Returns the description of the host that is saved with the run.
    pub fn host(&self) -> &PeerHost {
        &self.host
    }

    /// Returns the address at which its responders listen.
    pub(crate) fn listen_at(&self) -> IpAddr {
        self.listen_at
    }

    /// Returns the connection. Connects again if a trial that used the connection did not end well, or if its command
    /// has ended.
    ///
    /// # Errors
    /// Returns a failure if the host does not answer as expected.
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

    /// Puts the connection back after a trial that has no request in flight.
    pub(crate) fn give_back(&self, connection: Connection) {
        self.connection.replace(Some(connection));
    }

    /// Returns why the benchmark cannot run with its responder on another host, or `None`. `has_peer` is whether the
    /// user has named another host.
    pub(crate) fn refusal(entry: &MechanismEntry, has_peer: bool) -> Option<Unavailable> {
        if !has_peer {
            return Some(Unavailable::new(
                "the place 'host' is another host, but none was named",
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

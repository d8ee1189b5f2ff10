//! The connection to the agent on the other host: furlong of the same version, which creates the responders' ends
//! there.

use super::options::PeerOptions;
use super::pipe::Pipe;
use super::protocol::{Reply, Request};
use super::script::{MARK, script, told};
use super::start::start;
use crate::not_measured::{NotMeasured, not_started};
use crate::registry::MechanismEntry;
use crate::session::Session;
use crate::started_program::shortened;
use furlong_mechanism::{Link, LinkSpecification, new_secret, noted_by_responder};
use furlong_model::{Failure, Machine, Phase, Wait, impossible_figure};
use furlong_os::{AsHandle, RawHandle, process};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// The number of lines that shells and their start-up files may print before the answer to the script.
const LINES_BEFORE: usize = 100;

/// A connection with an agent that has answered.
#[derive(Debug)]
pub(crate) struct Connection {
    pipe: Pipe,
    patience: Duration,
    /// The description of the other host.
    pub(super) machine: Machine,
    /// The address of the other host that ssh has connected to.
    pub(super) reached_at: Option<IpAddr>,
}

impl Connection {
    /// Starts the command, and an agent on the other host. The agent is the furlong that is installed there, if it has
    /// the same version, and otherwise a temporary copy of this program. All processes of the command have the name
    /// `run` in their environment.
    ///
    /// # Errors
    /// Returns a failure if the other host does not answer, or answers something unexpected.
    pub(super) fn open(
        options: &PeerOptions,
        run: &str,
        session: &Session,
    ) -> Result<Connection, NotMeasured> {
        let PeerOptions { patience, version, .. } = options;
        let mut pipe = start(options, run)?;
        pipe.send(script(options.lease).as_bytes(), *patience, session)?;
        let there = first_answer(&mut pipe, *patience, session)?;
        if there.furlong != *version {
            copy(&mut pipe, &there, *patience, session)?;
        }
        pipe.send(&told("use"), *patience, session)?;
        match reply(&mut pipe, *patience, session)? {
            Reply::Hello { version: theirs, machine, reached_at } if theirs == *version => {
                // The machine is saved in the run's header, and a reader rejects a run with an impossible figure.
                if let Some(figure) = impossible_figure(&machine) {
                    return Err(
                        pipe.failure(format!("the other host reported an impossible figure: {figure}"))
                    );
                }
                Ok(Connection { pipe, patience: *patience, machine: *machine, reached_at })
            }
            Reply::Hello { version: theirs, .. } => {
                let what = format!(
                    "furlong there has version {}, but this furlong has version {version}",
                    shortened(&theirs)
                );
                Err(pipe.failure(what))
            }
            other => Err(out_of_turn(&pipe, &other)),
        }
    }

    /// Creates a link whose responder's end is on the other host, at this address of it.
    ///
    /// # Errors
    /// Returns a failure if an end of the link cannot be created on either host.
    pub(crate) fn link(
        &mut self,
        entry: &MechanismEntry,
        wait: Wait,
        specification: &LinkSpecification,
        address: IpAddr,
        session: &Session,
    ) -> Result<Link, NotMeasured> {
        let creating = |error| not_started(Phase::Create, &error);
        let between = entry.built_in().map_err(creating)?.between_hosts;
        let between = between.ok_or_else(|| self.pipe.failure("both of its ends are created on one host"))?;
        let secret = new_secret().map_err(creating)?;
        let request = Request::Listen {
            mechanism: entry.capabilities.name.to_owned(),
            wait,
            specification: Box::new(specification.clone()),
            address,
            secret,
            patience_ms: self.patience.as_millis() as u64,
        };
        self.ask(&request, session)?;
        let to = match reply(&mut self.pipe, self.patience, session)? {
            // Only the port of the reply is used, because this host has chosen the address.
            Reply::Listening { address: port } => SocketAddr::new(address, port.port()),
            other => return Err(out_of_turn(&self.pipe, &other)),
        };
        let entered = (between.enter)(to, &secret, Instant::now() + self.patience, specification);
        let link = entered.map_err(|error| {
            let what = format!("the responder listens at {to}, but cannot be reached from here: {error}");
            self.pipe.failure(what)
        })?;
        match reply(&mut self.pipe, self.patience, session)? {
            Reply::Connected { rooms, effective } => {
                let mut link = link.with_rooms_of_other_end(rooms);
                link.effective.extend(noted_by_responder(effective));
                Ok(link)
            }
            other => Err(out_of_turn(&self.pipe, &other)),
        }
    }

    /// Sends a request.
    fn ask(&self, request: &Request, session: &Session) -> Result<(), NotMeasured> {
        let mut line = serde_json::to_vec(request).map_err(|error| self.pipe.failure(error.to_string()))?;
        line.push(b'\n');
        self.pipe.send(&line, self.patience, session)
    }

    /// Returns whether the command of the connection has ended between two trials.
    pub(super) fn has_ended(&mut self) -> bool {
        self.pipe.program.child.wait_at_most(0).is_some()
    }

    /// Returns the handles for requests and for replies, which another process inherits.
    pub(crate) fn raw_handles(&self) -> Option<[RawHandle; 2]> {
        Some([self.pipe.requests.as_ref()?.raw_handle(), self.pipe.program.lines().raw_handle()])
    }

    /// Adds the output of the command to a failure, if the command has ended.
    pub(crate) fn explained(&mut self, failure: Failure) -> Failure {
        const MOMENT_MS: u64 = 100;
        match self.pipe.program.child.wait_at_most(MOMENT_MS) {
            Some(exit) => {
                let what = format!("{}; the command that reaches the other host {exit}", failure.detail);
                let detail = self.pipe.program.failure(failure.phase, what).detail;
                Failure { detail, ..failure }
            }
            None => failure,
        }
    }
}

/// The answer of the shell on the other host.
struct RemoteShell {
    /// The operating system and the instruction set, as `uname` names them.
    platform: [String; 2],
    /// The version of furlong on that host; empty if it is not installed.
    furlong: String,
}

/// Returns the answer to the script. Skips the output of start-up files before it.
fn first_answer(pipe: &mut Pipe, patience: Duration, session: &Session) -> Result<RemoteShell, NotMeasured> {
    let mut first = None;
    for _ in 0..LINES_BEFORE {
        let line = pipe.line("answer of a shell", patience, session)?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut words = line.split_whitespace().map(str::to_owned);
        if words.next().as_deref() == Some(MARK) {
            let platform = [words.next().unwrap_or_default(), words.next().unwrap_or_default()];
            // The version follows the program name.
            let furlong = words.nth(1).unwrap_or_default();
            return Ok(RemoteShell { platform, furlong });
        }
        first.get_or_insert(line);
    }
    let said = shortened(&first.unwrap_or_default());
    Err(pipe.failure(format!("expected an answer of a shell there, got: {said}")))
}

/// Copies this program to the other host, in parts that fit into the pipe.
fn copy(
    pipe: &mut Pipe,
    there: &RemoteShell,
    patience: Duration,
    session: &Session,
) -> Result<(), NotMeasured> {
    let here = furlong_os::facts::machine(false);
    if there.platform != [here.system.clone(), here.architecture.clone()] {
        let [system, architecture] = &there.platform;
        let what = format!(
            "the other host does not have this version of furlong ({}), and cannot run a copy of this one, which is \
             for {} {}: that host is {} {}; install furlong there",
            if there.furlong.is_empty() { "none in its PATH" } else { &there.furlong },
            here.system,
            here.architecture,
            shortened(system),
            shortened(architecture),
        );
        return Err(pipe.failure(what));
    }
    let reading = |error| not_started(Phase::Create, &error);
    let mut program =
        process::own_program().and_then(|path| File::open(process::running_file(&path))).map_err(reading)?;
    // A line precedes each part.
    let mut part = vec![0; pipe.part_bytes.saturating_sub(64).max(1)];
    loop {
        let mut length = 0;
        while length < part.len() {
            match program.read(&mut part[length..]).map_err(reading)? {
                0 => break,
                count => length += count,
            }
        }
        if length == 0 {
            return Ok(());
        }
        pipe.send(&told(&format!("part {length}")), patience, session)?;
        pipe.send(&part[..length], patience, session)?;
        let line = pipe.line("answer to a part of the program", patience, session)?;
        if line != b"taken" {
            let said = shortened(&String::from_utf8_lossy(&line));
            return Err(pipe.failure(format!("the shell there did not accept the program: {said}")));
        }
    }
}

/// Returns the next reply.
fn reply(pipe: &mut Pipe, patience: Duration, session: &Session) -> Result<Reply, NotMeasured> {
    let line = pipe.line("reply", patience, session)?;
    let reply = serde_json::from_slice(&line).map_err(|error| {
        let said = shortened(&String::from_utf8_lossy(&line));
        pipe.failure(format!("cannot parse the reply of the other host ({error}): {said}"))
    })?;
    match reply {
        Reply::Cannot { detail } => Err(pipe.failure(format!("on the other host: {}", shortened(&detail)))),
        reply => Ok(reply),
    }
}

fn out_of_turn(pipe: &Pipe, reply: &Reply) -> NotMeasured {
    let said = serde_json::to_string(reply).unwrap_or_default();
    pipe.failure(format!("the other host sent an unexpected reply: {}", shortened(&said)))
}

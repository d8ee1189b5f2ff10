//! The connection to the other host: its other side is furlong, of the same version, and makes the responders' ends there.

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

/// What shells and their start-up files may say before they do what they are told.
const LINES_BEFORE: usize = 100;

/// A connection on which furlong answers.
#[derive(Debug)]
pub(crate) struct Connection {
    pipe: Pipe,
    patience: Duration,
    /// What the other host says of itself.
    pub(super) machine: Machine,
    /// The address by which ssh has reached it.
    pub(super) reached_at: Option<IpAddr>,
}

impl Connection {
    /// Starts the command, and furlong on the other side of it: that which is there, if it is of the same version, else a copy
    /// of this one for as long as it is needed. What the command starts has the name `run` in its environment.
    ///
    /// # Errors
    /// What did not answer, or answered something else.
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
                let what =
                    format!("furlong there is of version {}, and this is {version}", shortened(&theirs));
                Err(pipe.failure(what))
            }
            other => Err(out_of_turn(&pipe, &other)),
        }
    }

    /// Makes a link whose responder's end is on the other host, at this address of it.
    ///
    /// # Errors
    /// What could not be made, there or here.
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
        let between = between.ok_or_else(|| self.pipe.failure("its ends are made on one host"))?;
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
            // The port is theirs to say, and the address was said to them.
            Reply::Listening { address: port } => SocketAddr::new(address, port.port()),
            other => return Err(out_of_turn(&self.pipe, &other)),
        };
        let entered = (between.enter)(to, &secret, Instant::now() + self.patience, specification);
        let link = entered.map_err(|error| {
            let what = format!("the responder listens at {to}, and from here it is not reached: {error}");
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

    /// Whether the command that gives it has ended, though nothing was asked meanwhile.
    pub(super) fn has_ended(&mut self) -> bool {
        self.pipe.program.child.wait_at_most(0).is_some()
    }

    /// Where requests go in and replies come out, for a process that inherits both.
    pub(crate) fn raw_handles(&self) -> Option<[RawHandle; 2]> {
        Some([self.pipe.requests.as_ref()?.raw_handle(), self.pipe.program.lines().raw_handle()])
    }

    /// The same failure, with what the command has said if it has ended.
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

/// What the shell there has said.
struct There {
    /// System and instruction set, as `uname` names them.
    platform: [String; 2],
    /// The version of furlong there; empty if there is none.
    furlong: String,
}

/// The answer to the script, behind what start-up files may have said.
fn first_answer(pipe: &mut Pipe, patience: Duration, session: &Session) -> Result<There, NotMeasured> {
    let mut first = None;
    for _ in 0..LINES_BEFORE {
        let line = pipe.line("answer of a shell", patience, session)?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut words = line.split_whitespace().map(str::to_owned);
        if words.next().as_deref() == Some(MARK) {
            let platform = [words.next().unwrap_or_default(), words.next().unwrap_or_default()];
            // Behind its name.
            let furlong = words.nth(1).unwrap_or_default();
            return Ok(There { platform, furlong });
        }
        first.get_or_insert(line);
    }
    let said = shortened(&first.unwrap_or_default());
    Err(pipe.failure(format!("no shell answers there, but something that says: {said}")))
}

/// Copies this program there, in parts that the pipe takes at once.
fn copy(pipe: &mut Pipe, there: &There, patience: Duration, session: &Session) -> Result<(), NotMeasured> {
    let here = furlong_os::facts::machine(false);
    if there.platform != [here.system.clone(), here.architecture.clone()] {
        let [system, architecture] = &there.platform;
        let what = format!(
            "furlong of this version is not there ({}), and a copy of this one does not run there: it is for {} {}, and \
             that host is {} {}; install furlong there",
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
    // A part has a line before it.
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
            return Err(pipe.failure(format!("the shell there was sent the program, and says: {said}")));
        }
    }
}

/// The next reply.
fn reply(pipe: &mut Pipe, patience: Duration, session: &Session) -> Result<Reply, NotMeasured> {
    let line = pipe.line("reply", patience, session)?;
    let reply = serde_json::from_slice(&line).map_err(|error| {
        let said = shortened(&String::from_utf8_lossy(&line));
        pipe.failure(format!("what the other host says cannot be understood ({error}): {said}"))
    })?;
    match reply {
        Reply::Cannot { detail } => Err(pipe.failure(format!("on the other host: {}", shortened(&detail)))),
        reply => Ok(reply),
    }
}

fn out_of_turn(pipe: &Pipe, reply: &Reply) -> NotMeasured {
    let said = serde_json::to_string(reply).unwrap_or_default();
    pipe.failure(format!("the other host says something out of turn: {}", shortened(&said)))
}

//! The proxy of a responder on another host. It sends the responder's reports to the supervisor, and ends as the
//! responder did.

use super::lines::{Lines, ReadResult};
use super::protocol::{Reply, Request};
use crate::control::{Control, Report, RoleConfiguration};
use crate::started_program::shortened;
use furlong_model::{Fault, Phase};
use furlong_os::process::send_signal;
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, Handle, RawHandle, handle};
use serde::{Deserialize, Serialize};
use std::io;

/// The first message to the proxy; the configuration of the role follows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StandIn {
    /// The write end for requests to the other host.
    pub(crate) requests: RawHandle,
    /// The read end for its replies.
    pub(crate) replies: RawHandle,
    /// The socket on which the initiator announces its last messages: 8 bytes per number. The proxy replies with one
    /// byte once the responder's host knows the number.
    pub(crate) announcements: RawHandle,
}

/// Runs the proxy.
pub(crate) fn run(control: &mut Control) -> io::Result<()> {
    let Some(StandIn { requests, replies, announcements }) = control.receive()? else { return Ok(()) };
    let Some(configuration) = control.receive::<RoleConfiguration>()? else { return Ok(()) };
    let mut relay = Relay {
        requests: Control::from(handle::inherit(requests)?),
        replies: Lines::new(handle::inherit(replies)?),
        announcements: Some(handle::inherit(announcements)?),
        phase: Phase::Open,
    };
    relay.ask(&Request::Begin { configuration: Box::new(configuration) });
    let exit = loop {
        match relay.turn(control)? {
            Turn::GoOn => {}
            Turn::Done => return Ok(()),
            Turn::Ended { exit, words } => {
                eprintln!("{words}");
                break exit;
            }
        }
    };
    match exit {
        Ok(0) => Ok(()),
        Ok(code) => std::process::exit(code),
        Err(signal) => {
            send_signal(std::process::id() as i32, signal)?;
            // The signal does not end this process either.
            std::process::exit(128 + signal)
        }
    }
}

/// The result of one look at all sources.
enum Turn {
    GoOn,
    /// Nothing more needs to be forwarded.
    Done,
    /// The responder has ended.
    Ended {
        exit: Result<i32, i32>,
        words: String,
    },
}

/// The connections that the proxy forwards between.
struct Relay {
    requests: Control,
    replies: Lines,
    /// The socket of announcements; `None` once the initiator has ended.
    announcements: Option<Handle>,
    phase: Phase,
}

impl Relay {
    /// Sends a request. A closed connection is noticed when its replies are read.
    fn ask(&mut self, request: &Request) {
        let _ = self.requests.send(request);
    }

    /// Waits for a message from any side, and forwards it.
    fn turn(&mut self, control: &mut Control) -> io::Result<Turn> {
        let mut ready = [control.has_buffered(), false, false];
        if !ready[0] {
            let mut handles = vec![control.as_handle(), self.replies.as_handle()];
            handles.extend(self.announcements.as_ref().map(AsHandle::as_handle));
            let found = wait_any(&handles, u64::MAX)?;
            ready.iter_mut().zip(found).for_each(|(ready, found)| *ready = found);
        }
        if ready[2] {
            self.announce()?;
        }
        if ready[0] {
            match control.receive::<Phase>()? {
                Some(phase) => self.ask(&Request::Enter { phase }),
                // The supervisor has closed its end.
                None => return Ok(Turn::Done),
            }
        }
        if !ready[1] {
            return Ok(Turn::GoOn);
        }
        let mut line = match self.replies.read() {
            Ok(ReadResult::Line(line)) => Some(line),
            Ok(ReadResult::Nothing) => None,
            Ok(ReadResult::End) => {
                return self.give_up(control, "the connection to the other host has ended".into());
            }
            Err(error) => return self.give_up(control, format!("the connection to the other host: {error}")),
        };
        while let Some(said) = line {
            match self.pass_on(control, &said)? {
                Turn::GoOn => line = self.replies.buffered(),
                turn => return Ok(turn),
            }
        }
        Ok(Turn::GoOn)
    }

    fn announce(&mut self) -> io::Result<()> {
        let Some(announcements) = &self.announcements else { return Ok(()) };
        let mut number = [0; 8];
        if handle::read(announcements.as_handle(), &mut number)? < number.len() {
            self.announcements = None;
        } else {
            self.ask(&Request::Last { number: u64::from_le_bytes(number) });
        }
        Ok(())
    }

    fn pass_on(&mut self, control: &mut Control, line: &[u8]) -> io::Result<Turn> {
        match serde_json::from_slice(line) {
            Ok(Reply::Said { report }) => {
                if let Report::Ready { phase } = &*report {
                    self.phase = *phase;
                }
                control.send(&report)?;
                Ok(Turn::GoOn)
            }
            Ok(Reply::Known) => {
                if let Some(announcements) = &self.announcements {
                    handle::write(announcements.as_handle(), &[1])?;
                }
                Ok(Turn::GoOn)
            }
            Ok(Reply::Ended { exit, words }) => Ok(Turn::Ended { exit, words }),
            Ok(Reply::Cannot { detail }) => {
                self.give_up(control, format!("on the other host: {}", shortened(&detail)))
            }
            Ok(_) => self.give_up(control, "the other host sent an unexpected reply".to_owned()),
            Err(error) => {
                let said = shortened(&String::from_utf8_lossy(line));
                let what = format!("cannot parse the reply of the other host ({error}): {said}");
                self.give_up(control, what)
            }
        }
    }

    /// Reports that the responder's reports have ended early.
    fn give_up(&self, control: &mut Control, detail: String) -> io::Result<Turn> {
        control.send(&Report::<()>::Failed { phase: self.phase, fault: Fault::Error, detail })?;
        Ok(Turn::Done)
    }
}

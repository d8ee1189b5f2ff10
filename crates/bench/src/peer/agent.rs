//! The agent: furlong on the other host. It creates the responders' ends, starts their roles, forwards their reports,
//! and exits when its input ends.

use super::lines::{Lines, ReadResult};
use super::protocol::{Reply, Request};
use super::script::PEER_VERB;
use crate::child_process::{ChildKind, ChildProgram};
use crate::control::{Control, ControlPageEnd, End, OwnPageEnd, Report, RoleConfiguration, RoleResult};
use crate::registry::{MechanismEntry, find};
use crate::watch::RoleProcess;
use furlong_loops::control_page::ControlPage;
use furlong_mechanism::Link;
use furlong_model::Role;
use furlong_os::process::Exit;
use furlong_os::wait::{is_readable, wait_any};
use furlong_os::{AsHandle, beginning, facts};
use std::ffi::OsStr;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time that a role may take to end after it has closed its control connection, in milliseconds.
const ENDING_MS: u64 = 2_000;

/// Returns the directory and the lease of a process that was started as an agent; `None` for any other arguments.
pub fn requested() -> Option<(PathBuf, Duration)> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|verb| verb == OsStr::new(PEER_VERB))?;
    let folder = PathBuf::from(arguments.next()?);
    let seconds = arguments.next()?.to_str()?.parse().ok()?;
    arguments.next().is_none().then_some((folder, Duration::from_secs(seconds)))
}

/// Runs the agent. `version` is the version of this furlong. Returns the exit status.
pub fn main(
    mechanisms: fn() -> Vec<MechanismEntry>,
    version: &str,
    (folder, lease): (PathBuf, Duration),
) -> i32 {
    let result = beginning::settle().and_then(|()| converse(&mechanisms(), version, lease));
    // The shell removes the directory as well, but it may have been killed.
    let removed = match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    match result.and(removed) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("furlong on {}: {error}", facts::host_name().unwrap_or_default());
            1
        }
    }
}

fn converse(mechanisms: &[MechanismEntry], version: &str, lease: Duration) -> io::Result<()> {
    let mut side = Side {
        requests: Lines::new(io::stdin().as_handle().try_clone_to_owned()?),
        replies: Control::from(io::stdout().as_handle().try_clone_to_owned()?),
        lease,
    };
    let machine = Box::new(furlong_model::Machine { host: facts::host_name(), ..facts::machine(false) });
    side.reply(&Reply::Hello { version: version.to_owned(), machine, reached_at: reached_at() })?;
    let mut link = None;
    while let Some(request) = side.next()? {
        match request {
            Request::Listen { .. } => match side.listen(mechanisms, request) {
                Ok(made) => link = Some(made),
                Err(error) => side.reply(&Reply::Cannot { detail: error.to_string() })?,
            },
            Request::Begin { configuration } => match link.take() {
                Some(link) => {
                    if !side.role(*configuration, link)? {
                        return Ok(());
                    }
                }
                None => side.out_of_turn()?,
            },
            // The role of this request has just ended. The other host learns that from [`Reply::Ended`].
            Request::Enter { .. } | Request::Last { .. } => {}
        }
    }
    Ok(())
}

/// Returns the address of this host that the ssh client has connected to: the third word of `SSH_CONNECTION`.
fn reached_at() -> Option<IpAddr> {
    std::env::var("SSH_CONNECTION").ok()?.split_whitespace().nth(2)?.parse().ok()
}

/// The conversation, as the agent sees it.
struct Side {
    requests: Lines,
    replies: Control,
    lease: Duration,
}

impl Side {
    fn reply(&mut self, reply: &Reply) -> io::Result<()> {
        self.replies.send(reply)
    }

    fn out_of_turn(&mut self) -> io::Result<()> {
        self.reply(&Reply::Cannot { detail: "an unexpected request arrived".to_owned() })
    }

    /// Returns the next request; `None` if the input has ended, or if no request has arrived within the lease.
    fn next(&mut self) -> io::Result<Option<Request>> {
        let deadline = Instant::now() + self.lease;
        let mut line = self.requests.buffered();
        while line.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if !wait_any(&[self.requests.as_handle()], left.as_millis() as u64)?[0] {
                return Ok(None);
            }
            match self.requests.read()? {
                ReadResult::Line(whole) => line = Some(whole),
                ReadResult::Nothing => {}
                ReadResult::End => return Ok(None),
            }
        }
        Ok(serde_json::from_slice(&line.unwrap_or_default())?)
    }

    /// Creates the responder's end of a link.
    fn listen(&mut self, mechanisms: &[MechanismEntry], request: Request) -> io::Result<Link> {
        let Request::Listen { mechanism, wait, specification, address, secret, patience_ms } = request else {
            return Err(io::Error::other("another request was expected"));
        };
        let none = || io::Error::other(format!("{mechanism} does not reach another host"));
        let between = find(mechanisms, &mechanism, wait)
            .ok_or_else(none)?
            .built_in()?
            .between_hosts
            .ok_or_else(none)?;
        let entrance = (between.listen)(address).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot open a port at {address} (--peer-address): {error}"))
        })?;
        self.reply(&Reply::Listening { address: entrance.address()? })?;
        let deadline = Instant::now() + Duration::from_millis(patience_ms);
        let link = entrance.admit(&secret, deadline, &specification)?;
        self.reply(&Reply::Connected { rooms: link.rooms(), effective: link.effective.clone() })?;
        Ok(link)
    }

    /// Starts a role with its end of the link, and forwards its reports until it has ended. Returns whether the
    /// conversation goes on: it ends with the input, or if nothing happens within the lease.
    fn role(&mut self, configuration: RoleConfiguration, mut link: Link) -> io::Result<bool> {
        let (page, object) = ControlPage::create(2)?;
        let configuration = RoleConfiguration {
            ends: vec![End::of(Role::Responder, link.end(Role::Responder))],
            control_page: ControlPageEnd {
                descriptor: object.raw_handle(),
                own: Some(OwnPageEnd { carrier: None }),
                ..configuration.control_page
            },
            ..configuration
        };
        let mut inherit = configuration.ends[0].descriptors.clone();
        inherit.push(configuration.control_page.descriptor);
        let program = ChildProgram::own()?;
        let mut role =
            RoleProcess::<RoleResult>::fresh(configuration.party, &program, ChildKind::Role, inherit)?;
        drop(link.take_end(Role::Responder).descriptors);
        // If the role is dead already, the loop below notices its end.
        let _ = role.control.send(&configuration);
        loop {
            let handles = [self.requests.as_handle(), role.control.as_handle()];
            let ready = wait_any(&handles, self.lease.as_millis() as u64)?;
            if ready == [false, false] {
                return Ok(false);
            }
            if ready[0] && !self.heard(&mut role, &page)? {
                return Ok(false);
            }
            if ready[1] && !self.reported(&mut role)? {
                return self.ended(&mut role).map(|()| true);
            }
        }
    }

    /// Handles requests for a running role. Returns whether the conversation goes on.
    fn heard(&mut self, role: &mut RoleProcess<RoleResult>, page: &ControlPage) -> io::Result<bool> {
        let mut line = match self.requests.read()? {
            ReadResult::Line(line) => Some(line),
            ReadResult::Nothing => None,
            ReadResult::End => return Ok(false),
        };
        while let Some(asked) = line {
            match serde_json::from_slice(&asked)? {
                // If the role is dead, the caller notices its end.
                Request::Enter { phase } => drop(role.control.send(&phase)),
                Request::Last { number } => {
                    page.announce_last(number);
                    self.reply(&Reply::Known)?;
                }
                Request::Listen { .. } | Request::Begin { .. } => self.out_of_turn()?,
            }
            line = self.requests.buffered();
        }
        Ok(true)
    }

    /// Forwards the reports of a role. Returns whether more may arrive.
    fn reported(&mut self, role: &mut RoleProcess<RoleResult>) -> io::Result<bool> {
        while role.control.has_buffered() || is_readable(role.control.as_handle()) {
            match role.control.receive::<Report<RoleResult>>()? {
                Some(Report::Started) => {}
                Some(report) => self.reply(&Reply::Said { report: Box::new(report) })?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Reports how a role has ended.
    fn ended(&mut self, role: &mut RoleProcess<RoleResult>) -> io::Result<()> {
        let exit = match role.child.wait_at_most(ENDING_MS) {
            Some(Exit::Code(code)) => Ok(code),
            Some(Exit::Signal(signal)) => Err(signal),
            Some(Exit::Unknown) => Ok(1),
            None => {
                return self.reply(&Reply::Cannot { detail: "the responder does not exit".to_owned() });
            }
        };
        let words = role.captured_stderr();
        self.reply(&Reply::Ended { exit, words })
    }
}

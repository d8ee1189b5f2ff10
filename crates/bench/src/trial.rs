//! One trial: make a link, start both roles, watch them, and say what came of it.
//!
//! The supervisor sleeps while messages are measured. It wakes when a role says something, when one dies, when
//! somebody wants the run to end, or when nothing has happened for too long.

use crate::board::{Board, Progress};
use crate::control::{Control, Order, Report, Timing};
use crate::registry::Driver;
use crate::role::{self, ROLE_VERB};
use crate::session::Session;
use furlong_mechanism::Link;
use furlong_model::{Case, Failure, Fault, Measurement, Outcome, Phase, Role, RoleTally, Start, Unavailable};
use furlong_os::process::Bond;
use furlong_os::process::{Child, Exit, fork, spawn};
use furlong_os::{clock, identity, readiness, segment, signal};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How one trial is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Time for the measured leg.
    pub budget: Duration,
    /// The least time to warm up; until the pace is steady if not given.
    pub warm_up: Option<Duration>,
    /// How long nothing may happen before the trial is given up.
    pub patience: Duration,
    /// What a reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            budget: Duration::from_millis(40),
            warm_up: None,
            patience: Duration::from_secs(10),
            clock_read_ns: clock::cost_and_step_ns().0,
        }
    }
}

/// Why there is no outcome: somebody wants the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    /// By this signal.
    pub signal: i32,
}

/// How long to wait for the other role's side of a story, in milliseconds: a role whose peer was killed often
/// says first that its call failed.
const HEARING_MS: u64 = 100;

/// How often a death is looked for that nothing tells of, in milliseconds.
const POLL_MS: u64 = 1;

/// Runs one trial.
///
/// # Errors
/// [`Interrupted`], after everything that was started has ended.
pub fn run(
    drivers: &[Driver],
    driver: &Driver,
    case: &Case,
    processors: [usize; 2],
    session: &Session,
    settings: &Settings,
) -> Result<Outcome, Interrupted> {
    match Stage::set(drivers, driver, case, processors, session, settings) {
        Ok(mut stage) => stage.watch(session),
        Err((phase, error)) => Ok(not_set(phase, &error)),
    }
}

/// The outcome of a trial that did not begin. What the kernel lacks or a filter forbids is no failure.
fn not_set(phase: Phase, error: &io::Error) -> Outcome {
    let unavailable =
        |why: &str, remedy: &str| Outcome::Unavailable(Unavailable::new(format!("{why}: {error}"), remedy));
    match (phase, error.kind()) {
        (Phase::Create, io::ErrorKind::Unsupported) => unavailable("the kernel lacks it (ENOSYS)", ""),
        (Phase::Create, io::ErrorKind::PermissionDenied) => unavailable(
            "it is forbidden here (EPERM or EACCES)",
            "look at rights and, in a container, at its seccomp profile",
        ),
        _ => Outcome::Failed(Failure { phase, role: None, fault: Fault::Error, detail: error.to_string() }),
    }
}

/// A role's process, as the supervisor sees it.
struct Player {
    role: Role,
    child: Child,
    control: Control,
    stderr: OwnedFd,
    phase: Phase,
    /// It waits for the others before the phase begins.
    ready: bool,
    /// It has said that it cannot go on.
    failed: bool,
    /// It will say nothing any more.
    silent: bool,
    exit: Option<Exit>,
    done: Option<(RoleTally, u64, Option<Timing>)>,
}

/// A trial under way.
struct Stage {
    players: Vec<Player>,
    board: Board,
    effective: BTreeMap<String, u64>,
    patience: Duration,
    /// The longest time that a phase takes by itself.
    budget: Duration,
    /// Dropped last: it removes what the players use.
    _link: Link,
}

impl Stage {
    /// Makes the link and starts the roles. Says in which phase it failed, if it did.
    fn set(
        drivers: &[Driver],
        driver: &Driver,
        case: &Case,
        processors: [usize; 2],
        session: &Session,
        settings: &Settings,
    ) -> Result<Stage, (Phase, io::Error)> {
        let creating = |error| (Phase::Create, error);
        let opening = |error| (Phase::Open, error);
        let spec = session.spec(case.size_bytes, !case.wait.needs_non_blocking());
        let mut link = (driver.create)(&spec).map_err(creating)?;
        let (board, board_object) = Board::create().map_err(creating)?;
        let key = identity::random().map_err(creating)?;
        let start = driver.capabilities.start;
        let roles: &[Role] = if start == Start::Alone { &[Role::Initiator] } else { &Role::BOTH };

        let mut players = Vec::new();
        let mut orders = Vec::new();
        for &role in roles {
            let end = link.end(role);
            orders.push(Order {
                mechanism: case.mechanism.clone(),
                wait: case.wait,
                role,
                peer: 0,
                processor: processors[role.index()],
                spec: spec.clone(),
                descriptors: end.descriptors.iter().map(AsRawFd::as_raw_fd).collect(),
                numbers: end.numbers.iter().copied().collect(),
                board: board_object.as_raw_fd(),
                budget_ns: settings.budget.as_nanos() as u64,
                warm_up_ns: settings.warm_up.map(|time| time.as_nanos() as u64),
                clock_read_ns: settings.clock_read_ns,
                key,
            });
            let inherit: Vec<RawFd> =
                orders[role.index()].descriptors.iter().copied().chain([board_object.as_raw_fd()]).collect();
            players.push(start_player(drivers, role, &mut link, inherit, start, session).map_err(opening)?);
        }
        let pids: Vec<i32> = players.iter().map(|player| player.child.pid()).collect();
        for (player, mut order) in players.iter_mut().zip(orders) {
            order.peer = pids.get(player.role.peer().index()).copied().unwrap_or(pids[0]);
            // A role that is dead already is noticed by the watch, with its cause.
            let _ = player.control.say(&order);
        }
        // The roles have theirs. As long as the supervisor had them too, no end could notice that the other is
        // gone.
        for role in Role::BOTH {
            drop(link.take_end(role).descriptors);
        }
        let effective = link.effective.clone();
        let patience = settings.patience;
        let budget = settings.budget.max(settings.warm_up.unwrap_or_default());
        Ok(Stage { players, board, effective, patience, budget, _link: link })
    }

    /// Waits for both roles to finish, whatever happens.
    fn watch(&mut self, session: &Session) -> Result<Outcome, Interrupted> {
        let mut incidents: Vec<Failure> = Vec::new();
        let mut progress = self.progress();
        let mut quiet_ms = 0;
        loop {
            let timeout_ms = match incidents.is_empty() {
                true if self.polls() => POLL_MS,
                true => self.patience_ms(),
                false => HEARING_MS,
            };
            let watched = self.watched(session);
            let ready = match readiness::any_readable(&watched, timeout_ms) {
                Ok(ready) => ready,
                Err(error) => {
                    incidents.push(self.failure(None, Fault::Error, format!("poll: {error}")));
                    return Ok(self.give_up(incidents));
                }
            };
            if let Some(signal) = session.wish() {
                return Err(Interrupted { signal });
            }
            let nothing = ready.iter().all(|ready| !ready);
            let heard_out = nothing && !incidents.is_empty();
            quiet_ms = if nothing { quiet_ms + timeout_ms } else { 0 };
            if nothing && incidents.is_empty() && quiet_ms >= self.patience_ms() {
                let now = self.progress();
                if now == progress {
                    incidents.extend(self.silence());
                    return Ok(self.give_up(incidents));
                }
                (progress, quiet_ms) = (now, 0);
            }
            for index in 0..self.players.len() {
                incidents.extend(self.attend(index));
            }
            if heard_out || incidents.len() >= self.players.len() {
                return Ok(self.give_up(incidents));
            }
            if incidents.is_empty() {
                if let Some(measurement) = self.finished() {
                    return Ok(measurement);
                }
                self.let_go_on();
            }
        }
    }

    /// Whether a role is about to die of which nothing tells: without a pidfd that can only be polled for.
    fn polls(&self) -> bool {
        let unseen =
            |player: &Player| player.silent && player.exit.is_none() && player.child.death().is_none();
        self.players.iter().any(unseen)
    }

    /// How long nothing may happen from now on.
    fn patience_ms(&self) -> u64 {
        let measuring = self.players.iter().any(|player| player.phase >= Phase::WarmUp);
        let budget = if measuring { self.budget } else { Duration::ZERO };
        (self.patience + budget).as_millis() as u64
    }

    /// What to watch: each role's words and death, and the wish that the run ends.
    fn watched(&self, session: &Session) -> Vec<RawFd> {
        let mut watched: Vec<RawFd> = Vec::new();
        for player in self.players.iter().filter(|player| player.exit.is_none()) {
            if !player.silent {
                watched.push(player.control.number());
            }
            watched.extend(player.child.death().map(|descriptor| descriptor.as_raw_fd()));
        }
        watched.extend(session.wish_descriptor());
        watched
    }

    fn progress(&self) -> [Progress; 2] {
        Role::BOTH.map(|role| self.board.progress(role))
    }

    /// Hears what a role says and notices its death.
    fn attend(&mut self, index: usize) -> Option<Failure> {
        let player = &mut self.players[index];
        while player.can_be_heard() {
            match player.control.hear::<Report>() {
                Ok(Some(Report::Ready { phase })) => (player.phase, player.ready) = (phase, true),
                Ok(Some(Report::Done { tally, verified_messages, timing })) => {
                    player.phase = Phase::Finish;
                    player.done = Some((tally, verified_messages, timing));
                }
                Ok(Some(Report::Failed { phase, fault, detail })) => {
                    (player.phase, player.failed) = (phase, true);
                    return Some(Failure { phase, role: Some(player.role), fault, detail });
                }
                Ok(None) => player.silent = true,
                Err(error) => {
                    (player.silent, player.failed) = (true, true);
                    let detail = format!("what it says cannot be understood: {error}");
                    return Some(Failure {
                        phase: player.phase,
                        role: Some(player.role),
                        fault: Fault::Error,
                        detail,
                    });
                }
            }
        }
        if player.exit.is_none() {
            player.exit = player.child.try_wait();
            let exit = player.exit?;
            return (player.done.is_none() && !player.failed).then(|| player.obituary(exit));
        }
        None
    }

    /// Lets the roles begin the next phase once all are ready for it.
    fn let_go_on(&mut self) {
        if self.players.iter().all(|player| player.ready) {
            for player in &mut self.players {
                player.ready = false;
                // One that died in between is noticed by the watch.
                let _ = player.control.say(&player.phase);
            }
        }
    }

    /// The outcome, once both roles are done and gone.
    fn finished(&mut self) -> Option<Outcome> {
        if !self.players.iter().all(|player| player.done.is_some() && player.exit.is_some()) {
            return None;
        }
        let mut roles = Vec::new();
        let (mut verified_messages, mut timed) = (0, None);
        for player in &mut self.players {
            let (tally, verified, timing) = player.done.take()?;
            roles.push(tally);
            verified_messages += verified;
            timed = timed.or(timing);
        }
        let Timing { round_trips, elapsed_ns, round_trips_per_sample, histogram } = timed?;
        Some(Outcome::Measured(Measurement {
            round_trips,
            elapsed_ns,
            round_trips_per_sample,
            histogram,
            late_sends: 0,
            verified_messages,
            effective: std::mem::take(&mut self.effective),
            roles,
        }))
    }

    /// Why nothing has happened for so long.
    fn silence(&mut self) -> Vec<Failure> {
        let patience = self.patience;
        let stopped: Vec<Failure> = self
            .players
            .iter()
            .filter(|player| player.child.is_stopped())
            .map(|player| {
                let detail = format!("stopped by a signal (state T), nothing came from it for {patience:?}");
                Failure { phase: player.phase, role: Some(player.role), fault: Fault::Stopped, detail }
            })
            .collect();
        if !stopped.is_empty() {
            return stopped;
        }
        let phase = self.failure(None, Fault::Silent, String::new()).phase;
        if self.players.len() == 2 && matches!(phase, Phase::WarmUp | Phase::Timed) {
            // Here only the responder keeps count: for the initiator that would be work in the measured loop.
            let done = self.board.progress(Role::Responder).sent;
            let detail = format!(
                "nothing has happened for {patience:?} after round trip {done}: a message was lost or a role hangs"
            );
            return vec![self.failure(None, Fault::Lost, detail)];
        }
        for role in Role::BOTH {
            let (sent, received) =
                (self.board.progress(role).sent, self.board.progress(role.peer()).received);
            // Whoever has come to the end has received all.
            let receives = |player: &Player| player.role == role.peer() && player.phase < Phase::Finish;
            if self.players.len() == 2 && self.players.iter().any(receives) && sent > received {
                let detail =
                    format!("message {sent} of the {role} was sent and has not arrived after {patience:?}");
                return vec![self.failure(Some(role.peer()), Fault::Lost, detail)];
            }
        }
        self.players
            .iter()
            .filter(|player| !player.ready && player.done.is_none())
            .map(|player| {
                let detail = format!("alive, but nothing came from it for {patience:?}");
                Failure { phase: player.phase, role: Some(player.role), fault: Fault::Silent, detail }
            })
            .collect()
    }

    fn failure(&self, role: Option<Role>, fault: Fault, detail: String) -> Failure {
        let phase = self.players.iter().map(|player| player.phase).min().unwrap_or(Phase::Open);
        Failure { phase, role, fault, detail }
    }

    /// Ends both roles and names the cause: a death explains an error, and not the other way round.
    fn give_up(&mut self, mut incidents: Vec<Failure>) -> Outcome {
        for player in &mut self.players {
            player.child.kill();
            player.child.wait();
        }
        incidents.sort_by_key(|incident| match incident.fault {
            Fault::Killed => 0,
            Fault::Exited => 1,
            Fault::Stopped => 2,
            fault if fault.is_corruption() => 3,
            Fault::Error => 4,
            _ => 5,
        });
        let fallback = self.failure(None, Fault::Silent, "nothing happened, and no role says why".to_owned());
        Outcome::Failed(incidents.into_iter().next().unwrap_or(fallback))
    }
}

impl Player {
    /// Whether something it said can be heard without waiting.
    fn can_be_heard(&self) -> bool {
        !self.silent
            && (self.control.has_buffered()
                || readiness::any_readable(&[self.control.number()], 0).is_ok_and(|ready| ready[0]))
    }

    /// How it died, with its last words.
    fn obituary(&mut self, exit: Exit) -> Failure {
        let (fault, mut detail) = match exit {
            Exit::Signal(number) => (Fault::Killed, format!("killed by {}", signal::name(number))),
            Exit::Code(code) => (Fault::Exited, format!("left too early with exit code {code}")),
        };
        let words = self.last_words();
        if !words.is_empty() {
            detail = format!("{detail}; it said: {words}");
        }
        Failure { phase: self.phase, role: Some(self.role), fault, detail }
    }

    /// The first two lines that it wrote to its standard error: where and why a panic was.
    fn last_words(&self) -> String {
        const MOST: u64 = 4096;
        let mut words = String::new();
        if let Ok(descriptor) = self.stderr.try_clone() {
            let mut file = File::from(descriptor);
            // Unreadable words are as good as none.
            let _ = file.rewind().and_then(|()| file.take(MOST).read_to_string(&mut words));
        }
        let words = words.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        words.lines().take(2).collect::<Vec<_>>().join(" ")
    }
}

/// Starts one role: afresh from furlong's own binary, or forked where memory must be inherited.
fn start_player(
    drivers: &[Driver],
    role: Role,
    link: &mut Link,
    mut inherit: Vec<RawFd>,
    start: Start,
    session: &Session,
) -> io::Result<Player> {
    let (control, theirs): (Control, UnixStream) = Control::pair()?;
    let stderr = segment::memfd("furlong-stderr", 1)?;
    let number = theirs.as_raw_fd();
    inherit.push(number);
    let child = match start {
        Start::Forked => fork(&inherit, stderr.as_fd(), Bond::DiesWithParent, || {
            role::forked(number, drivers, link.take_end(role))
        }),
        Start::Fresh | Start::Alone => {
            spawn(session.program(), &[ROLE_VERB, &number.to_string()], &inherit, stderr.as_fd())
        }
    }?;
    Ok(Player {
        role,
        child,
        control,
        stderr,
        phase: Phase::Open,
        ready: false,
        failed: false,
        silent: false,
        exit: None,
        done: None,
    })
}

//! The supervisor's side of a trial under way.
//!
//! It sleeps while messages are measured. It wakes when a role says something, when one dies, when somebody wants the
//! run to end, or when nothing has happened for too long.

use super::player::{Player, start_player};
use super::{Interrupted, Observer, Scene, Settings};
use crate::board::{Board, Progress};
use crate::control::{AskOrder, End, Order, Timing};
use crate::registry::Driver;
use crate::session::Session;
use furlong_mechanism::{Link, Spec};
use furlong_model::{
    Capabilities, Case, Failure, Fault, Measurement, Outcome, Pattern, Phase, Placement, Role, Start, Wait,
};
use furlong_os::{clock, identity, readiness};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// How long to wait for the other role's side of a story, in milliseconds: a role whose peer was killed often
/// says first that its call failed.
const HEARING_MS: u64 = 100;

/// How long to look again before nothing is taken for silence, in milliseconds: where the whole machine stood still,
/// time has run out for all, and the roles need a moment to show that they are alive.
const SECOND_LOOK_MS: u64 = 300;

/// How often a death is looked for that nothing tells of, in milliseconds.
const POLL_MS: u64 = 1;

/// A trial under way.
pub(super) struct Stage {
    players: Vec<Player>,
    board: Board,
    effective: BTreeMap<String, u64>,
    patience: Duration,
    /// The longest time that a phase takes by itself.
    budget: Duration,
    /// What is counted: round trips, or messages one way.
    unit: &'static str,
    /// Dropped last: it removes what the players use.
    _links: (Link, Option<AskLink>),
}

/// Messages that may be under way where they go one way, as far as a mechanism has a say: what a POSIX queue holds
/// unless it is told otherwise (fs.mqueue.msg_default).
const STREAM_DEPTH: usize = 10;

/// What carries requests, where that is another mechanism than the one that carries answers.
struct AskLink {
    mechanism: String,
    wait: Wait,
    spec: Spec,
    link: Link,
}

impl AskLink {
    fn create(driver: &Driver, case: &Case, session: &Session) -> io::Result<AskLink> {
        let size_bytes = case.ask.as_ref().map_or(1, |ask| ask.size_bytes);
        let spec = session.spec([size_bytes, 1], true);
        let link = (driver.create)(&spec)?;
        let Capabilities { name, waits, .. } = *driver.capabilities;
        Ok(AskLink { mechanism: name.to_owned(), wait: waits[0], spec, link })
    }

    fn order(&self, role: Role) -> AskOrder {
        let end = end_of(&self.link, role);
        AskOrder { mechanism: self.mechanism.clone(), wait: self.wait, spec: self.spec.clone(), end }
    }
}

impl Stage {
    /// Makes the link and starts the roles. Says in which phase it failed, if it did.
    pub(super) fn set(scene: &Scene<'_>, settings: &Settings) -> Result<Stage, (Phase, io::Error)> {
        let Scene { drivers, driver, case, processors, session, .. } = *scene;
        let creating = |error| (Phase::Create, error);
        let opening = |error| (Phase::Open, error);
        let alone = driver.capabilities.start == Start::Alone;
        let one_process = case.placement == Placement::OneProcess;
        let depth = if case.pattern == Pattern::OneWay { STREAM_DEPTH } else { 1 };
        let sizes_bytes = case.sizes_bytes();
        let spec = Spec {
            depth,
            buffer_bytes: case.buffer_bytes,
            ..session.spec(sizes_bytes, waits_inside(driver, case))
        };
        let mut link = (driver.create)(&spec).map_err(creating)?;
        let mut ask =
            scene.asker.map(|driver| AskLink::create(driver, case, session)).transpose().map_err(creating)?;
        let (board, board_object) = Board::create().map_err(creating)?;
        let key = identity::random().map_err(creating)?;
        let start = driver.capabilities.start;
        let roles: &[Role] = if alone || one_process { &[Role::Initiator] } else { &Role::BOTH };

        let mut players = Vec::new();
        let mut orders = Vec::new();
        for &role in roles {
            let held: &[Role] = if one_process { &Role::BOTH } else { &[role] };
            let ends: Vec<End> = held.iter().map(|role| end_of(&link, *role)).collect();
            orders.push(Order {
                mechanism: case.mechanism.clone(),
                wait: case.wait,
                role,
                peer: 0,
                processor: processors[role.index()],
                pattern: case.pattern,
                sizes_bytes: ask
                    .as_ref()
                    .map_or(sizes_bytes, |ask| [ask.spec.sizes_bytes[0], case.size_bytes]),
                spec: spec.clone(),
                ends,
                ask: ask.as_ref().map(|ask| ask.order(role)),
                board: board_object.as_raw_fd(),
                budget_ns: settings.budget.as_nanos() as u64,
                pace: case.pace,
                warm_up_ns: settings.warm_up.map(|time| time.as_nanos() as u64),
                clock_read_ns: settings.clock_read_ns,
                most_round_trips: settings.most_round_trips,
                key,
            });
            let order = &orders[role.index()];
            let ends = order.ends.iter().chain(order.ask.iter().map(|ask| &ask.end));
            let descriptors = ends.flat_map(|end| end.descriptors.iter().copied());
            let inherit: Vec<RawFd> = descriptors.chain([board_object.as_raw_fd()]).collect();
            players.push(start_player(drivers, held, &mut link, inherit, start, session).map_err(opening)?);
        }
        let pids: Vec<i32> = players.iter().map(|player| player.child.pid()).collect();
        for (player, mut order) in players.iter_mut().zip(orders) {
            order.peer = pids.get(player.role.peer().index()).copied().unwrap_or(pids[0]);
            // A role that is dead already is noticed by the watch, with its cause.
            let _ = player.control.say(&order);
        }
        // The roles have theirs. As long as the supervisor had them too, no end could notice that the other is
        // gone.
        let mut effective = link.effective.clone();
        for role in Role::BOTH {
            drop(link.take_end(role).descriptors);
            drop(ask.as_mut().map(|ask| ask.link.take_end(role).descriptors));
        }
        if let Some(ask) = &ask {
            effective.extend(ask.link.effective.iter().map(|(name, value)| (format!("ask-{name}"), *value)));
        }
        let patience = settings.patience + Duration::from_nanos(case.pace.pause_ns());
        // Where a number of messages ends the leg, nobody knows how long it takes: its progress is what counts.
        let budget = if settings.most_round_trips.is_some() { Duration::ZERO } else { settings.budget };
        let budget = budget.max(settings.warm_up.unwrap_or_default());
        let unit = if case.pattern == Pattern::OneWay { "message" } else { "round trip" };
        Ok(Stage { players, board, effective, patience, budget, unit, _links: (link, ask) })
    }

    /// Waits for both roles to finish, whatever happens.
    pub(super) fn watch(
        &mut self,
        session: &Session,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Interrupted> {
        let mut incidents: Vec<Failure> = Vec::new();
        let (mut progress, mut heard_ns) = (self.progress(), clock::now_ns());
        // When patience had run out and nothing had changed.
        let mut doubted_ns: Option<u64> = None;
        loop {
            let watched = self.watched(session);
            let observed = if incidents.is_empty() { observer.descriptors() } else { Vec::new() };
            let all: Vec<RawFd> = watched.iter().chain(&observed).copied().collect();
            let timeout_ms = match (incidents.is_empty(), doubted_ns) {
                _ if self.polls() => POLL_MS,
                (true, Some(doubted_ns)) => SECOND_LOOK_MS.saturating_sub(ms_since(doubted_ns)),
                (true, None) => self.patience_ms().saturating_sub(ms_since(heard_ns)),
                (false, _) => HEARING_MS.saturating_sub(ms_since(heard_ns)),
            };
            let ready = match readiness::any_readable(&all, timeout_ms) {
                Ok(ready) => ready,
                Err(error) => {
                    incidents.push(self.failure(None, Fault::Error, format!("poll: {error}")));
                    return Ok(self.give_up(incidents));
                }
            };
            observer.attend();
            if let Some(signal) = session.wish() {
                return Err(Interrupted { signal });
            }
            // What an observer sees is no news: a role that hangs may well make calls.
            let news = ready.iter().take(watched.len()).any(|ready| *ready);
            if news {
                (heard_ns, doubted_ns) = (clock::now_ns(), None);
            }
            let quiet_ms = ms_since(heard_ns);
            let heard_out = !news && !incidents.is_empty() && quiet_ms >= HEARING_MS;
            if !news && incidents.is_empty() && quiet_ms >= self.patience_ms() {
                let now = self.progress();
                match doubted_ns {
                    _ if now != progress => {
                        (progress, heard_ns, doubted_ns) = (now, clock::now_ns(), None);
                    }
                    None => doubted_ns = Some(clock::now_ns()),
                    Some(doubted_ns) if ms_since(doubted_ns) >= SECOND_LOOK_MS => {
                        incidents.extend(self.silence(observer));
                        return Ok(self.give_up(incidents));
                    }
                    Some(_) => {}
                }
            }
            incidents.extend(self.players.iter_mut().filter_map(Player::attend));
            if heard_out || incidents.len() >= self.players.len() {
                return Ok(self.give_up(incidents));
            }
            if incidents.is_empty() {
                if let Some(measurement) = self.finished() {
                    return Ok(measurement);
                }
                self.let_go_on(observer);
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

    /// Lets the roles begin the next phase once all are ready for it.
    fn let_go_on(&mut self, observer: &mut dyn Observer) {
        if self.players.iter().all(|player| player.ready) {
            let roles: Vec<_> = self.players.iter().map(|player| (player.role, player.child.pid())).collect();
            observer.before(self.players[0].phase, &roles);
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
        let Timing { round_trips, elapsed_ns, round_trips_per_sample, late_sends, histogram } = timed?;
        Some(Outcome::Measured(Measurement {
            round_trips,
            elapsed_ns,
            round_trips_per_sample,
            histogram,
            late_sends,
            verified_messages,
            effective: std::mem::take(&mut self.effective),
            roles,
        }))
    }

    /// Why nothing has happened for so long.
    fn silence(&mut self, observer: &dyn Observer) -> Vec<Failure> {
        let patience = self.patience;
        let stopped: Vec<Failure> = self
            .players
            .iter()
            .filter(|player| player.child.is_stopped() || observer.sees_stopped(player.child.pid()))
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
                "nothing has happened for {patience:?} after {} {done}: a message was lost or a role hangs",
                self.unit,
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

/// Whether endpoints wait inside their calls. Two in one process must not, where they can do without.
fn waits_inside(driver: &Driver, case: &Case) -> bool {
    let can_do_without = || driver.capabilities.waits.iter().any(|wait| wait.needs_non_blocking());
    let must_not_wait = case.placement == Placement::OneProcess && can_do_without();
    !(case.wait.needs_non_blocking() || must_not_wait)
}

/// What a role needs to know of an end that it inherits.
fn end_of(link: &Link, role: Role) -> End {
    let handles = link.end(role);
    End {
        descriptors: handles.descriptors.iter().map(AsRawFd::as_raw_fd).collect(),
        numbers: handles.numbers.iter().copied().collect(),
    }
}

fn ms_since(start_ns: u64) -> u64 {
    (clock::now_ns() - start_ns) / 1_000_000
}

//! The supervisor's side of a trial under way: a link, two roles with their orders, and what is made of what they tell.

use super::{Interrupted, Observer, Scene, Settings};
use crate::board::Board;
use crate::control::{AskOrder, End, Exchanged, Order, Timing};
use crate::registry::Driver;
use crate::role::{self, ROLE_VERB};
use crate::session::Session;
use crate::watch::{Player, Watch};
use furlong_mechanism::{Link, Spec};
use furlong_model::{
    Capabilities, Case, Failure, Fault, Measurement, Outcome, Pattern, Phase, Placement, Role, Start, Wait,
};
use furlong_os::identity;
use furlong_os::process::{Bond, fork, spawn};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// A trial under way.
pub(super) struct Stage {
    watch: Watch<Exchanged>,
    effective: BTreeMap<String, u64>,
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
        let spec = Spec {
            depth,
            buffer_bytes: case.buffer_bytes,
            ..session.spec(case.sizes_bytes(), waits_inside(driver, case))
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
        let explain = if case.pattern == Pattern::OneWay { lost_one_way } else { lost_round_trip };
        let watch = Watch { players, board, patience, budget, explain };
        Ok(Stage { watch, effective, _links: (link, ask) })
    }

    /// Waits for both roles to finish, whatever happens.
    pub(super) fn watch(
        mut self,
        session: &Session,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Interrupted> {
        Ok(match self.watch.until_done(session, observer)? {
            Ok(told) => self.measured(told),
            Err(failure) => Outcome::Failed(failure),
        })
    }

    /// The figures of both roles, once they are done and gone.
    fn measured(self, told: Vec<Exchanged>) -> Outcome {
        let mut roles = Vec::new();
        let (mut verified_messages, mut timed) = (0, None);
        for Exchanged { tally, verified_messages: verified, timing } in told {
            roles.push(tally);
            verified_messages += verified;
            timed = timed.or(timing);
        }
        let Some(timing) = timed else {
            let detail = "no role has told of its times".to_owned();
            return Outcome::Failed(Failure {
                phase: Phase::Finish,
                role: None,
                fault: Fault::Error,
                detail,
            });
        };
        let Timing { round_trips, elapsed_ns, round_trips_per_sample, late_sends, histogram } = timing;
        Outcome::Measured(Measurement {
            round_trips,
            elapsed_ns,
            round_trips_per_sample,
            histogram,
            late_sends,
            verified_messages,
            effective: self.effective,
            roles,
        })
    }
}

/// The message of a stream that was lost, if one was.
fn lost_one_way(watch: &Watch<Exchanged>) -> Option<Failure> {
    lost_message(watch, "message")
}

/// The message of a round trip that was lost, if one was.
fn lost_round_trip(watch: &Watch<Exchanged>) -> Option<Failure> {
    lost_message(watch, "round trip")
}

/// The message that was lost, if one was: what the roles have noted tells.
fn lost_message(watch: &Watch<Exchanged>, unit: &str) -> Option<Failure> {
    let Watch { players, board, patience, .. } = watch;
    if players.len() != 2 {
        return None;
    }
    if matches!(watch.phase(), Phase::WarmUp | Phase::Timed) {
        // Here only the responder keeps count: for the initiator that would be work in the measured loop.
        let done = board.progress(Role::Responder).sent;
        let detail = format!(
            "nothing has happened for {patience:?} after {unit} {done}: a message was lost or a role hangs"
        );
        return Some(watch.failure(None, Fault::Lost, detail));
    }
    Role::BOTH.into_iter().find_map(|role| {
        let (sent, received) = (board.progress(role).sent, board.progress(role.peer()).received);
        // Whoever has come to the end has received all.
        let receives =
            |player: &Player<Exchanged>| player.role == role.peer() && player.phase < Phase::Finish;
        (players.iter().any(receives) && sent > received).then(|| {
            let detail =
                format!("message {sent} of the {role} was sent and has not arrived after {patience:?}");
            watch.failure(Some(role.peer()), Fault::Lost, detail)
        })
    })
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

/// Starts the process that holds these ends, the first of which is its role: afresh from furlong's own binary, or
/// forked where memory must be inherited.
fn start_player(
    drivers: &[Driver],
    held: &[Role],
    link: &mut Link,
    mut inherit: Vec<RawFd>,
    start: Start,
    session: &Session,
) -> io::Result<Player<Exchanged>> {
    Player::start(held[0], |control, stderr| {
        inherit.push(control);
        match start {
            Start::Forked => fork(&inherit, stderr, Bond::DiesWithParent, || {
                role::forked(control, drivers, held.iter().map(|role| link.take_end(*role)).collect())
            }),
            Start::Fresh | Start::Alone => {
                spawn(session.program(), &[ROLE_VERB, &control.to_string()], &inherit, stderr)
            }
        }
    })
}

//! An exchange of messages: a link, two roles with their configurations, and the figures that they report.

use super::context::{Claims, Settings, Span, TrialContext, Work};
use crate::adapter::{self, Adapter};
use crate::child_process::ChildKind;
use crate::control::{End, RequestConfiguration, RoleConfiguration, RoleResult, Timing};
use crate::control_page::ControlPage;
use crate::not_measured::{NotMeasured, not_started};
use crate::registry::MechanismEntry;
use crate::role;
use crate::session::Session;
use crate::watch::{Observer, RoleProcess, Watch};
use furlong_mechanism::{Link, LinkSpecification};
use furlong_model::{
    AdapterFacts, Capabilities, Case, Count, Depth, Direction, Failure, Fault, Measurement, Pattern, Phase,
    Placement, Record, Role, RoleTally, Room, Start, Trial, Wait,
};
use furlong_os::{AsHandle, RawHandle, identity};
use furlong_stats::Distribution;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The work of roles that exchange messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageExchange<'a> {
    /// All mechanisms, for roles that are forked.
    pub mechanisms: &'a [MechanismEntry],
    /// The one that is tried.
    pub entry: &'a MechanismEntry,
    /// What carries requests, where that is another mechanism.
    pub request_carrier: Option<&'a MechanismEntry>,
    /// In which way.
    pub case: &'a Case,
}

/// Round trips whose system calls are counted.
const TRACED_ROUND_TRIPS: u64 = 500;

impl Work for MessageExchange<'_> {
    type Case = Case;
    type Measurement = Measurement;
    /// The measured leg, at both ends of which a role asks for its usage.
    const COUNTED: Span = Span { begin: Phase::Timed, end: Phase::Finish, marks: 2 };

    fn case(&self) -> &Case {
        self.case
    }

    fn is_traceable(&self) -> bool {
        self.entry.with_own_loop().is_none()
    }

    fn is_ranked_with(&self, other: &Self) -> bool {
        let notifies = |work: &Self| work.entry.capabilities.notifies_only();
        match (notifies(self), notifies(other)) {
            // Notifications carry what they carry.
            (true, true) => {
                let case = Case { size_bytes: other.case.size_bytes, ..self.case.clone() };
                case.is_ranked_with(other.case)
            }
            (false, false) => self.case.is_ranked_with(other.case),
            _ => false,
        }
    }

    fn claims(&self) -> Claims {
        let capabilities = self.entry.capabilities;
        Claims {
            family: Some(capabilities.family),
            copies: Some(capabilities.copies),
            calls: capabilities.declared_in(self.case),
        }
    }

    fn measure(
        context: &TrialContext<'_, Self>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Measurement, NotMeasured> {
        if let Some(adapter) = context.work.entry.with_own_loop() {
            let TrialContext { work, processors, session } = context;
            return adapter::measure(adapter, work.case, *processors, session, settings, observer);
        }
        let mut running = RunningTrial::start(context, settings)?;
        let reported = running.watch.until_done(context.session, observer)?;
        Ok(running.measured(reported)?)
    }

    /// As many round trips as are traced take longer than others, by how much nobody knows.
    fn counted_settings(settings: &Settings) -> (Settings, Settings) {
        let untraced = Settings {
            budget: Duration::from_millis(20),
            warm_up: Some(Duration::from_millis(2)),
            ..*settings
        };
        let traced = Settings {
            budget: Duration::from_millis(250),
            warm_up: Some(Duration::from_micros(100)),
            most_round_trips: Some(TRACED_ROUND_TRIPS),
            ..untraced
        };
        (untraced, traced)
    }

    fn median_ns(measurement: &Measurement) -> Option<f64> {
        Distribution::decode(&measurement.histogram).ok().map(|times| times.median_ns())
    }

    fn tallies(measurement: &Measurement) -> &[RoleTally] {
        &measurement.roles
    }

    fn trial_record(trial: Trial) -> Record {
        Record::Trial(trial)
    }

    fn count_record(count: Count) -> Record {
        Record::Count(count)
    }
}

/// A trial under way.
struct RunningTrial {
    watch: Watch<RoleResult>,
    effective: BTreeMap<String, u64>,
    depth: [Depth; 2],
    adapter: Option<AdapterFacts>,
    /// Dropped last: it removes what the processes use.
    _links: (Link, Option<RequestLink>),
}

/// Messages that may be under way where they go one way, as far as a mechanism has a say: what a POSIX queue holds
/// unless it is told otherwise (fs.mqueue.msg_default).
const STREAM_DEPTH: usize = 10;

/// What carries requests, where that is another mechanism than the one that carries answers.
struct RequestLink {
    mechanism: String,
    wait: Wait,
    specification: LinkSpecification,
    link: Link,
}

impl RequestLink {
    fn create(entry: &MechanismEntry, case: &Case, session: &Session) -> io::Result<RequestLink> {
        let size_bytes = case.request.as_ref().map_or(1, |request| request.size_bytes);
        let depth = case.window.get() as usize;
        let specification = LinkSpecification { depth, ..session.specification(1, [size_bytes, 1], true)? };
        let link = (entry.built_in()?.create)(&specification)?;
        let Capabilities { name, waits, .. } = *entry.capabilities;
        Ok(RequestLink { mechanism: name.to_owned(), wait: waits[0], specification, link })
    }

    fn configuration(&self, role: Role) -> RequestConfiguration {
        let end = End::of(self.link.end(role));
        RequestConfiguration {
            mechanism: self.mechanism.clone(),
            wait: self.wait,
            specification: self.specification.clone(),
            end,
        }
    }
}

impl RunningTrial {
    /// Makes the link and starts the roles.
    fn start(
        context: &TrialContext<'_, MessageExchange<'_>>,
        settings: &Settings,
    ) -> Result<RunningTrial, NotMeasured> {
        let TrialContext { work, processors, session } = *context;
        let MessageExchange { entry, request_carrier, case, .. } = work;
        let creating = |error| not_started(Phase::Create, &error);
        let opening = |error| not_started(Phase::Open, &error);
        let alone = entry.capabilities.start == Start::Alone;
        let one_process = case.placement == Placement::OneProcess;
        let depth = if case.pattern == Pattern::OneWay { STREAM_DEPTH } else { case.window.get() as usize };
        let specification = LinkSpecification {
            depth,
            buffer_bytes: case.buffer_bytes,
            ..session.specification(0, case.sizes_bytes(), waits_inside(entry, case)).map_err(creating)?
        };
        let mut link = entry.create(&specification, case.wait).map_err(creating)?;
        let mut request = request_carrier
            .map(|entry| RequestLink::create(entry, case, session))
            .transpose()
            .map_err(creating)?;
        let [there_full, back_full] =
            [request_carrier.unwrap_or(entry), entry].map(|entry| entry.capabilities.when_full);
        let rooms = rooms_of(&link, request.as_ref(), case.wait);
        let ways = [(rooms[0], there_full), (rooms[1], back_full)]
            .map(|(room, when_full)| Direction { room, when_full });
        if let Some(refusal) = case.refuse_window(entry.capabilities, ways) {
            return Err(NotMeasured::Refused(refusal));
        }
        let (control_page, control_page_object) = ControlPage::create().map_err(creating)?;
        let key = identity::random().map_err(creating)?;
        let start = entry.capabilities.start;
        let roles: &[Role] = if alone || one_process { &[Role::Initiator] } else { &Role::ALL };

        let mut processes = Vec::new();
        let mut configurations = Vec::new();
        for &role in roles {
            let held: &[Role] = if one_process { &Role::ALL } else { &[role] };
            let ends: Vec<End> = held.iter().map(|role| End::of(link.end(*role))).collect();
            configurations.push(RoleConfiguration {
                mechanism: case.mechanism.clone(),
                wait: case.wait,
                role,
                peer: 0,
                processor: processors.map(|processors| processors[role.index()]),
                pattern: case.pattern,
                specification: specification.clone(),
                ends,
                request: request.as_ref().map(|request| request.configuration(role)),
                control_page: control_page_object.raw_handle(),
                budget_ns: settings.budget.as_nanos() as u64,
                arrival: case.arrival,
                window: case.window,
                warm_up_ns: settings.warm_up.map(|time| time.as_nanos() as u64),
                clock_read_ns: settings.clock_read_ns,
                most_round_trips: settings.most_round_trips,
                key,
            });
            let configuration = &configurations[role.index()];
            let ends =
                configuration.ends.iter().chain(configuration.request.iter().map(|request| &request.end));
            let descriptors = ends.flat_map(|end| end.descriptors.iter().copied());
            let inherit: Vec<RawHandle> = descriptors.chain([control_page_object.raw_handle()]).collect();
            processes.push(start_process(work, held, &mut link, inherit, start, session).map_err(opening)?);
        }
        let pids: Vec<i32> = processes.iter().map(|process| process.child.pid()).collect();
        for (process, mut configuration) in processes.iter_mut().zip(configurations) {
            configuration.peer = pids.get(process.role.peer().index()).copied().unwrap_or(pids[0]);
            // A role that is dead already is noticed by the watch, with its cause.
            let _ = process.control.send(&configuration);
        }
        // The roles have theirs. As long as the supervisor had them too, no end could notice that the other is
        // gone.
        let mut effective = link.effective.clone();
        for role in Role::ALL {
            drop(link.take_end(role).descriptors);
            drop(request.as_mut().map(|request| request.link.take_end(role).descriptors));
        }
        if let Some(request) = &request {
            effective.extend(
                request.link.effective.iter().map(|(name, value)| (format!("request-{name}"), *value)),
            );
        }
        let timeout = settings.timeout + Duration::from_nanos(case.arrival.pause_ns());
        // Where a number of messages ends the measured part, nobody knows how long it takes: its progress is what counts.
        let budget = if settings.most_round_trips.is_some() { Duration::ZERO } else { settings.budget };
        let budget = budget.max(settings.warm_up.unwrap_or_default());
        let explain = if case.pattern == Pattern::OneWay { lost_one_way } else { lost_round_trip };
        let watch = Watch { processes, control_page, timeout, budget, explain };
        Ok(RunningTrial {
            watch,
            effective,
            depth: rooms.map(|room| room.depth),
            adapter: entry.adapter().map(Adapter::facts),
            _links: (link, request),
        })
    }

    /// The figures of both roles, once they are done and gone.
    fn measured(self, reported: Vec<RoleResult>) -> Result<Measurement, Failure> {
        let mut roles = Vec::new();
        let (mut verified_messages, mut timed) = (0, None);
        for RoleResult { tally, verified_messages: verified, timing } in reported {
            roles.push(tally);
            verified_messages += verified;
            timed = timed.or(timing);
        }
        let Some(timing) = timed else {
            let detail = "no role has reported of its times".to_owned();
            return Err(Failure { phase: Phase::Finish, role: None, fault: Fault::Error, detail });
        };
        let Timing { round_trips, elapsed_ns, round_trips_per_sample, late_sends, outstanding_ns, histogram } =
            timing;
        Ok(Measurement {
            round_trips,
            elapsed_ns,
            round_trips_per_sample,
            histogram,
            late_sends,
            outstanding_ns,
            verified_messages,
            effective: self.effective,
            depth: Some(self.depth),
            roles,
            others: Vec::new(),
            adapter: self.adapter,
        })
    }
}

/// How many messages are held on the way there, which another mechanism may carry, and on the way back.
fn rooms_of(link: &Link, request: Option<&RequestLink>, wait: Wait) -> [Room; 2] {
    // Who asks first whether it may send waits already where others go on.
    let asks_first = |room: Room| match wait {
        Wait::SelectFirst => room.while_waiting.into(),
        _ => room,
    };
    let [there, back] = link.rooms().map(asks_first);
    [request.map_or(there, |request| request.link.rooms()[0]), back]
}

/// The message of a stream that was lost, if one was.
fn lost_one_way(watch: &Watch<RoleResult>) -> Option<Failure> {
    lost_message(watch, "message")
}

/// The message of a round trip that was lost, if one was.
fn lost_round_trip(watch: &Watch<RoleResult>) -> Option<Failure> {
    lost_message(watch, "round trip")
}

/// The message that was lost, if one was: found by what the roles have noted.
fn lost_message(watch: &Watch<RoleResult>, unit: &str) -> Option<Failure> {
    let Watch { processes, control_page, timeout, .. } = watch;
    if processes.len() != 2 {
        return None;
    }
    if matches!(watch.phase(), Phase::WarmUp | Phase::Timed) {
        // Here only the responder keeps count: for the initiator that would be work in the measured loop.
        let done = control_page.progress(Role::Responder).sent;
        let detail = format!(
            "nothing has happened for {timeout:?} after {unit} {done}: a message was lost or a role hangs"
        );
        return Some(watch.failure(None, Fault::Lost, detail));
    }
    Role::ALL.into_iter().find_map(|role| {
        let (sent, received) =
            (control_page.progress(role).sent, control_page.progress(role.peer()).received);
        // Whoever has come to the end has received all.
        let receives =
            |process: &RoleProcess<RoleResult>| process.role == role.peer() && process.phase < Phase::Finish;
        (processes.iter().any(receives) && sent > received).then(|| {
            let detail =
                format!("message {sent} of the {role} was sent and has not arrived after {timeout:?}");
            watch.failure(Some(role.peer()), Fault::Lost, detail)
        })
    })
}

/// Whether endpoints wait inside their calls. Two in one process must not, where they can do without.
fn waits_inside(entry: &MechanismEntry, case: &Case) -> bool {
    let can_do_without = || entry.capabilities.waits.iter().any(|wait| wait.needs_non_blocking());
    let must_not_wait = case.placement == Placement::OneProcess && can_do_without();
    !(case.wait.needs_non_blocking() || must_not_wait)
}

/// Starts the process that holds these ends, the first of which is its role: afresh from furlong's own binary, or
/// forked where memory must be inherited.
fn start_process(
    MessageExchange { mechanisms, entry, .. }: MessageExchange<'_>,
    held: &[Role],
    link: &mut Link,
    inherit: Vec<RawHandle>,
    start: Start,
    session: &Session,
) -> io::Result<RoleProcess<RoleResult>> {
    match start {
        Start::Forked => RoleProcess::forked(held[0], inherit, |control| {
            role::forked(control, mechanisms, held.iter().map(|role| link.take_end(*role)).collect())
        }),
        Start::Fresh | Start::Alone => {
            RoleProcess::fresh(held[0], entry.role_program(session.program()), ChildKind::Role, inherit)
        }
    }
}

//! An exchange of messages: links, roles with their configurations, and their combined figures.

use super::context::{Claims, Settings, Span, TrialContext, Work};
use super::over_one_link::{exactly_once, lost_of_several};
use super::together::together;
use crate::adapter::{self, Adapter};
use crate::child_process::ChildKind;
use crate::control::{
    Control, ControlPageEnd, End, OwnPageEnd, RequestConfiguration, RoleConfiguration, RoleResult, Timing,
};
#[cfg(target_os = "linux")]
use crate::kernel_settings;
use crate::not_measured::{NotMeasured, not_started};
use crate::own_programs;
use crate::parties::{Parties, PartySetup, broadcast_to};
#[cfg(target_os = "linux")]
use crate::peer::stand_in::StandIn;
use crate::peer::{Connection, Peer};
use crate::registry::MechanismEntry;
use crate::role;
use crate::role_boundary;
use crate::session::Session;
use crate::subsystem;
use crate::surroundings::Surroundings;
use crate::watch::{Carrier, LatestEnd, Observer, RoleProcess, Watch, supervise};
#[cfg(target_os = "linux")]
use crate::{huge_pages, role_threads};
use furlong_loops::control_page::ControlPage;
use furlong_loops::counted::PartyCounts;
use furlong_loops::shared_end::TakenMessages;
use furlong_mechanism::{Link, LinkSpecification};
use furlong_model::{
    AdapterFacts, Capabilities, Case, ChildStart, Count, DecidingFigure, Depth, Direction, Failure, Family,
    Fault, Isolation, KernelBuffer, Measurement, Overlap, Part, Party, Pattern, Phase, Placement, Record,
    Role, RoleTally, Room, Start, Trial, Unavailable, Unit, Wait,
};
#[cfg(target_os = "linux")]
use furlong_os::page_kind;
use furlong_os::{AsHandle, Handle, RawHandle, clock, handle, identity, pipe, role_conditions};
use furlong_stats::Distribution;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The work of roles that exchange messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageExchange<'a> {
    /// All mechanisms, for roles that are forked.
    pub mechanisms: &'a [MechanismEntry],
    /// The mechanism to measure.
    pub entry: &'a MechanismEntry,
    /// The mechanism that carries requests, if it is another one.
    pub request_carrier: Option<&'a MechanismEntry>,
    /// The case.
    pub case: &'a Case,
    /// The way to start a responder of another subsystem.
    pub child: ChildStart,
    /// The host of the responder, if it is another one.
    pub peer: Option<&'a Peer>,
}

/// The number of round trips whose system calls are counted.
const TRACED_ROUND_TRIPS: u64 = 500;

impl Work for MessageExchange<'_> {
    type Case = Case;
    type Measurement = Measurement;
    fn case(&self) -> &Case {
        self.case
    }

    /// Covers the measured part. A role with furlong's loop queries its usage at the start and at the end.
    fn counted(&self) -> Result<Span, &'static str> {
        let marks = if self.entry.runs_furlongs_loop() { 2 } else { 0 };
        Ok(Span { begin: Phase::Timed, end: Phase::Finish, marks })
    }

    fn is_ranked_with(&self, other: &Self) -> bool {
        let notifies = |work: &Self| work.entry.capabilities.notifies_only();
        let may_lose = |work: &Self| work.case.may_lose(work.entry.capabilities);
        if may_lose(self) != may_lose(other) {
            return false;
        }
        match (notifies(self), notifies(other)) {
            // The size of notifications does not matter, because their payload is fixed.
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
        let has_own_loop = self.entry.with_own_loop().is_some();
        // The harness overhead of a language is not a mechanism, and is not ranked as one.
        let is_mechanism = capabilities.family != Family::Floor;
        Claims {
            family: Some(if has_own_loop && is_mechanism { Family::Adapter } else { capabilities.family }),
            has_own_loop,
            copies: Some(capabilities.copies),
            calls: capabilities.declared_in(self.case),
        }
    }

    fn measure(
        context: &TrialContext<'_, Self>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Measurement, NotMeasured> {
        #[cfg(target_os = "linux")]
        let _settings = kernel_settings::set(&context.work.case.conditions, context.session)?;
        if let Some(adapter) = context.work.entry.with_own_loop() {
            let TrialContext { work, processors, session } = context;
            return adapter::measure(adapter, work.case, processors.as_deref(), session, settings, observer);
        }
        if let Some(programs) = context.work.entry.programs() {
            let TrialContext { processors, session, .. } = context;
            return own_programs::measure(programs, processors.as_deref(), session, settings, observer);
        }
        #[cfg(target_os = "linux")]
        let _raised = huge_pages::for_trial(context.work.case, context.session)?;
        let measured = RunningTrial::start(context, settings).and_then(|mut running| {
            let mut observer = running.surroundings.observer(observer);
            let reported = supervise(&mut running.watch, context.session, &mut observer);
            let work = &context.work;
            let reported = reported.map_err(|why| match running.explained(why) {
                NotMeasured::Failed(failure) => {
                    let boundary = role_boundary::explained(work.case, work.entry.capabilities, &failure);
                    boundary.map_or(NotMeasured::Failed(failure), NotMeasured::Refused)
                }
                why => why,
            })?;
            let environment = running.surroundings.in_effect()?;
            if let (Some(peer), Some(far)) = (context.work.peer, running.far.take()) {
                peer.give_back(far.connection);
            }
            Ok(Measurement { environment, ..running.measured(reported)? })
        });
        #[cfg(target_os = "linux")]
        let measured = measured.map_err(|why| huge_pages::explained(why, context.work.case));
        measured
    }

    /// Traced round trips take longer by an unknown factor, so their number ends the traced trial.
    fn counted_settings(&self, settings: &Settings) -> (Settings, Settings) {
        // Code that is not compiled yet makes other calls and uses more CPU time.
        let warm_up = |time| if self.entry.compiles_while_running() { settings.warm_up } else { Some(time) };
        let untraced = Settings {
            budget: Duration::from_millis(20),
            warm_up: warm_up(Duration::from_millis(2)),
            ..*settings
        };
        let traced = Settings {
            budget: Duration::from_millis(250),
            warm_up: warm_up(Duration::from_micros(100)),
            most_round_trips: Some(TRACED_ROUND_TRIPS * self.case.conditions.batch().unwrap_or(1) as u64),
            // Own programs do their full work, and stop at each call.
            timeout: settings.timeout * if self.entry.programs().is_some() { 5 } else { 1 },
            ..untraced
        };
        (untraced, traced)
    }

    fn deciding_ns(&self, measurement: &Measurement) -> Option<f64> {
        let times = || Distribution::decode(&measurement.histogram).ok();
        match self.case.deciding_figure() {
            DecidingFigure::Throughput => Some(measurement.each_ns()),
            DecidingFigure::Mean => times().map(|times| times.mean_ns()),
            DecidingFigure::Median => times().map(|times| times.median_ns()),
        }
    }

    fn lengthened(measurement: &Measurement) -> Option<f64> {
        Overlap::of(&measurement.parts).lengthened()
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

/// A running trial.
struct RunningTrial<'a> {
    watch: Watch<RoleResult>,
    /// Dropped after the processes, which must leave its control groups first.
    surroundings: Surroundings<'a>,
    effective: BTreeMap<String, u64>,
    depth: [Depth; 2],
    pattern: Pattern,
    adapter: Option<AdapterFacts>,
    /// The connection if the responder is on another host. It is dropped after the processes, which must end first.
    far: Option<FarSide>,
    /// Dropped last, because dropping a link removes objects that the processes use.
    _links: Vec<TrialLink>,
}

/// The number of one-way messages that may be in flight, if the mechanism can choose it. It is the default capacity of
/// a POSIX queue (fs.mqueue.msg_default).
const STREAM_DEPTH: usize = 10;

/// The least number of one-way messages that fit into a ring in shared memory, if its default size is smaller. Adapters
/// of libraries use the same number.
const RING_DEPTH: usize = 4;

/// The largest factor on the timeout of roles with a CPU quota: as for roles that get no CPU for another reason.
const PATIENCE: u32 = 5;

/// One link of a trial.
struct TrialLink {
    specification: LinkSpecification,
    link: Link,
    request: Option<RequestLink>,
}

impl TrialLink {
    /// Creates the link with this number; the pair has the number and the total number of links.
    fn create(
        MessageExchange { entry, request_carrier, case, .. }: MessageExchange<'_>,
        (number, links): (usize, usize),
        session: &Session,
        make: impl FnOnce(&LinkSpecification) -> Result<Link, NotMeasured>,
    ) -> Result<TrialLink, NotMeasured> {
        let creating = |error| not_started(Phase::Create, &error);
        let depth = match entry.capabilities.buffer {
            _ if !case.pattern().is_one_way() => case.window().get() as usize,
            KernelBuffer::Ring => RING_DEPTH,
            _ => STREAM_DEPTH,
        };
        let specification = LinkSpecification {
            depth,
            receivers: broadcast_to(case, entry.capabilities),
            buffer_bytes: case.buffer_bytes,
            access: case.access,
            conditions: case.conditions.clone(),
            ..session
                .specification(number as u32, case.sizes_bytes(), waits_inside(entry, case))
                .map_err(creating)?
        };
        let mut link = make(&specification)?;
        #[cfg(target_os = "linux")]
        if let Some(bytes) = case.conditions.pages().and_then(|kind| page_kind::unit_bytes(kind).ok()) {
            // A role whose memory has other pages fails.
            link.note("page-bytes", bytes);
        }
        if case.pattern().makes_links() {
            // The links that the role creates use this name.
            link = link.without_objects();
        }
        let request = request_carrier
            .map(|entry| RequestLink::create(entry, case, (links + number) as u32, session))
            .transpose()
            .map_err(creating)?;
        Ok(TrialLink { specification, link, request })
    }

    /// Returns the number of messages that are buffered in each direction: to the responder, for which another
    /// mechanism may carry the requests, and back.
    fn rooms(&self, wait: Wait) -> [Room; 2] {
        // An end that first asks whether it may send blocks earlier than other ends.
        let asks_first = |room: Room| match wait {
            Wait::SelectFirst => room.while_waiting.into(),
            _ => room,
        };
        let [there, back] = self.link.rooms().map(asks_first);
        [self.request.as_ref().map_or(there, |request| request.link.rooms()[0]), back]
    }

    /// Returns the values in effect.
    fn effective(&self) -> BTreeMap<String, u64> {
        let requests = self.request.iter().flat_map(|request| &request.link.effective);
        let requests = requests.map(|(name, value)| (format!("request-{name}"), *value));
        self.link.effective.clone().into_iter().chain(requests).collect()
    }

    /// Drops the descriptors that the roles have. While the supervisor has them too, neither end can notice that the
    /// other is closed.
    fn let_go(&mut self) {
        for role in Role::ALL {
            drop(self.link.take_end(role).descriptors);
            drop(self.request.as_mut().map(|request| request.link.take_end(role).descriptors));
        }
    }
}

/// The link for requests, if another mechanism carries the answers.
struct RequestLink {
    mechanism: String,
    wait: Wait,
    specification: LinkSpecification,
    link: Link,
}

impl RequestLink {
    fn create(
        entry: &MechanismEntry,
        case: &Case,
        number: u32,
        session: &Session,
    ) -> io::Result<RequestLink> {
        let size_bytes = case.exchange.request().map_or(1, |request| request.size_bytes);
        let depth = case.window().get() as usize;
        let specification =
            LinkSpecification { depth, ..session.specification(number, [size_bytes, 1], true)? };
        let link = entry.create(&specification, case)?;
        let Capabilities { name, waits, .. } = *entry.capabilities;
        Ok(RequestLink { mechanism: name.to_owned(), wait: waits[0], specification, link })
    }

    fn configuration(&self, role: Role) -> RequestConfiguration {
        RequestConfiguration {
            mechanism: self.mechanism.clone(),
            wait: self.wait,
            specification: self.specification.clone(),
            end: End::of(role, self.link.end(role)),
        }
    }
}

impl<'a> RunningTrial<'a> {
    /// Creates the links and starts the roles.
    fn start(
        context: &TrialContext<'a, MessageExchange<'_>>,
        settings: &Settings,
    ) -> Result<RunningTrial<'a>, NotMeasured> {
        let TrialContext { work, processors, session } = context;
        let MessageExchange { entry, request_carrier, case, .. } = *work;
        let began_ns = clock::now_ns();
        let creating = |error| not_started(Phase::Create, &error);
        let opening = |error| not_started(Phase::Open, &error);
        // The roles inherit the policy, so that it covers all memory from their first page on.
        let _memory = role_conditions::bind_memory(&case.conditions).map_err(creating)?;
        let parties = Parties::of(case, entry.capabilities);
        let peer = work.peer.filter(|_| case.placement == Placement::OtherHost);
        let mut far = peer.map(|peer| FarSide::new(peer, session)).transpose()?;
        let create = |number| {
            TrialLink::create(*work, (number, parties.links), session, |specification| {
                if let (Some(peer), Some(far)) = (peer, &mut far) {
                    let at = peer.listen_at();
                    return far.connection.link(entry, case.wait, specification, at, session);
                }
                entry.create(specification, case).map_err(|error| {
                    let pattern = case.pattern();
                    match (pattern.waits_for_several() || pattern.is_from_several(), number) {
                        // Similar links were created before, so the number of links exceeds a limit.
                        (true, 1..) => NotMeasured::Refused(too_many(parties.links, number, &error)),
                        _ => creating(error),
                    }
                })
            })
        };
        let mut links = (0..parties.links).map(create).collect::<Result<Vec<_>, _>>()?;
        let [there_full, back_full] =
            [request_carrier.unwrap_or(entry), entry].map(|entry| entry.capabilities.when_full);
        let rooms = links[0].rooms(case.wait);
        let ways = [(rooms[0], there_full), (rooms[1], back_full)]
            .map(|(room, when_full)| Direction { room, when_full });
        if let Some(refusal) = case.refuse_window(entry.capabilities, ways) {
            return Err(NotMeasured::Refused(refusal));
        }
        let pages = (0..parties.control_pages).map(|_| ControlPage::create(parties.lines));
        let (control_pages, page_objects): (Vec<_>, Vec<_>) =
            pages.collect::<io::Result<Vec<_>>>().map_err(creating)?.into_iter().unzip();
        let key = identity::random().map_err(creating)?;
        let surroundings = Surroundings::create(case, parties.setups.len(), processors.as_deref(), session);
        let surroundings = surroundings.map_err(creating)?;

        let mut processes = Vec::new();
        let mut configurations = Vec::new();
        let in_threads = case.conditions.isolation() == Some(Isolation::Thread);
        let mut of_all = Vec::new();
        // Each role owns its descriptor, also if the roles are threads of one process.
        let page = |setup: &PartySetup| page_objects[setup.control_page].try_clone();
        let pages = parties.setups.iter().map(page).collect::<io::Result<Vec<_>>>().map_err(creating)?;
        for (place, setup) in parties.setups.iter().enumerate() {
            let own = &links[setup.ends[0].0];
            let configuration = RoleConfiguration {
                mechanism: case.mechanism.clone(),
                wait: case.wait,
                party: setup.party,
                processor: processors.as_ref().map(|processors| processors[place]),
                conditions: case.conditions.clone(),
                exchange: case.exchange.clone(),
                specifications: setup
                    .ends
                    .iter()
                    .map(|(link, _)| links[*link].specification.clone())
                    .collect(),
                ends: setup
                    .ends
                    .iter()
                    .map(|(link, role)| End::of(*role, links[*link].link.end(*role)))
                    .collect(),
                request: own.request.as_ref().map(|request| request.configuration(setup.party.role)),
                control_page: ControlPageEnd {
                    descriptor: pages[place].raw_handle(),
                    lines: parties.lines,
                    line: setup.line,
                    own: far.as_ref().map(|far| far.page_end(setup.party.role)),
                },
                budget_ns: settings.budget.as_nanos() as u64,
                arrival: case.arrival,
                warm_up_ns: settings.warm_up.map(|time| time.as_nanos() as u64),
                clock_read_ns: settings.clock_read_ns,
                most_round_trips: settings.most_round_trips,
                key,
                replay: None,
            };
            let request = configuration.request.iter().map(|request| &request.end);
            let ends = configuration.ends.iter().chain(request);
            let descriptors = ends.flat_map(|end| end.descriptors.iter().copied());
            let carrier = configuration.control_page.own.and_then(|own| own.carrier);
            let inherit: Vec<_> =
                descriptors.chain([configuration.control_page.descriptor]).chain(carrier).collect();
            configurations.push(configuration);
            if in_threads {
                of_all.extend(inherit);
                continue;
            }
            let process = match &far {
                Some(far) if setup.party.role == Role::Responder => far.stand_in(setup.party, session),
                _ => start_process(*work, setup, &mut links, inherit, session),
            };
            let process = process.map_err(opening)?;
            surroundings.enter(place, process.child.pid()).map_err(opening)?;
            processes.push(process);
        }
        #[cfg(target_os = "linux")]
        if in_threads {
            processes = start_threads(*work, &parties, &mut links, of_all).map_err(opening)?;
        }
        // While this process has the descriptors too, neither end can notice that the other is closed.
        far.iter_mut().for_each(|far| far.announcements = None);
        let pids: Vec<i32> = processes.iter().map(|process| process.child.pid()).collect();
        for (place, mut configuration) in configurations.into_iter().enumerate() {
            let peer =
                |(link, role): (usize, Role)| pids[parties.holder((link, role.peer())).unwrap_or(place)];
            let ends = &parties.setups[place].ends;
            configuration.ends.iter_mut().zip(ends).for_each(|(end, held)| end.peer = peer(*held));
            configuration.request.iter_mut().for_each(|request| request.end.peer = peer(ends[0]));
            // If the role is dead already, the watch reports it with its cause.
            let _ = processes[place].control.send(&configuration);
        }
        links.iter_mut().for_each(TrialLink::let_go);
        let patience = case
            .conditions
            .quota_percent()
            .map_or(1, |percent| (100 / u32::from(percent)).clamp(1, PATIENCE));
        let timeout = settings.timeout * patience + Duration::from_nanos(case.arrival.pause_ns());
        // If a number of messages ends the measured part, its time is unknown, and only progress counts.
        let budget = if settings.most_round_trips.is_some() { Duration::ZERO } else { settings.budget };
        let budget = budget.max(settings.warm_up.unwrap_or_default());
        let unit = Unit::of(case.pattern()).word();
        let pattern = case.pattern();
        let counted = entry
            .capabilities
            .notifies_only()
            .then(|| PartyCounts::of(pattern, case.exchange.parties_per_group()));
        let between_hosts = far.is_some();
        let explain = Box::new(move |watch: &Watch<RoleResult>| match pattern.shares_an_end() {
            _ if between_hosts => Some(lost_between_hosts(watch)),
            true => lost_of_several(watch, &parties, pattern, counted),
            false => lost_message(watch, &parties, unit),
        });
        let facts = role_boundary::facts(case, entry.capabilities).into_iter();
        let end = settings.limit.map(|limit| LatestEnd::after(began_ns, limit));
        let watch = Watch { processes, control_pages, timeout, budget, end, explain };
        Ok(RunningTrial {
            watch,
            surroundings,
            effective: facts.chain(links[0].effective()).collect(),
            depth: rooms.map(|room| room.depth),
            pattern,
            adapter: entry.adapter().map(Adapter::facts),
            far,
            _links: links,
        })
    }

    /// Adds the output of the command that connects to the other host, if the command has ended.
    fn explained(&mut self, why: NotMeasured) -> NotMeasured {
        match (why, &mut self.far) {
            (NotMeasured::Failed(failure), Some(far)) => far.connection.explained(failure).into(),
            (why, _) => why,
        }
    }

    /// Returns the figures of both roles, once they have reported and ended.
    fn measured(self, reported: Vec<RoleResult>) -> Result<Measurement, Failure> {
        let TrialFigures { timing, parts, roles, verified_messages } =
            TrialFigures::of(self.pattern, reported)?;
        Ok(Measurement {
            verified_messages,
            effective: self.effective,
            depth: Some(self.depth),
            roles,
            parts,
            adapter: self.adapter,
            ..timing.measurement()
        })
    }
}

/// The combined figures of all roles of a trial.
pub(crate) struct TrialFigures {
    pub(crate) timing: Timing,
    /// The figures of each party, if there are several.
    pub(crate) parts: Vec<Part>,
    pub(crate) roles: Vec<RoleTally>,
    verified_messages: u64,
}

impl TrialFigures {
    /// Combines the figures of all roles.
    ///
    /// # Errors
    /// Returns a failure if they contradict each other.
    pub(crate) fn of(pattern: Pattern, reported: Vec<RoleResult>) -> Result<TrialFigures, Failure> {
        let mut roles = Vec::new();
        let (mut verified_messages, mut timings) = (0, Vec::new());
        let workers: Vec<TakenMessages> = reported.iter().filter_map(|result| result.taken).collect();
        let sender = reported.iter().find(|result| result.tally.party.role == Role::Initiator);
        if let Some(sender) = sender.filter(|_| !workers.is_empty()) {
            exactly_once(sender.tally.messages_received, &workers)?;
        }
        for RoleResult { tally, verified_messages: verified, timing, .. } in reported {
            timings.extend(timing.map(|timing| (tally.party, timing)));
            roles.push(tally);
            // An impossible total is rejected together with all other figures.
            verified_messages = verified.saturating_add(verified_messages);
        }
        let failure = |detail| Failure { phase: Phase::Finish, party: None, fault: Fault::Error, detail };
        let (timing, parts) = together(pattern, timings).map_err(failure)?;
        Ok(TrialFigures { timing, parts, roles, verified_messages })
    }
}

/// The additional state of a trial whose responder is on another host.
struct FarSide {
    connection: Connection,
    /// The socket pair over which the initiator announces its last messages to the proxy.
    announcements: Option<[Handle; 2]>,
}

impl FarSide {
    fn new(peer: &Peer, session: &Session) -> Result<FarSide, NotMeasured> {
        let pair = pipe::duplex().map_err(|error| not_started(Phase::Create, &error))?;
        Ok(FarSide { connection: peer.take(session)?, announcements: Some(pair.into()) })
    }

    /// Returns the additional state of a role whose page no other process maps.
    fn page_end(&self, role: Role) -> OwnPageEnd {
        let carrier = self.announcements.as_ref().filter(|_| role == Role::Initiator);
        OwnPageEnd { carrier: carrier.map(|[initiator, _]| initiator.raw_handle()) }
    }

    /// Starts the proxy of the responder.
    #[cfg(target_os = "linux")]
    fn stand_in(&self, party: Party, session: &Session) -> io::Result<RoleProcess<RoleResult>> {
        let gone = || io::Error::other("the connection to the other host has ended");
        let [requests, replies] = self.connection.raw_handles().ok_or_else(gone)?;
        let announcements = self.announcements.as_ref().ok_or_else(gone)?[1].raw_handle();
        let inherit = vec![requests, replies, announcements];
        let mut process = RoleProcess::fresh(party, session.program(), ChildKind::StandIn, inherit)?;
        process.control.send(&StandIn { requests, replies, announcements })?;
        Ok(process)
    }

    #[cfg(not(target_os = "linux"))]
    fn stand_in(&self, _party: Party, _session: &Session) -> io::Result<RoleProcess<RoleResult>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns the failure for a silence between two hosts. The progress of the responder is not visible here, and lost
/// messages are sent again.
fn lost_between_hosts(watch: &Watch<RoleResult>) -> Failure {
    let timeout = watch.timeout;
    let detail = format!("no progress for {timeout:?}: the other host hangs, or the network to it is down");
    watch.failure(None, Fault::Silent, detail)
}

/// Returns the reason if only `made` links can be created.
fn too_many(links: usize, made: usize, error: &io::Error) -> Unavailable {
    Unavailable::new(
        format!("of {links} links, only {made} could be created: {error}"),
        format!("ask for up to {made} links, or raise the limit"),
    )
}

/// Returns the failure of a lost message, found from the progress of the parties; `None` if no message is lost.
fn lost_message(watch: &Watch<RoleResult>, parties: &Parties, unit: &str) -> Option<Failure> {
    let Watch { processes, control_pages, timeout, .. } = watch;
    // A party at the end of the phase has received all messages.
    let under_way = |process: &RoleProcess<RoleResult>| process.phase < Phase::Finish && !process.ready;
    let setups = parties.setups.iter().zip(processes);
    let mut unfinished = setups.filter(|(_, process)| under_way(process)).map(|(setup, _)| setup);
    if parties.setups.iter().all(|setup| setup.party.role == Role::Initiator) {
        return None;
    }
    if matches!(watch.phase(), Phase::WarmUp | Phase::Timed) {
        // In these phases only responders note their progress: an initiator would have to do it in the measured loop.
        let page = unfinished.next()?.control_page;
        let counts = |setup: &&PartySetup| setup.control_page == page && setup.party.role == Role::Responder;
        let done = |setup: &&PartySetup| control_pages[page].progress(setup.line).sent;
        let responder = parties.setups.iter().filter(counts).min_by_key(done)?;
        let done = control_pages[responder.control_page].progress(responder.line).sent;
        let whose = if parties.setups.len() > 2 { format!(" of {}", responder.party) } else { String::new() };
        let detail = format!(
            "no progress for {timeout:?} after {unit} {done}{whose}: a message was lost or a role hangs"
        );
        return Some(watch.failure(None, Fault::Lost, detail));
    }
    unfinished.find_map(|receiver| {
        let page = &control_pages[receiver.control_page];
        let to_it = |setup: &&PartySetup| {
            setup.control_page == receiver.control_page && setup.party.role != receiver.party.role
        };
        parties.setups.iter().filter(to_it).find_map(|sender| {
            let (sent, received) = (page.progress(sender.line).sent, page.progress(receiver.line).received);
            (sent > received).then(|| {
                let sender = sender.party;
                let detail =
                    format!("message {sent} of the {sender} was sent and has not arrived after {timeout:?}");
                watch.failure(Some(receiver.party), Fault::Lost, detail)
            })
        })
    })
}

/// Returns whether endpoints block inside their calls. Two ends in one process must not block if the mechanism supports
/// that.
fn waits_inside(entry: &MechanismEntry, case: &Case) -> bool {
    let can_do_without = || entry.capabilities.waits.iter().any(|wait| wait.needs_non_blocking());
    let must_not_wait = case.placement == Placement::OneProcess && can_do_without();
    !(case.wait.needs_non_blocking() || must_not_wait)
}

/// Starts the process of a party: a new process, or a fork if memory must be inherited.
fn start_process(
    MessageExchange { mechanisms, entry, case, child, .. }: MessageExchange<'_>,
    setup: &PartySetup,
    links: &mut [TrialLink],
    inherit: Vec<RawHandle>,
    session: &Session,
) -> io::Result<RoleProcess<RoleResult>> {
    let is_forked = case.conditions.isolation() == Some(Isolation::Fork);
    match entry.capabilities.start {
        start if start == Start::Forked || is_forked => {
            RoleProcess::forked(setup.party, inherit, |control| {
                let ends = setup.ends.iter().map(|(link, role)| links[*link].link.take_end(*role)).collect();
                let control = handle::inherit(control).map(Control::from);
                i32::from(control.and_then(|control| role::forked(control, mechanisms, ends)).is_err())
            })
        }
        _ => {
            let subsystem = case.subsystem.filter(|_| setup.party.role == Role::Responder);
            if let Some(subsystem) = subsystem {
                let (program, copy) = subsystem::to_start(subsystem, child, session)?;
                let mut role = RoleProcess::fresh(setup.party, &program, ChildKind::Role, inherit)?;
                role.copy = copy;
                return Ok(role);
            }
            RoleProcess::fresh(setup.party, entry.role_program(session.program()), ChildKind::Role, inherit)
        }
    }
}

/// Starts all parties as threads of one forked process.
#[cfg(target_os = "linux")]
fn start_threads(
    work: MessageExchange<'_>,
    parties: &Parties,
    links: &mut [TrialLink],
    inherit: Vec<RawHandle>,
) -> io::Result<Vec<RoleProcess<RoleResult>>> {
    let all: Vec<Party> = parties.setups.iter().map(|setup| setup.party).collect();
    RoleProcess::forked_together(&all, inherit, |controls| {
        // Several parties may share an end, and each closes its descriptors.
        let end = |(link, role): &(usize, Role)| links[*link].link.end(*role).try_clone();
        let ends = parties.setups.iter().map(|setup| setup.ends.iter().map(end).collect());
        let Ok(ends) = ends.collect::<io::Result<Vec<Vec<_>>>>() else { return 1 };
        links.iter_mut().for_each(|link| drop(Role::ALL.map(|role| link.link.take_end(role))));
        role_threads::run_threads(controls, work.mechanisms, ends)
    })
}

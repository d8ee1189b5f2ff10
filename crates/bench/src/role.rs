//! The process of a role, from its configuration to its tally.

use crate::control::{
    Control, ControlPageEnd, End, Report, RequestConfiguration, RoleConfiguration, RoleResult,
};
use crate::phases::{enter_phase, report_done, tally};
use crate::registry::{MechanismEntry, find};
use crate::replay;
use crate::role_boundary;
use crate::shared_end;
use crate::timed::{timed, warm_up};
use crate::verification::{verified_bursts, verify};
use furlong_loops::again::{AgainOptions, ReliableChannel};
use furlong_loops::channel::Channel;
use furlong_loops::control_page::ControlPage;
use furlong_loops::message_loop::MessageLoop;
use furlong_loops::messages::{MessageFormat, Messages};
use furlong_loops::role_error::{RoleError, step};
use furlong_loops::service::ServedChannel;
use furlong_loops::short_lived::open_short_lived;
use furlong_loops::size_sequence::SizeSequence;
use furlong_mechanism::{EndpointSetup, Handles};
use furlong_model::{BatchTally, Fault, Links, Phase, Role, RoleTally, Start, Wait, WhenFull};
use furlong_os::AsHandle;
use furlong_os::{affinity, available_memory, handle, role_conditions};
use std::io;

/// Runs a role in a new process: receives its configuration, and uses the descriptors that it names.
pub(crate) fn fresh(control: &mut Control, mechanisms: &[MechanismEntry]) -> io::Result<()> {
    let Some(configuration) = control.receive::<RoleConfiguration>()? else { return Ok(()) };
    let mut ends = Vec::new();
    for end in &configuration.ends {
        ends.push(inherit(end)?);
    }
    perform(control, mechanisms, &configuration, ends)
}

/// Takes ownership of the descriptors that an end names.
fn inherit(end: &End) -> io::Result<Handles> {
    let mut handles = Handles { numbers: end.numbers.iter().copied().collect(), ..Handles::default() };
    for &number in &end.descriptors {
        handles.descriptors.push_back(handle::inherit(number)?);
    }
    Ok(handles)
}

/// Runs a role in a fork: receives its configuration, and uses the inherited handles.
pub(crate) fn forked(
    mut control: Control,
    mechanisms: &[MechanismEntry],
    ends: Vec<Handles>,
) -> io::Result<()> {
    let Some(configuration) = control.receive::<RoleConfiguration>()? else { return Ok(()) };
    perform(&mut control, mechanisms, &configuration, ends)
}

fn perform(
    control: &mut Control,
    mechanisms: &[MechanismEntry],
    configuration: &RoleConfiguration,
    ends: Vec<Handles>,
) -> io::Result<()> {
    // If memory runs out, the kernel should kill a role, so that the supervisor survives and reports it. If this
    // request fails, the kernel chooses.
    let _ = available_memory::be_killed_first();
    let setup = |(end, handles): (&End, _)| EndpointSetup { role: end.role, handles, peer: end.peer };
    let setups = configuration.ends.iter().zip(ends).map(setup).collect();
    let result = run_role(control, mechanisms, configuration, setups);
    report_failure(control, result)
}

/// Reports a failure to the supervisor, if there was one.
pub(crate) fn report_failure(control: &mut Control, result: Result<(), RoleError>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(RoleError { fault, detail, phase }) => {
            control.send(&Report::<()>::Failed { phase: phase.unwrap_or(Phase::Open), fault, detail })
        }
    }
}

/// Opens this role's end of the mechanism that carries requests.
fn open_request_carrier(
    mechanisms: &[MechanismEntry],
    request: &RequestConfiguration,
) -> Result<Box<dyn Channel>, RoleError> {
    let entry = known(mechanisms, &request.mechanism, request.wait)?;
    let opened = inherit(&request.end).and_then(|handles| {
        let setup = EndpointSetup { role: request.end.role, handles, peer: request.end.peer };
        entry.built_in()?.open(std::slice::from_ref(&request.specification), vec![setup], request.wait, None)
    });
    step(Phase::Open, "open the link for requests", opened).map(MessageLoop::into_channel)
}

/// Returns the entry of a mechanism that the supervisor has named.
fn known<'a>(
    mechanisms: &'a [MechanismEntry],
    mechanism: &str,
    wait: Wait,
) -> Result<&'a MechanismEntry, RoleError> {
    find(mechanisms, mechanism, wait)
        .ok_or_else(|| RoleError::new(Fault::Error, format!("no mechanism is called {mechanism}")))
}

/// Returns the options for retransmission, if the network between two hosts may lose messages.
fn send_again(
    entry: &MechanismEntry,
    configuration: &RoleConfiguration,
    setups: &[EndpointSetup],
) -> io::Result<Option<AgainOptions>> {
    let between =
        configuration.control_page.own.and(entry.built_in().ok()).and_then(|entry| entry.between_hosts);
    let socket = setups.first().and_then(|setup| setup.handles.descriptors.front());
    let Some((send, socket)) = between.and_then(|between| between.send_again).zip(socket) else {
        return Ok(None);
    };
    let role = configuration.party.role;
    Ok(Some(AgainOptions {
        role,
        key: configuration.key,
        size_bytes: configuration.sizes_bytes()[role.index()],
        window: configuration.exchange.window().get(),
        socket: socket.as_handle().try_clone_to_owned()?,
        send,
    }))
}

/// Maps the control page of this party.
fn open_control_page(end: ControlPageEnd) -> io::Result<ControlPage> {
    let page = ControlPage::open(handle::inherit(end.descriptor)?.as_handle(), end.lines)?;
    let Some(own) = end.own else { return Ok(page) };
    Ok(page.on_one_host(own.carrier.map(handle::inherit).transpose()?))
}

/// Pins this process, if a CPU is given.
pub(crate) fn pin(processor: Option<usize>) -> Result<(), RoleError> {
    processor.map_or(Ok(()), |processor| {
        step(Phase::Open, &format!("pin to processor {processor}"), affinity::pin(processor))
    })
}

/// Opens the ends and runs all phases, as one role, or as both roles if there is only one process.
fn run_role(
    control: &mut Control,
    mechanisms: &[MechanismEntry],
    configuration: &RoleConfiguration,
    setups: Vec<EndpointSetup>,
) -> Result<(), RoleError> {
    let replay = step(Phase::Open, "read the trace", replay::load(&configuration.conditions))?;
    let configuration = &RoleConfiguration { replay, ..configuration.clone() };
    let line = configuration.control_page.line;
    let control_page = open_control_page(configuration.control_page);
    let control_page = step(Phase::Open, "open the control page", control_page)?;
    let entry = known(mechanisms, &configuration.mechanism, configuration.wait)?;
    let request = configuration
        .request
        .as_ref()
        .map(|request| open_request_carrier(mechanisms, request))
        .transpose()?;
    pin(configuration.processor)?;
    let RoleConfiguration { specifications, wait, .. } = configuration;
    let pattern = configuration.exchange.pattern();
    let entered =
        role_boundary::enter(&configuration.conditions, configuration.party.role, &specifications[0]);
    step(Phase::Open, "enter the boundary", entered)?;
    let again = step(Phase::Open, "hold the socket twice", send_again(entry, configuration, &setups))?;
    let opened = entry.built_in().and_then(|built_in| match pattern.facts().links {
        Links::Shared => shared_end::open(built_in, specifications, setups, *wait),
        Links::Watched => {
            let cannot = || io::Error::other("it has no descriptor to wait for among several");
            let open = built_in.open_among_several.ok_or_else(cannot)?;
            open(specifications, setups, *wait, configuration.key)
        }
        Links::PerMessage => open_short_lived(built_in, &specifications[0], *wait),
        Links::PerParty => built_in.open(specifications, setups, *wait, request),
    });
    let mut message_loop = step(Phase::Open, "open", opened)?;
    // A thread of the kernel that an endpoint has started must not get a real-time policy, because it may busy-wait.
    let conditions = role_conditions::apply(&configuration.conditions);
    step(Phase::Open, "set the requested conditions", conditions)?;
    if let Some(options) = again {
        let again =
            step(Phase::Open, "start a thread", ReliableChannel::new(message_loop.into_channel(), options))?;
        message_loop = MessageLoop::OneEnd(Box::new(again));
    }

    if let Some(time) = configuration.conditions.service_time()
        && configuration.party.role == Role::Responder
    {
        let key = configuration.key.wrapping_add(u64::from(configuration.party.number));
        message_loop = message_loop.map_channel(|channel| Box::new(ServedChannel::new(channel, time, key)));
    }

    let may_lose = pattern.may_lose(entry.capabilities);
    let one_process = configuration.ends.iter().any(|end| end.role != configuration.party.role);
    let format = MessageFormat {
        pattern,
        sizes_bytes: configuration.sizes_bytes(),
        key: configuration.key,
        pages: configuration.conditions.pages(),
        window: configuration.exchange.window().get(),
        have_several_sizes: configuration.conditions.has_several_sizes(),
        has_boundaries: entry.capabilities.boundaries,
        alone: entry.capabilities.start == Start::Alone || one_process,
        may_lose,
        // A newer message may replace the last one, or there may be no room for it. `DropsOldest` keeps the last one.
        last_may_be_lost: may_lose && entry.capabilities.when_full != WhenFull::DropsOldest,
        batch: configuration.conditions.batch(),
    };
    let messages =
        Messages::new(message_loop.channel(), configuration.party.role, (&control_page, line), &format);
    let mut messages = step(Phase::Open, "make buffers", messages)?;
    if configuration.conditions.has_several_sizes() {
        let replay = configuration.replay.as_ref();
        let sequence = |mix, key| SizeSequence::new(mix, key).replaying(replay, 0);
        let mix = configuration.conditions.size_mix();
        // A request has its own sizes, which do not depend on those of the response, and nothing is sent back one way.
        let of = |role: Role| match (role, configuration.exchange.request()) {
            (Role::Initiator, Some(_)) => {
                let mix = configuration.conditions.request_mix();
                mix.map(|mix| sequence(mix, configuration.key.rotate_left(16)))
            }
            (Role::Responder, _) if pattern.is_one_way() => None,
            _ => mix.map(|mix| sequence(mix, configuration.key)),
        };
        messages.mix_sizes(of(configuration.party.role), of(configuration.party.role.peer()));
    }
    let filtered = role_boundary::filter_calls(&configuration.conditions);
    step(Phase::Open, "install the seccomp filter", filtered)?;
    if pattern.shares_an_end() {
        let notifies_only = entry.capabilities.notifies_only();
        return shared_end::perform(control, &mut message_loop, &mut messages, configuration, notifies_only);
    }

    enter_phase(control, Phase::Verify)?;
    // With one process, or with several links, only one message can be in flight.
    let waits_for_room = entry.capabilities.when_full == WhenFull::Waits;
    let one_at_a_time = one_process || pattern.waits_for_several();
    let burst = if waits_for_room && !one_at_a_time { 2 } else { 1 };
    let bursts = verified_bursts(configuration.specifications[0].largest_bytes());
    let verified_messages = verify(message_loop.channel(), &mut messages, bursts, burst)
        .map_err(|error| error.at(Phase::Verify))?;

    enter_phase(control, Phase::WarmUp)?;
    let batch =
        warm_up(&mut message_loop, &mut messages, configuration).map_err(|error| error.at(Phase::WarmUp))?;

    enter_phase(control, Phase::Timed)?;
    let (result, timing) = timed(&mut message_loop, &mut messages, configuration, batch)
        .map_err(|error| error.at(Phase::Timed))?;

    // If messages are read from the sender's memory, the sender must live until the last one is read.
    enter_phase(control, Phase::Finish)?;
    knows_what_it_lost(message_loop.channel(), &messages)?;
    let access = message_loop.channel().access();
    let call = entry.capabilities.batch_call(configuration.party.role).unwrap_or_default().to_owned();
    let batches = result.batches.map(|number| BatchTally { call, number });
    let tally = RoleTally { access, batches, ..tally(configuration.party, messages.done, result)? };
    report_done(control, RoleResult { tally, verified_messages, timing, taken: None })
}

/// Checks that an end that counts lost messages has counted those that are missing.
fn knows_what_it_lost(channel: &dyn Channel, messages: &Messages<'_>) -> Result<(), RoleError> {
    match channel.lost().filter(|lost| *lost != messages.lost) {
        Some(lost) => {
            let missing = messages.lost;
            let what = format!("{missing} messages are missing, but its end reports {lost} lost");
            Err(RoleError::new(Fault::Lost, what).at(Phase::Finish))
        }
        None => Ok(()),
    }
}

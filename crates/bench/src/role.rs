//! A role's process: from its order to its tally.

use crate::both_ends::BothEnds;
use crate::control::{Control, End, Report, RequestConfiguration, RoleConfiguration, RoleResult};
use crate::control_page::ControlPage;
use crate::message_loop::{Leg, MessageFormat, MessageLoop};
use crate::registry::{MechanismEntry, find};
use crate::stamp::Discrepancy;
use crate::timed::{timed, warm_up};
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::{Channel, Waiting};
use furlong_mechanism::{EndpointSetup, Handles, Mechanism};
use furlong_model::{Capabilities, Fault, Phase, Role, RoleTally, Start, WhenFull};
use furlong_os::{AsHandle, RawHandle};
use furlong_os::{affinity, handle};
use serde::Serialize;
use std::fmt::Display;
use std::io;

/// The hidden verb under which furlong's binary plays a role: `furlong role CONTROL`.
pub const ROLE_VERB: &str = "role";

/// Why a role cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleError {
    pub(crate) fault: Fault,
    pub(crate) detail: String,
    /// Where, once the place is known.
    pub(crate) phase: Option<Phase>,
}

impl RoleError {
    pub(crate) fn new(fault: Fault, detail: impl Into<String>) -> RoleError {
        RoleError { fault, detail: detail.into(), phase: None }
    }

    /// A call of the mechanism failed.
    #[cold]
    pub(crate) fn of_call(call: &str, error: &io::Error) -> RoleError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                RoleError::new(Fault::Error, format!("{call}: the other end is gone"))
            }
            _ => RoleError::new(Fault::Error, format!("{call}: {error}")),
        }
    }

    pub(crate) fn at(self, phase: Phase) -> RoleError {
        RoleError { phase: self.phase.or(Some(phase)), ..self }
    }
}

impl From<Discrepancy> for RoleError {
    #[cold]
    fn from(found: Discrepancy) -> RoleError {
        RoleError::new(found.fault, found.detail)
    }
}

/// Says what a step was for when it fails.
pub(crate) fn step<T, E: Display>(phase: Phase, what: &str, result: Result<T, E>) -> Result<T, RoleError> {
    result.map_err(|error| RoleError::new(Fault::Error, format!("{what}: {error}")).at(phase))
}

/// The whole life of a role in a process of its own. Gives the process's exit code.
pub fn main(mechanisms: &[MechanismEntry], control: RawHandle) -> i32 {
    match handle::inherit(control).and_then(|descriptor| take_order(Control::from(descriptor), mechanisms)) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("furlong role: {error}");
            1
        }
    }
}

/// Hears the order of a role that was started afresh, and carries it out with the descriptors it names.
fn take_order(mut control: Control, mechanisms: &[MechanismEntry]) -> io::Result<()> {
    let Some(configuration) = control.receive::<RoleConfiguration>()? else { return Ok(()) };
    let mut ends = Vec::new();
    for end in &configuration.ends {
        ends.push(inherit(end)?);
    }
    perform(&mut control, mechanisms, &configuration, ends)
}

/// Takes the descriptors that an end names.
fn inherit(end: &End) -> io::Result<Handles> {
    let mut handles = Handles { numbers: end.numbers.iter().copied().collect(), ..Handles::default() };
    for &number in &end.descriptors {
        handles.descriptors.push_back(handle::inherit(number)?);
    }
    Ok(handles)
}

/// Hears the order of a role that was forked, and carries it out with what it inherited.
pub(crate) fn forked(control: RawHandle, mechanisms: &[MechanismEntry], ends: Vec<Handles>) -> i32 {
    let result = handle::inherit(control).map(Control::from).and_then(|mut control| {
        let Some(configuration) = control.receive::<RoleConfiguration>()? else { return Ok(()) };
        perform(&mut control, mechanisms, &configuration, ends)
    });
    i32::from(result.is_err())
}

fn perform(
    control: &mut Control,
    mechanisms: &[MechanismEntry],
    configuration: &RoleConfiguration,
    ends: Vec<Handles>,
) -> io::Result<()> {
    let roles = [configuration.role, configuration.role.peer()];
    let setup = |(role, handles)| EndpointSetup { role, handles, peer: configuration.peer };
    let setups: Vec<EndpointSetup> = roles.into_iter().zip(ends).map(setup).collect();
    let unknown =
        || RoleError::new(Fault::Error, format!("no mechanism is called {}", configuration.mechanism));
    let result = handle::inherit(configuration.control_page)
        .and_then(|object| ControlPage::open(object.as_handle()))
        .map_err(|error| RoleError::of_call("open the control_page", &error))
        .and_then(|control_page| {
            let entry = find(mechanisms, &configuration.mechanism, configuration.wait).ok_or_else(unknown)?;
            let request = configuration
                .request
                .as_ref()
                .map(|request| open_ask(mechanisms, request, configuration))
                .transpose()?;
            (entry.run_role)(configuration, setups, request, control, &control_page)
        });
    report_failure(control, result)
}

/// Tells the supervisor of trouble, if there was any.
pub(crate) fn report_failure(control: &mut Control, result: Result<(), RoleError>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(RoleError { fault, detail, phase }) => {
            control.send(&Report::<()>::Failed { phase: phase.unwrap_or(Phase::Open), fault, detail })
        }
    }
}

/// Opens this role's end of what carries requests.
fn open_ask(
    mechanisms: &[MechanismEntry],
    request: &RequestConfiguration,
    configuration: &RoleConfiguration,
) -> Result<Box<dyn Channel>, RoleError> {
    let unknown = || RoleError::new(Fault::Error, format!("no mechanism is called {}", request.mechanism));
    let entry = find(mechanisms, &request.mechanism, request.wait).ok_or_else(unknown)?;
    let opened = inherit(&request.end).and_then(|handles| {
        (entry.open)(
            &request.specification,
            EndpointSetup { role: configuration.role, handles, peer: configuration.peer },
            request.wait,
        )
    });
    step(Phase::Open, "open what carries requests", opened)
}

/// Plays one role of one mechanism to its end, or both where there is one process.
pub(crate) fn run_role<M: Mechanism>(
    configuration: &RoleConfiguration,
    setups: Vec<EndpointSetup>,
    request: Option<Box<dyn Channel>>,
    control: &mut Control,
    control_page: &ControlPage,
) -> Result<(), RoleError> {
    let pinned = affinity::pin(configuration.processor);
    step(Phase::Open, &format!("pin to processor {}", configuration.processor), pinned)?;
    let mut ends = Vec::new();
    for setup in setups {
        let endpoint = step(Phase::Open, "open", M::open(&configuration.specification, setup))?;
        ends.push(step(Phase::Open, "watch", Waiting::new(endpoint, configuration.wait))?);
    }
    match (ends.pop(), ends.pop()) {
        (Some(responder), Some(initiator)) => {
            let both = BothEnds::new(initiator, responder, configuration.specification.largest_bytes());
            // Whatever is under way is the one message that is held.
            perform_with(
                step(Phase::Open, "make buffers", both)?,
                configuration,
                &M::CAPABILITIES,
                1,
                control,
                control_page,
            )
        }
        (Some(own), None) => {
            let burst = if M::CAPABILITIES.when_full == WhenFull::Waits { 2 } else { 1 };
            match request {
                None => perform_with(own, configuration, &M::CAPABILITIES, burst, control, control_page),
                Some(request) => {
                    let both = TwoMechanisms::new(configuration.role, request, own);
                    perform_with(both, configuration, &M::CAPABILITIES, burst, control, control_page)
                }
            }
        }
        (None, _) => Err(RoleError::new(Fault::Error, "the supervisor handed over no end").at(Phase::Open)),
    }
}

/// Passes all phases with an open end. `burst` messages may be under way at once.
fn perform_with<C: Channel>(
    channel: C,
    configuration: &RoleConfiguration,
    capabilities: &Capabilities,
    burst: u64,
    control: &mut Control,
    control_page: &ControlPage,
) -> Result<(), RoleError> {
    let shape = MessageFormat {
        pattern: configuration.pattern,
        sizes_bytes: configuration.sizes_bytes(),
        key: configuration.key,
        alone: capabilities.start == Start::Alone || configuration.ends.len() == 2,
    };
    let exchange = MessageLoop::new(channel, configuration.role, control_page, &shape);
    let mut exchange = step(Phase::Open, "make buffers", exchange)?;

    enter_phase(control, Phase::Verify)?;
    let bursts = verification_bursts(configuration.specification.largest_bytes());
    let verified_messages = exchange.verify(bursts, burst).map_err(|error| error.at(Phase::Verify))?;

    enter_phase(control, Phase::WarmUp)?;
    let batch = warm_up(&mut exchange, configuration).map_err(|error| error.at(Phase::WarmUp))?;

    enter_phase(control, Phase::Timed)?;
    let (leg, timing) = timed(&mut exchange, configuration, batch).map_err(|error| error.at(Phase::Timed))?;

    // Where messages are read out of the sender's memory, it must stay until the last one is read.
    enter_phase(control, Phase::Finish)?;
    let tally = tally(configuration.role, exchange.done, leg)?;
    report_done(control, RoleResult { tally, verified_messages, timing })
}

/// Says that this role has done all phases.
pub(crate) fn report_done(control: &mut Control, reported: impl Serialize) -> Result<(), RoleError> {
    step(Phase::Finish, "report", control.send(&Report::Done(reported)))
}

/// Says that this role is ready for a phase and waits until both are.
pub(crate) fn enter_phase(control: &mut Control, phase: Phase) -> Result<(), RoleError> {
    step(phase, "report", control.send(&Report::<()>::Ready { phase }))?;
    match step(phase, "hear from the supervisor", control.receive::<Phase>())? {
        Some(heard) if heard == phase => Ok(()),
        heard => Err(RoleError::new(Fault::Error, format!("the supervisor said {heard:?}")).at(phase)),
    }
}

/// How many bursts the verified pass exchanges: as many as a few milliseconds allow. In a burst are two messages
/// where they can be under way together, so that their order is verified too.
fn verification_bursts(size_bytes: usize) -> u64 {
    const BYTES: usize = 16 << 20;
    (BYTES / size_bytes.max(1)).clamp(1, 8) as u64
}

/// What a role used and counted in the measured part.
pub(crate) fn tally(
    role: Role,
    messages_received: u64,
    Leg { round_trips, usage, idle_ns, .. }: Leg,
) -> Result<RoleTally, RoleError> {
    Ok(RoleTally {
        role,
        processor: step(Phase::Finish, "ask for the processor", affinity::current())?,
        messages_received,
        round_trips,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        idle_ns,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
    })
}

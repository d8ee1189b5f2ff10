//! A role's process: from its order to its tally.

use crate::board::Board;
use crate::both_ends::BothEnds;
use crate::control::{AskOrder, Control, End, Exchanged, Order, Report};
use crate::exchange::{Exchange, Leg, Shape};
use crate::registry::{Driver, find};
use crate::stamp::Discrepancy;
use crate::timed::{timed, warm_up};
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::{Channel, Waiting};
use furlong_mechanism::{Handles, Mechanism, Seat};
use furlong_model::{Capabilities, Fault, Phase, Role, RoleTally, Start, WhenFull};
use furlong_os::{affinity, descriptor};
use serde::Serialize;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, RawFd};

/// The hidden verb under which furlong's binary plays a role: `furlong role CONTROL`.
pub const ROLE_VERB: &str = "role";

/// Why a role cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) fault: Fault,
    pub(crate) detail: String,
    /// Where, once the place is known.
    pub(crate) phase: Option<Phase>,
}

impl Trouble {
    pub(crate) fn new(fault: Fault, detail: impl Into<String>) -> Trouble {
        Trouble { fault, detail: detail.into(), phase: None }
    }

    /// A call of the mechanism failed.
    #[cold]
    pub(crate) fn of_call(call: &str, error: &io::Error) -> Trouble {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Trouble::new(Fault::Error, format!("{call}: the other end is gone"))
            }
            _ => Trouble::new(Fault::Error, format!("{call}: {error}")),
        }
    }

    pub(crate) fn at(self, phase: Phase) -> Trouble {
        Trouble { phase: self.phase.or(Some(phase)), ..self }
    }
}

impl From<Discrepancy> for Trouble {
    #[cold]
    fn from(found: Discrepancy) -> Trouble {
        Trouble::new(found.fault, found.detail)
    }
}

/// Says what a step was for when it fails.
pub(crate) fn step<T, E: Display>(phase: Phase, what: &str, result: Result<T, E>) -> Result<T, Trouble> {
    result.map_err(|error| Trouble::new(Fault::Error, format!("{what}: {error}")).at(phase))
}

/// The whole life of a role in a process of its own. Gives the process's exit code.
pub fn main(drivers: &[Driver], control: RawFd) -> i32 {
    match descriptor::inherit(control).and_then(|descriptor| take_order(Control::from(descriptor), drivers)) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("furlong role: {error}");
            1
        }
    }
}

/// Hears the order of a role that was started afresh, and carries it out with the descriptors it names.
fn take_order(mut control: Control, drivers: &[Driver]) -> io::Result<()> {
    let Some(order) = control.hear::<Order>()? else { return Ok(()) };
    let mut ends = Vec::new();
    for end in &order.ends {
        ends.push(inherit(end)?);
    }
    perform(&mut control, drivers, &order, ends)
}

/// Takes the descriptors that an end names.
fn inherit(end: &End) -> io::Result<Handles> {
    let mut handles = Handles { numbers: end.numbers.iter().copied().collect(), ..Handles::default() };
    for &number in &end.descriptors {
        handles.descriptors.push_back(descriptor::inherit(number)?);
    }
    Ok(handles)
}

/// Hears the order of a role that was forked, and carries it out with what it inherited.
pub(crate) fn forked(control: RawFd, drivers: &[Driver], ends: Vec<Handles>) -> i32 {
    let result = descriptor::inherit(control).map(Control::from).and_then(|mut control| {
        let Some(order) = control.hear::<Order>()? else { return Ok(()) };
        perform(&mut control, drivers, &order, ends)
    });
    i32::from(result.is_err())
}

fn perform(control: &mut Control, drivers: &[Driver], order: &Order, ends: Vec<Handles>) -> io::Result<()> {
    let roles = [order.role, order.role.peer()];
    let seat = |(role, handles)| Seat { role, handles, peer: order.peer };
    let seats: Vec<Seat> = roles.into_iter().zip(ends).map(seat).collect();
    let unknown = || Trouble::new(Fault::Error, format!("no mechanism is called {}", order.mechanism));
    let result = descriptor::inherit(order.board)
        .and_then(|object| Board::open(object.as_fd()))
        .map_err(|error| Trouble::of_call("open the board", &error))
        .and_then(|board| {
            let driver = find(drivers, &order.mechanism, order.wait).ok_or_else(unknown)?;
            let ask = order.ask.as_ref().map(|ask| open_ask(drivers, ask, order)).transpose()?;
            (driver.play)(order, seats, ask, control, &board)
        });
    confess(control, result)
}

/// Tells the supervisor of trouble, if there was any.
pub(crate) fn confess(control: &mut Control, result: Result<(), Trouble>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(Trouble { fault, detail, phase }) => {
            control.say(&Report::<()>::Failed { phase: phase.unwrap_or(Phase::Open), fault, detail })
        }
    }
}

/// Opens this role's end of what carries requests.
fn open_ask(drivers: &[Driver], ask: &AskOrder, order: &Order) -> Result<Box<dyn Channel>, Trouble> {
    let unknown = || Trouble::new(Fault::Error, format!("no mechanism is called {}", ask.mechanism));
    let driver = find(drivers, &ask.mechanism, ask.wait).ok_or_else(unknown)?;
    let opened = inherit(&ask.end).and_then(|handles| {
        (driver.open)(&ask.spec, Seat { role: order.role, handles, peer: order.peer }, ask.wait)
    });
    step(Phase::Open, "open what carries requests", opened)
}

/// Plays one role of one mechanism to its end, or both where there is one process.
pub(crate) fn play<M: Mechanism>(
    order: &Order,
    seats: Vec<Seat>,
    ask: Option<Box<dyn Channel>>,
    control: &mut Control,
    board: &Board,
) -> Result<(), Trouble> {
    let pinned = affinity::pin(order.processor);
    step(Phase::Open, &format!("pin to processor {}", order.processor), pinned)?;
    let mut ends = Vec::new();
    for seat in seats {
        let endpoint = step(Phase::Open, "open", M::open(&order.spec, seat))?;
        ends.push(step(Phase::Open, "watch", Waiting::new(endpoint, order.wait))?);
    }
    match (ends.pop(), ends.pop()) {
        (Some(responder), Some(initiator)) => {
            let both = BothEnds::new(initiator, responder, order.spec.largest_bytes());
            // Whatever is under way is the one message that is held.
            perform_with(step(Phase::Open, "make buffers", both)?, order, &M::CAPABILITIES, 1, control, board)
        }
        (Some(own), None) => {
            let burst = if M::CAPABILITIES.when_full == WhenFull::Waits { 2 } else { 1 };
            match ask {
                None => perform_with(own, order, &M::CAPABILITIES, burst, control, board),
                Some(ask) => {
                    let both = TwoMechanisms::new(order.role, ask, own);
                    perform_with(both, order, &M::CAPABILITIES, burst, control, board)
                }
            }
        }
        (None, _) => Err(Trouble::new(Fault::Error, "the supervisor handed over no end").at(Phase::Open)),
    }
}

/// Passes all phases with an open end. `burst` messages may be under way at once.
fn perform_with<C: Channel>(
    channel: C,
    order: &Order,
    promises: &Capabilities,
    burst: u64,
    control: &mut Control,
    board: &Board,
) -> Result<(), Trouble> {
    let shape = Shape {
        pattern: order.pattern,
        sizes_bytes: order.sizes_bytes(),
        key: order.key,
        alone: promises.start == Start::Alone || order.ends.len() == 2,
    };
    let exchange = Exchange::new(channel, order.role, board, &shape);
    let mut exchange = step(Phase::Open, "make buffers", exchange)?;

    meet(control, Phase::Verify)?;
    let bursts = verification_bursts(order.spec.largest_bytes());
    let verified_messages = exchange.verify(bursts, burst).map_err(|trouble| trouble.at(Phase::Verify))?;

    meet(control, Phase::WarmUp)?;
    let batch = warm_up(&mut exchange, order).map_err(|trouble| trouble.at(Phase::WarmUp))?;

    meet(control, Phase::Timed)?;
    let (leg, timing) = timed(&mut exchange, order, batch).map_err(|trouble| trouble.at(Phase::Timed))?;

    // Where messages are read out of the sender's memory, it must stay until the last one is read.
    meet(control, Phase::Finish)?;
    let tally = tally(order.role, exchange.done, leg)?;
    say_done(control, Exchanged { tally, verified_messages, timing })
}

/// Says that this role has done all phases.
pub(crate) fn say_done(control: &mut Control, told: impl Serialize) -> Result<(), Trouble> {
    step(Phase::Finish, "report", control.say(&Report::Done(told)))
}

/// Says that this role is ready for a phase and waits until both are.
pub(crate) fn meet(control: &mut Control, phase: Phase) -> Result<(), Trouble> {
    step(phase, "report", control.say(&Report::<()>::Ready { phase }))?;
    match step(phase, "hear from the supervisor", control.hear::<Phase>())? {
        Some(heard) if heard == phase => Ok(()),
        heard => Err(Trouble::new(Fault::Error, format!("the supervisor said {heard:?}")).at(phase)),
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
) -> Result<RoleTally, Trouble> {
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

//! A role's process: from its order to its tally.

use crate::board::Board;
use crate::both_ends::BothEnds;
use crate::control::{Control, Order, Report, Timing};
use crate::registry::{Driver, find};
use crate::round_trip::{Exchange, Leg};
use crate::stamp::Discrepancy;
use crate::waiting::{Channel, Waiting};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use furlong_mechanism::{Handles, Mechanism, Seat};
use furlong_model::{Capabilities, Fault, Phase, Role, RoleTally, Start, WaitKind, WhenFull};
use furlong_os::{affinity, clock, cpu, descriptor};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
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

    fn at(self, phase: Phase) -> Trouble {
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
fn step<T, E: Display>(phase: Phase, what: &str, result: Result<T, E>) -> Result<T, Trouble> {
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
        let mut handles = Handles { numbers: end.numbers.iter().copied().collect(), ..Handles::default() };
        for &number in &end.descriptors {
            handles.descriptors.push_back(descriptor::inherit(number)?);
        }
        ends.push(handles);
    }
    perform(&mut control, drivers, &order, ends)
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
            (driver.play)(order, seats, control, &board)
        });
    match result {
        Ok(()) => Ok(()),
        Err(Trouble { fault, detail, phase }) => {
            control.say(&Report::Failed { phase: phase.unwrap_or(Phase::Open), fault, detail })
        }
    }
}

/// Plays one role of one mechanism to its end, or both where there is one process.
pub(crate) fn play<M: Mechanism>(
    order: &Order,
    seats: Vec<Seat>,
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
            let both = BothEnds::new(initiator, responder, order.spec.size_bytes);
            // Whatever is under way is the one message that is held.
            perform_with(step(Phase::Open, "make buffers", both)?, order, &M::CAPABILITIES, 1, control, board)
        }
        (Some(own), None) => {
            let burst = if M::CAPABILITIES.when_full == WhenFull::Waits { 2 } else { 1 };
            perform_with(own, order, &M::CAPABILITIES, burst, control, board)
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
    let alone = promises.start == Start::Alone || order.ends.len() == 2;
    let shape = (order.spec.size_bytes, order.key);
    let exchange = Exchange::new(channel, order.role, board, shape, (promises.copies, alone));
    let mut exchange = step(Phase::Open, "make buffers", exchange)?;

    meet(control, Phase::Verify)?;
    let bursts = verification_bursts(order.spec.size_bytes);
    let verified_messages = exchange.verify(bursts, burst).map_err(|trouble| trouble.at(Phase::Verify))?;

    meet(control, Phase::WarmUp)?;
    let batch = match order.role {
        Role::Initiator => warm_up(&mut exchange, order).map_err(|trouble| trouble.at(Phase::WarmUp))?,
        Role::Responder => exchange.follow().map(|_| 1).map_err(|trouble| trouble.at(Phase::WarmUp))?,
    };

    meet(control, Phase::Timed)?;
    let (leg, timing) = match order.role {
        Role::Initiator => timed(&mut exchange, order, batch).map(|(leg, timing)| (leg, Some(timing))),
        Role::Responder => exchange.follow().map(|leg| (leg, None)),
    }
    .map_err(|trouble| trouble.at(Phase::Timed))?;

    // Where messages are read out of the sender's memory, it must stay until the last one is read.
    meet(control, Phase::Finish)?;
    let tally = tally(order.role, exchange.received(), leg)?;
    step(Phase::Finish, "report", control.say(&Report::Done { tally, verified_messages, timing }))
}

/// Says that this role is ready for a phase and waits until both are.
fn meet(control: &mut Control, phase: Phase) -> Result<(), Trouble> {
    step(phase, "report", control.say(&Report::Ready { phase }))?;
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

/// Sleeps until a moment before `due_ns` and spins for the rest: how late a timer wakes is no part of the mechanism.
fn sleep_until(due_ns: u64) {
    /// A timer may wake so much later than it was set to.
    const MOMENT_NS: u64 = 100_000;
    clock::sleep_until(due_ns.saturating_sub(MOMENT_NS));
    spin_until(due_ns);
}

/// Keeps the processor busy until `due_ns`.
fn spin_until(due_ns: u64) {
    while clock::now_ns() < due_ns {
        cpu::pause();
    }
}

/// Runs the loop for the time asked, or else until its pace is steady, and says how many round trips to time at
/// once.
fn warm_up<C: Channel>(exchange: &mut Exchange<'_, C>, order: &Order) -> Result<u32, Trouble> {
    const WINDOW_NS: u64 = 2_000_000;
    /// Steady means that this many windows in a row differ by no more than a tenth.
    const WINDOWS: usize = 3;
    /// The longest to wait for that.
    const LONGEST_NS: u64 = 60_000_000;
    let mut paces_ns = [0.0; WINDOWS];
    let (mut windows, mut elapsed_ns, mut round_trips) = (0, 0, 0);
    exchange.lead(order.warm_up_ns.unwrap_or(LONGEST_NS), 1, |sample_ns| {
        elapsed_ns += sample_ns;
        round_trips += 1;
        if elapsed_ns < WINDOW_NS {
            return true;
        }
        paces_ns[windows % WINDOWS] = elapsed_ns as f64 / f64::from(round_trips);
        (windows, elapsed_ns, round_trips) = (windows + 1, 0, 0);
        let least = paces_ns.iter().copied().fold(f64::MAX, f64::min);
        let most = paces_ns.iter().copied().fold(0.0, f64::max);
        order.warm_up_ns.is_some() || windows < WINDOWS || most > least * 1.1
    })?;
    let measured = paces_ns.iter().copied().filter(|pace| *pace > 0.0);
    Ok(measured.reduce(f64::min).map_or(1, |pace_ns| batch_for(pace_ns, order.clock_read_ns)))
}

/// How many round trips to time at once: 1 unless reading the clock would be more than a fiftieth of what is
/// timed, else enough to make it less than a hundredth.
fn batch_for(pace_ns: f64, clock_read_ns: f64) -> u32 {
    const MOST: f64 = 65_536.0;
    // What was measured one at a time has a reading of the clock in it.
    let pace_ns = (pace_ns - clock_read_ns).max(1.0);
    if clock_read_ns <= pace_ns * 0.02 {
        1
    } else {
        (clock_read_ns / (pace_ns * 0.01)).ceil().min(MOST) as u32
    }
}

/// The measured leg of the role that holds the clock.
fn timed<C: Channel>(
    exchange: &mut Exchange<'_, C>,
    order: &Order,
    batch: u32,
) -> Result<(Leg, Timing), Trouble> {
    /// The longest sample that is told from longer ones: a minute.
    const LONGEST_NS: u64 = 60_000_000_000;
    let histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3);
    let mut histogram = step(Phase::Timed, "make a histogram", histogram)?;
    let batch = if order.pace.is_closed() && order.most_round_trips.is_none() { batch } else { 1 };
    let mut keep = |sample_ns: u64| {
        // Rounded to the nearest; 0 is not in the histogram's range and cannot be seen with such batches.
        histogram.saturating_record(((sample_ns + u64::from(batch) / 2) / u64::from(batch)).max(1));
    };
    let (leg, late_sends) = if let Some(most) = order.most_round_trips {
        // One is under way while the one before it is kept.
        let mut done = 1;
        let leg = exchange.lead(order.budget_ns, 1, |sample_ns| {
            keep(sample_ns);
            done += 1;
            done < most
        })?;
        (leg, 0)
    } else if order.pace.is_closed() {
        let leg = exchange.lead(order.budget_ns, batch, |sample_ns| {
            keep(sample_ns);
            true
        })?;
        (leg, 0)
    } else {
        let sleeps = order.wait.kind() == WaitKind::Sleeping;
        let idle = |due_ns| if sleeps { sleep_until(due_ns) } else { spin_until(due_ns) };
        exchange.lead_at_pace(order.budget_ns, order.pace, idle, keep)?
    };
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(&histogram, &mut bytes);
    step(Phase::Finish, "write the histogram", written.map_err(|error| format!("{error:?}")))?;
    let timing = Timing {
        round_trips: leg.round_trips,
        elapsed_ns: leg.elapsed_ns,
        round_trips_per_sample: batch,
        late_sends,
        histogram: STANDARD.encode(bytes),
    };
    Ok((leg, timing))
}

fn tally(
    role: Role,
    messages_received: u64,
    Leg { round_trips, usage, .. }: Leg,
) -> Result<RoleTally, Trouble> {
    Ok(RoleTally {
        role,
        processor: step(Phase::Finish, "ask for the processor", affinity::current())?,
        messages_received,
        round_trips,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rows_are_timed_one_by_one() {
        assert_eq!(batch_for(50_000.0, 23.0), 1);
        assert_eq!(batch_for(1_500.0, 23.0), 1);
    }

    #[test]
    fn the_clock_takes_less_than_a_hundredth_of_a_batch() {
        for pace_ns in [30.0, 150.0, 500.0, 1_000.0] {
            let batch = batch_for(pace_ns, 23.0);
            assert!(batch > 1 && 23.0 <= f64::from(batch) * (pace_ns - 23.0) * 0.01, "{pace_ns}: {batch}");
        }
    }
}

//! Tests of the open loop: faults in it are detected, and as many messages are in flight as are due, up to the bound.

use crate::pair::WATCHDOG;
use crate::rows::{case, placed, warmed_up};
use crate::saboteur::{self, CUT, FLIP_HEAD, LOSE, NOTHING, REORDER, REPEAT, TIMED, name};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{
    Arrival, Case, ConditionKind, FAN_OUT_BOUND, Family, Fault, Measurement, Outcome, Party, Pattern, Phase,
    RequestedConditions, Role, Wait,
};
use libtest_mimic::Failed;
use std::num::NonZeroU32;
use std::time::Duration;

/// The faults of a message of the timed part. Without responses to wait for, a message that overtakes another one reveals a loss.
const FAULTS: [(&str, Fault); 5] = [
    (name(LOSE, TIMED), Fault::Lost),
    (name(REPEAT, TIMED), Fault::Repeated),
    (name(REORDER, TIMED), Fault::Lost),
    (name(CUT, TIMED), Fault::Truncated),
    (name(FLIP_HEAD, TIMED), Fault::Flipped),
];

/// Returns the tests of each broken mechanism, and of the messages in flight.
pub fn tests() -> Vec<Trial> {
    let waits = if cfg!(windows) { &[][..] } else { &[Wait::Block, Wait::Poll] };
    let mut tests = Vec::new();
    for &wait in waits {
        for (mechanism, fault) in FAULTS {
            let name = format!("open loop/{wait}: {mechanism} is caught");
            tests.push(Trial::test(name, move || is_caught(mechanism, wait, fault)));
        }
        tests.push(Trial::test(format!("open loop/{wait}: nothing is caught without a fault"), move || {
            match sabotaged(name(NOTHING, TIMED), wait)? {
                Outcome::Measured(_) => Ok(()),
                other => Err(format!("{other:?}").into()),
            }
        }));
    }
    // Ends in shared memory wait inside their calls even if they busy-wait.
    for (family, wait) in [
        (Family::Pipe, Wait::Block),
        (Family::Pipe, Wait::Spin),
        (Family::Library, Wait::Spin),
        (Family::Library, Wait::Adaptive),
    ] {
        if cfg!(windows) && family == Family::Pipe && wait == Wait::Block {
            continue;
        }
        let name = format!("open loop/{family:?}/{wait}: messages queue at a slow responder");
        tests.push(Trial::test(name, move || queues_at_a_slow_responder(family, wait)).alone_if(|| true));
    }
    tests.push(Trial::test("open loop/fan-out: messages are sent when they are due", sends_to_all_when_due));
    tests
}

fn with(case: Case, window: u32, arrival: Arrival) -> Case {
    Case { arrival, ..case.with_window(NonZeroU32::new(window).unwrap()) }
}

fn sabotaged(mechanism: &str, wait: Wait) -> Result<Outcome, Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry = mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no saboteur")?;
    let case = with(Case::round_trip(mechanism, wait, 128, placed()), 3, Arrival::Interval(50_000));
    warmed_up(&mechanisms, entry, &case, WATCHDOG, [Duration::ZERO, Duration::from_millis(200)])
}

fn is_caught(mechanism: &str, wait: Wait, fault: Fault) -> Result<(), Failed> {
    match sabotaged(mechanism, wait)? {
        Outcome::Failed(failure)
            if failure.fault == fault
                && failure.party == Some(Party::from(Role::Responder))
                && failure.phase == Phase::Timed =>
        {
            Ok(())
        }
        other => Err(format!("expected {fault:?}: {other:?}").into()),
    }
}

fn measured(entry: &MechanismEntry, case: &Case) -> Result<Measurement, Failed> {
    match warmed_up(&registry(), entry, case, WATCHDOG, [2, 100].map(Duration::from_millis))? {
        Outcome::Measured(measured) if measured.verified_messages > 0 => Ok(measured),
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// Checks that more messages than one are in flight to two receivers, and that the bound holds back the sender of more.
fn sends_to_all_when_due() -> Result<(), Failed> {
    let mechanisms = registry();
    let suits = |entry: &&MechanismEntry| {
        entry.capabilities.waits.contains(&Wait::Block) && entry.capabilities.family == Family::Socket
    };
    let entry = mechanisms.iter().find(suits).ok_or("no such row")?;
    let to_two =
        case(entry, Wait::Block, 128).with_pattern(Pattern::FanOut).with_parties(NonZeroU32::new(2).unwrap());
    let flood = measured(entry, &Case { arrival: Arrival::Interval(500), ..to_two })?;
    match flood.open_loop {
        Some(found) if found.most_in_flight > 1 && found.most_in_flight <= FAN_OUT_BOUND => Ok(()),
        _ => Err(format!("{flood:?}").into()),
    }
}

/// Checks the messages in flight at a load of 0.7, far above capacity, and with a bound of one.
fn queues_at_a_slow_responder(family: Family, wait: Wait) -> Result<(), Failed> {
    let mechanisms = registry();
    let suits = |entry: &&MechanismEntry| {
        entry.capabilities.waits.contains(&wait) && entry.capabilities.family == family
    };
    let entry = mechanisms.iter().find(suits).ok_or("no such row")?;
    let slow = ConditionKind::find("service-time").and_then(|kind| kind.read("fixed:200us").ok());
    let slow = Case {
        conditions: RequestedConditions::from(slow.ok_or("no service time")?),
        ..case(entry, wait, 128)
    };
    let load = measured(entry, &with(slow.clone(), 3, Arrival::Poisson(285_000)))?;
    let flood = measured(entry, &with(slow.clone(), 2, Arrival::Interval(20_000)))?;
    let one = measured(entry, &with(slow, 1, Arrival::Poisson(285_000)))?;
    let most = |measured: &Measurement| measured.open_loop.map(|found| found.most_in_flight);
    // A sender that is late itself sends two at once, and is held back once for both.
    let held = flood.open_loop.is_some_and(|found| found.sends_at_bound * 4 > flood.round_trips);
    if most(&load) > Some(1) && most(&flood) == Some(2) && held && one.open_loop.is_none() {
        return Ok(());
    }
    Err(format!("{load:?}\n{flood:?}\n{one:?}").into())
}

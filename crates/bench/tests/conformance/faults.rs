//! What goes wrong is caught, named, and shown without a speed.

use crate::rows::{placed, quick};
use crate::saboteur::{self, *};
use furlong_model::{Case, Fault, Outcome, Pattern, Phase, Role, Wait};
use libtest_mimic::{Failed, Trial};
use std::time::Duration;

/// What must be found: the fault, whom it happened to where that can be told, and in which phase at the earliest.
type Expected = (&'static str, Fault, Option<Role>, Phase);

const EXPECTED: [Expected; 14] = [
    (name(LOSE, EARLY), Fault::Lost, Some(Role::Responder), Phase::Verify),
    (name(LOSE, LATE), Fault::Lost, None, Phase::WarmUp),
    (name(REPEAT, EARLY), Fault::Repeated, Some(Role::Responder), Phase::Verify),
    (name(REPEAT, LATE), Fault::Repeated, Some(Role::Responder), Phase::WarmUp),
    (name(REORDER, EARLY), Fault::Reordered, Some(Role::Responder), Phase::Verify),
    (name(CUT, EARLY), Fault::Truncated, Some(Role::Responder), Phase::Verify),
    (name(CUT, LATE), Fault::Truncated, Some(Role::Responder), Phase::WarmUp),
    (name(FLIP_HEAD, EARLY), Fault::Flipped, Some(Role::Responder), Phase::Verify),
    (name(FLIP_HEAD, LATE), Fault::Flipped, Some(Role::Responder), Phase::WarmUp),
    (name(FLIP_BODY, EARLY), Fault::Flipped, Some(Role::Responder), Phase::Verify),
    (name(PANIC, LATE), Fault::Exited, Some(Role::Initiator), Phase::WarmUp),
    (name(LEAVE, LATE), Fault::Exited, Some(Role::Initiator), Phase::WarmUp),
    (name(FAIL, LATE), Fault::Error, Some(Role::Initiator), Phase::WarmUp),
    (name(HANG, LATE), Fault::Lost, None, Phase::WarmUp),
];

/// One way the next message tells at once that one is lost, and the sender need not wait for anything.
const EXPECTED_ONE_WAY: [Expected; 12] = [
    (name(LOSE, EARLY), Fault::Lost, Some(Role::Responder), Phase::Verify),
    (name(LOSE, LATE), Fault::Lost, Some(Role::Responder), Phase::WarmUp),
    (name(REPEAT, EARLY), Fault::Repeated, Some(Role::Responder), Phase::Verify),
    (name(REPEAT, LATE), Fault::Repeated, Some(Role::Responder), Phase::WarmUp),
    (name(CUT, EARLY), Fault::Truncated, Some(Role::Responder), Phase::Verify),
    (name(CUT, LATE), Fault::Truncated, Some(Role::Responder), Phase::WarmUp),
    (name(FLIP_HEAD, EARLY), Fault::Flipped, Some(Role::Responder), Phase::Verify),
    (name(FLIP_HEAD, LATE), Fault::Flipped, Some(Role::Responder), Phase::WarmUp),
    (name(FLIP_BODY, EARLY), Fault::Flipped, Some(Role::Responder), Phase::Verify),
    (name(PANIC, LATE), Fault::Exited, Some(Role::Initiator), Phase::WarmUp),
    (name(FAIL, LATE), Fault::Error, Some(Role::Initiator), Phase::WarmUp),
    (name(HANG, LATE), Fault::Lost, None, Phase::WarmUp),
];

/// Each saboteur in each pattern that it spoils, and the same mechanism without sabotage.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for expected in EXPECTED {
        let name = format!("saboteur/{}: is caught", expected.0);
        tests.push(Trial::test(name, move || caught(expected, Pattern::RoundTrip)));
    }
    for expected in EXPECTED_ONE_WAY {
        let name = format!("saboteur/{}: is caught one way", expected.0);
        tests.push(Trial::test(name, move || caught(expected, Pattern::OneWay)));
    }
    for pattern in [Pattern::RoundTrip, Pattern::OneWay] {
        let name = format!("saboteur/nothing: is measured {pattern}");
        tests.push(Trial::test(name, move || match sabotaged(saboteur::name(NOTHING, LATE), pattern)? {
            Outcome::Measured(_) => Ok(()),
            other => Err(format!("{other:?}").into()),
        }));
    }
    tests
}

fn sabotaged(mechanism: &str, pattern: Pattern) -> Result<Outcome, Failed> {
    let drivers = saboteur::drivers();
    let driver =
        drivers.iter().find(|driver| driver.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let case = Case { pattern, ..Case::round_trip(mechanism, Wait::Block, 128, placed()) };
    quick(&drivers, driver, &case, Duration::from_millis(500))
}

fn caught((mechanism, fault, role, phase): Expected, pattern: Pattern) -> Result<(), Failed> {
    match sabotaged(mechanism, pattern)? {
        Outcome::Failed(failure)
            if failure.fault == fault && failure.role == role && failure.phase >= phase =>
        {
            let told = match fault {
                Fault::Exited if mechanism == "panic" => failure.detail.contains("the saboteur panics"),
                _ => !failure.detail.is_empty(),
            };
            if told { Ok(()) } else { Err(format!("it is not told well: {failure}").into()) }
        }
        other => Err(format!("expected {fault:?} at {role:?} in {phase} or later: {other:?}").into()),
    }
}

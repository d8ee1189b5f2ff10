//! Tests that faults are detected, attributed, and reported without a time.

use crate::rows::{persistent, placed};
use crate::saboteur::{self, *};
use crate::workers::Trial;
use furlong_model::{Case, Fault, Outcome, Party, Pattern, Phase, RequestedCondition, Role, Wait};
use libtest_mimic::Failed;
use std::num::{NonZeroU16, NonZeroU32};

/// The expected failure: the mechanism, the fault, the role if it can be determined, and the earliest phase.
type ExpectedFailure = (&'static str, Fault, Option<Role>, Phase);

/// The failures that do not depend on the pattern.
const EXPECTED: [ExpectedFailure; 13] = [
    (name(LOSE, EARLY), Fault::Lost, Some(Role::Responder), Phase::Verify),
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

/// The role to which a late loss is attributed. In a round trip no message follows while the lost one is awaited. One
/// way, and with several messages in flight, the next message reveals the loss at once.
const LOST_LATE: [(Manner, Option<Role>); 4] = [
    ((Pattern::RoundTrip, 1, 1), None),
    ((Pattern::OneWay, 1, 1), Some(Role::Responder)),
    // The verified pass of a batch of two has 16 messages, as without batches.
    ((Pattern::OneWay, 1, 2), Some(Role::Responder)),
    ((Pattern::RoundTrip, 3, 1), Some(Role::Responder)),
];

/// A pattern, the number of messages in flight, and the most messages per call.
type Manner = (Pattern, u32, u16);

/// Returns the tests of each broken mechanism in each pattern that it breaks, and of the mechanism without a fault.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for (manner, role) in LOST_LATE {
        let (pattern, window, batch) = manner;
        let lost_late = (name(LOSE, LATE), Fault::Lost, role, Phase::WarmUp);
        for expected in EXPECTED.into_iter().chain([lost_late]) {
            let name = format!(
                "saboteur/{}: is caught {pattern} with {window} outstanding, {batch} per call",
                expected.0
            );
            tests.push(Trial::test(name, move || caught(expected, manner)));
        }
        let name =
            format!("saboteur/nothing: is measured {pattern} with {window} outstanding, {batch} per call");
        tests.push(Trial::test(name, move || match sabotaged(saboteur::name(NOTHING, LATE), manner)? {
            Outcome::Measured(_) => Ok(()),
            other => Err(format!("{other:?}").into()),
        }));
    }
    tests
}

fn sabotaged(mechanism: &str, (pattern, window, batch): Manner) -> Result<Outcome, Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let window = NonZeroU32::new(window).ok_or("no window")?;
    let case =
        Case::round_trip(mechanism, Wait::Block, 128, placed()).with_pattern(pattern).with_window(window);
    let batch = NonZeroU16::new(batch).ok_or("no batch")?;
    let case = Case { conditions: RequestedCondition::Batch(batch).into(), ..case };
    persistent(&mechanisms, entry, &case, SABOTEUR_TIMEOUT, SABOTEUR_BUDGET)
}

fn caught((mechanism, fault, role, phase): ExpectedFailure, manner: Manner) -> Result<(), Failed> {
    match sabotaged(mechanism, manner)? {
        Outcome::Failed(failure)
            if failure.fault == fault && failure.party == role.map(Party::from) && failure.phase >= phase =>
        {
            let reported = match fault {
                Fault::Exited if mechanism == "panic" => failure.detail.contains("the saboteur panics"),
                _ => !failure.detail.is_empty(),
            };
            if reported { Ok(()) } else { Err(format!("it is not reported well: {failure}").into()) }
        }
        other => Err(format!("expected {fault:?} at {role:?} in {phase} or later: {other:?}").into()),
    }
}

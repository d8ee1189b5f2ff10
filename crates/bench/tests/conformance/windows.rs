//! Tests of every benchmark with several messages in flight: with two, and with the largest number.

use crate::pair::WATCHDOG;
use crate::rows::{case, is_combined_elsewhere, is_usual, quick};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{
    Case, Depth, Exchange, Family, KernelBuffer, Measurement, Outcome, Reach, Request, Start, Wait, WhenFull,
};
use libtest_mimic::{Completion, Failed};
use std::num::NonZeroU32;

/// A message size of which many fit into a buffer. A request is one byte larger than a page.
const SIZE: usize = 128;
/// A message size of which few fit into a buffer.
const LARGE_SIZE: usize = 65_536;

/// Returns a number of messages that most links cannot hold, and that a test can send if a link holds more. The limit
/// of a link does not depend on the wait strategy. Under Wine each notification is a request to the Wine server.
fn many(entry: &MechanismEntry, wait: Wait) -> u32 {
    match entry.capabilities.family {
        Family::Notification if cfg!(windows) => 1_000,
        _ if is_usual(entry, wait) => 100_000,
        _ => 2_000,
    }
}

/// The largest number of bytes in flight: a kernel queue may be allowed more than the machine has.
const MOST_BYTES: usize = 16 << 20;

/// Returns the tests of each benchmark with two messages in flight and at its limit, in round trips and with requests.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let capabilities = entry.capabilities;
        // Byte limits of queues and limits of queued signals may count for the user, and so for all processes.
        let signals =
            capabilities.family == Family::Notification && capabilities.reach == Reach::PidNamespace;
        let is_limited = move || signals || entry.probe().is_ok_and(|limits| limits.max_size_bytes.is_some());
        for &wait in capabilities.waits {
            let name = format!("{}/{wait}: keeps messages outstanding up to its limit", capabilities.name);
            let large = format!("{name}, which are large");
            let slow = !is_usual(&entry, wait) || is_combined_elsewhere(&entry);
            for (name, size, slow) in [(name, SIZE, slow), (large, LARGE_SIZE, true)] {
                if size == LARGE_SIZE && capabilities.fixed_size_bytes.is_some() {
                    continue;
                }
                let test = Trial::ignorable_test(name, move || keeps_windows(&entry, wait, size));
                tests.push(test.alone_if(is_limited).slow_if(slow));
            }
        }
    }
    tests
}

fn keeps_windows(entry: &MechanismEntry, wait: Wait, size_bytes: usize) -> Result<Completion, Failed> {
    let capabilities = entry.capabilities;
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    if capabilities.start == Start::Alone {
        let refusal = with(&case(entry, wait, 128), 2).refusal(capabilities, &limits);
        let why = refusal.ok_or("one process cannot have messages outstanding")?.reason;
        return Ok(Completion::ignored_with(format!("skipped, because {why}")));
    }
    let round_trip = case(entry, wait, capabilities.fixed_size_bytes.unwrap_or(size_bytes));
    let asking = Request { size_bytes: 17, by: None };
    let request = case(entry, wait, 4097).with(Exchange::asking(asking));
    // Requests have one size.
    let cases = if size_bytes == SIZE { vec![round_trip, request] } else { vec![round_trip] };
    for case in cases {
        if case.refusal(capabilities, &limits).is_none() {
            keeps_up_to_its_limit(entry, &case)?;
        }
    }
    Ok(Completion::Completed)
}

/// Returns the case with this number of messages in flight.
fn with(case: &Case, window: u32) -> Case {
    case.clone().with_window(NonZeroU32::new(window).unwrap_or(NonZeroU32::MIN))
}

fn outcome(entry: &MechanismEntry, case: &Case) -> Result<Outcome, Failed> {
    quick(&registry(), entry, case, WATCHDOG)
}

/// Checks that the case is measured at its limit and refused above it. Finds the limit by a request for far more
/// messages.
fn keeps_up_to_its_limit(entry: &MechanismEntry, case: &Case) -> Result<(), Failed> {
    let many = with(case, many(entry, case.wait));
    let most = match outcome(entry, &many)? {
        Outcome::Measured(measured) => return sound(&many, &Outcome::Measured(measured)),
        Outcome::Refused(refusal) => {
            let number = refusal.remedy.split_whitespace().find_map(|word| word.parse().ok());
            number.unwrap_or(1)
        }
        other => return Err(format!("{many}: {other:?}").into()),
    };
    // Every mechanism supports one message in flight. One that holds a message in each direction supports three, unless
    // it would lose them.
    let waits = entry.capabilities.when_full == WhenFull::Waits;
    if most < 3 && waits && holds_one_each_way(entry, case)? {
        return Err(format!("{case}: only {most} can be outstanding").into());
    }
    let largest = most.min((MOST_BYTES / case.size_bytes.max(1)) as u32);
    for window in [2, largest].into_iter().filter(|window| (2..=most).contains(window)) {
        let case = with(case, window);
        sound(&case, &outcome(entry, &case)?)?;
    }
    // The limit of a user may change from one link to the next. Messages in a TCP socket use more or less memory,
    // depending on the parts in which they arrived. So a link that holds more messages may have more in flight.
    let more = most + 1 + most / 1000;
    match outcome(entry, &with(case, more))? {
        Outcome::Refused(refusal) if refusal.reason.contains("cannot be in flight") => Ok(()),
        Outcome::Measured(measured) if holds(&measured, more) => Ok(()),
        other => Err(format!("{case}: more than {most} outstanding gave {other:?}").into()),
    }
}

/// Returns whether both directions of the measured link held this number of messages, including one that is being
/// answered.
fn holds(measured: &Measurement, messages: u32) -> bool {
    let ways = measured.depth.map(|ways| ways.map(Depth::messages));
    matches!(ways, Some([Some(there), Some(back)]) if there + back + 1 >= u64::from(messages))
}

/// Returns whether a link holds a message in each direction without a receiver. A link must hold a message of a page
/// and a byte. Exceptions are a pipe that reports a smaller capacity, and a sender that waits for each message to be
/// received.
fn holds_one_each_way(entry: &MechanismEntry, case: &Case) -> Result<bool, Failed> {
    if case.size_bytes > 4097 {
        return Ok(false);
    }
    match outcome(entry, case)? {
        Outcome::Measured(measured) if entry.capabilities.buffer == KernelBuffer::Pipe => {
            Ok(case.size_bytes as u64 <= measured.effective["pipe-size-bytes"])
        }
        Outcome::Measured(measured) => Ok(measured.depth != Some([Depth::of(0); 2])),
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// Checks that every message was verified and that both roles counted it.
fn sound(case: &Case, outcome: &Outcome) -> Result<(), Failed> {
    match outcome {
        Outcome::Measured(measured)
            if measured.verified_messages > 0
                && measured.round_trips > 0
                && measured.round_trips_per_sample == 1
                && measured.roles.len() == 2
                && measured.roles[0].messages_received == measured.roles[1].messages_received =>
        {
            Ok(())
        }
        other => Err(format!("{case}: {other:?}").into()),
    }
}

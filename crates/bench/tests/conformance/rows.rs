//! Tests of every benchmark through the whole harness, with message sizes around every limit.

use crate::own_session::session;
use crate::pair::WATCHDOG;
use crate::workers::Trial;
use furlong_bench::plan::Plan;
use furlong_bench::run::{Event, Run, harness};
use furlong_bench::trial::{MessageExchange, Settings, TrialContext};
use furlong_bench::{MechanismEntry, placement, registry};
use furlong_model::{
    Capabilities, Case, ChildStart, Measurement, Outcome, Placement, Record, Start, Wait, format_bytes,
};
use libtest_mimic::{Completion, Failed};
use std::time::Duration;

/// Message sizes around the limits of stamps, cache lines, pages and a pipe's buffer.
const SIZES: [usize; 6] = [1, 8, 9, 17, 4097, 65_537];

/// Message sizes on the other sides of these limits.
const MORE_SIZES: [usize; 4] = [7, 16, 128, 4096];

/// Message sizes for wait strategies other than the default: stamps do not depend on the wait strategy. On Linux
/// `counts` sends 128 bytes with each wait strategy.
const FEW_SIZES: &[usize] = if cfg!(windows) { &[1, 128, 65_537] } else { &[65_537] };

/// Message sizes in one process, including those that do not fit into a mechanism at once.
const SIZES_IN_ONE_PROCESS: [usize; 4] = [1, 128, 4097, 300_000];

/// Message sizes in one process for wait strategies other than the default.
const FEW_SIZES_IN_ONE_PROCESS: [usize; 2] = [128, 300_000];

/// The largest size for a mechanism that only memory limits: four times the capacity of a pipe, plus one byte.
const LARGEST: usize = (256 << 10) + 1;

/// Returns the tests of each benchmark with all sizes that it accepts, and of each mechanism at its limit and beyond.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        // The limit may count for the user, and so for all processes.
        let is_limited = move || entry.probe().is_ok_and(|limits| limits.max_size_bytes.is_some());
        for &wait in entry.capabilities.waits {
            let name = format!("{}/{wait}: carries what it is given", entry.capabilities.name);
            let usual = is_usual(&entry, wait);
            let sizes = if usual { &SIZES } else { FEW_SIZES };
            let test = Trial::ignorable_test(name.clone(), move || carries(&entry, wait, sizes));
            tests.push(test.slow_if(!usual && !is_first_with(&entry, wait)));
            if usual {
                let more = Trial::ignorable_test(format!("{name}, at more sizes"), move || {
                    carries(&entry, wait, &MORE_SIZES)
                });
                tests.push(more.slow_if(true));
            }
        }
        if entry.capabilities.start != Start::Alone {
            for &wait in entry.capabilities.waits {
                let name =
                    format!("{}/{wait}: carries what it is given in one process", entry.capabilities.name);
                tests.push(
                    Trial::ignorable_test(name, move || carries_in_one_process(&entry, wait))
                        .alone_if(is_limited)
                        .slow_if(!is_usual(&entry, wait) || is_combined_elsewhere(&entry)),
                );
            }
        }
        let name = format!(
            "{}/{}: goes to its limit and not beyond",
            entry.capabilities.name, entry.capabilities.waits[0]
        );
        let test = Trial::ignorable_test(name, move || limit(&entry)).alone_if(is_limited);
        tests.push(test.slow_if(is_combined_elsewhere(&entry)));
    }
    tests
}

/// Runs a quick trial with this binary as both roles.
pub fn quick(
    mechanisms: &[MechanismEntry],
    entry: &MechanismEntry,
    case: &Case,
    timeout: Duration,
) -> Result<Outcome, Failed> {
    persistent(mechanisms, entry, case, timeout, Duration::from_millis(2))
}

/// Runs a trial whose warm-up and measured part both last `budget`. If a fault affects the last message before the
/// roles meet, no later message reveals it. So a trial of a broken mechanism must last longer.
pub fn persistent(
    mechanisms: &[MechanismEntry],
    entry: &MechanismEntry,
    case: &Case,
    timeout: Duration,
    budget: Duration,
) -> Result<Outcome, Failed> {
    warmed_up(mechanisms, entry, case, timeout, [budget; 2])
}

/// Runs a trial with these durations of warm-up and measured part.
pub fn warmed_up(
    mechanisms: &[MechanismEntry],
    entry: &MechanismEntry,
    case: &Case,
    timeout: Duration,
    [warm_up, budget]: [Duration; 2],
) -> Result<Outcome, Failed> {
    let session = session()?;
    let settings = Settings {
        budget,
        warm_up: Some(warm_up),
        timeout,
        clock_read_ns: 25.0,
        most_round_trips: None,
        limit: None,
    };
    let processors = placement::pinned(session.cpus(), case.placement, &case.all_parties())
        .map_err(|unavailable| unavailable.reason)?;
    let carrier = case.exchange.request().and_then(|request| request.by.as_deref());
    let work = MessageExchange {
        mechanisms,
        entry,
        request_carrier: mechanisms.iter().find(|entry| carrier == Some(entry.capabilities.name)),
        case,
        child: ChildStart::default(),
        peer: None,
    };
    let context = TrialContext { work, processors, session: &session };
    context.run(&settings).map_err(|_| "interrupted".into())
}

/// Returns a plan with one short trial of each case.
pub fn short_plan() -> Plan {
    Plan {
        trials: 1,
        budget: Duration::from_millis(2),
        warm_up: Some(Duration::from_millis(1)),
        timeout: WATCHDOG,
        seed: 1,
        ..Plan::default()
    }
}

/// Returns the outcome of the last trial of each case, in their order.
pub fn carried_out(plan: &Plan) -> Result<Vec<Outcome>, Failed> {
    let mechanisms = registry();
    let mut found = vec![None; plan.cases.len()];
    let session = session()?;
    let run = Run { mechanisms: &mechanisms, plan, harness: harness(), session: &session, peer: None };
    run.go(&mut |event| {
        if let Event::Record(Record::Trial(trial)) = event
            && let Some(at) = plan.cases.iter().position(|case| *case == trial.case)
        {
            found[at] = Some(trial.outcome.clone());
        }
    });
    found.into_iter().collect::<Option<_>>().ok_or_else(|| "a case was not tried".into())
}

/// Returns two cores if there are two: a pair that busy-waits on one core needs a time slice per message.
pub fn placed() -> Placement {
    match placement::resolve(Placement::OtherCore) {
        Ok(_) => Placement::OtherCore,
        Err(_) => Placement::SameCore,
    }
}

/// Returns the case of a benchmark.
pub fn case(entry: &MechanismEntry, wait: Wait, size_bytes: usize) -> Case {
    Case::round_trip(entry.capabilities.name, wait, size_bytes, placed())
}

/// Runs a trial that must succeed, checks its figures, and returns them.
fn measured(entry: &MechanismEntry, wait: Wait, size_bytes: usize) -> Result<Measurement, Failed> {
    let case = case(entry, wait, size_bytes);
    match quick(&registry(), entry, &case, WATCHDOG)? {
        Outcome::Measured(measured) => {
            let roles = if entry.capabilities.start == Start::Alone { 1 } else { 2 };
            let counts: Vec<_> = measured.roles.iter().map(|role| role.messages_received).collect();
            let sound = measured.verified_messages > 0
                && measured.round_trips > 0
                && measured.roles.len() == roles
                && counts.iter().all(|count| *count == counts[0]);
            if sound { Ok(measured) } else { Err(format!("{case}: {measured:?}").into()) }
        }
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// Returns whether it is the first mechanism of its family, which represents the others in tests of the harness.
pub fn is_first_of_family(entry: &MechanismEntry) -> bool {
    let first = registry().into_iter().find(|other| other.capabilities.family == entry.capabilities.family);
    first.is_some_and(|first| first.capabilities.name == entry.capabilities.name)
}

/// Returns whether it is the first mechanism between two processes with this wait strategy. It represents the others if
/// the default wait strategy of each mechanism is tested too.
pub fn is_first_with(entry: &MechanismEntry, wait: Wait) -> bool {
    let can = |other: &Capabilities| other.waits.contains(&wait) && other.start != Start::Alone;
    let first = registry().into_iter().find(|other| can(other.capabilities));
    first.is_some_and(|first| first.capabilities.name == entry.capabilities.name)
}

/// Returns whether its memory is tested with another doorbell, and its doorbell with other memory. Every kind of memory
/// works with each of these doorbells. So the first doorbell of a kind of memory represents the others, and the last
/// kind of memory represents the other kinds.
pub fn is_combined_elsewhere(entry: &MechanismEntry) -> bool {
    /// The number of doorbells per kind of memory; other mechanisms with several doorbells have at most three.
    const DOORBELLS: usize = 4;
    let all: Vec<_> = registry().into_iter().map(|entry| entry.capabilities).collect();
    let of_name = |name| all.iter().filter(move |other| other.name == name);
    let mut combined = all.iter().filter(|other| of_name(other.name).count() >= DOORBELLS);
    let own = entry.capabilities;
    of_name(own.name).count() >= DOORBELLS
        && of_name(own.name).next().is_some_and(|first| first.waits[0] != own.waits[0])
        && combined.rfind(|other| other.waits[0] == own.waits[0]).is_some_and(|last| last.name != own.name)
}

/// Returns whether this is the default wait strategy of the mechanism.
pub fn is_usual(entry: &MechanismEntry, wait: Wait) -> bool {
    entry.capabilities.waits[0] == wait
}

/// Checks all sizes. A size beyond the limit of the mechanism is replaced by the limit.
fn carries(entry: &MechanismEntry, wait: Wait, sizes: &[usize]) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    if let Some(size) = entry.capabilities.fixed_size_bytes {
        measured(entry, wait, size)?;
        return Ok(Completion::Completed);
    }
    for &size in sizes {
        measured(entry, wait, limits.max_size_bytes.map_or(size, |max| size.min(max)))?;
    }
    Ok(Completion::Completed)
}

/// Checks the mechanism with both ends in one process.
fn carries_in_one_process(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let fixed = entry.capabilities.fixed_size_bytes.map(|size| vec![size]);
    let sizes = if is_usual(entry, wait) { &SIZES_IN_ONE_PROCESS[..] } else { &FEW_SIZES_IN_ONE_PROCESS };
    for size in fixed.unwrap_or_else(|| sizes.to_vec()) {
        let case = Case { placement: Placement::OneProcess, ..case(entry, wait, size) };
        if case.refusal(entry.capabilities, &limits).is_some() {
            continue;
        }
        match quick(&registry(), entry, &case, WATCHDOG)? {
            Outcome::Measured(measured) if measured.roles.len() == 1 && measured.verified_messages > 0 => {}
            other => return Err(format!("{case}: {other:?}").into()),
        }
    }
    Ok(Completion::Completed)
}

fn limit(entry: &MechanismEntry) -> Result<Completion, Failed> {
    let wait = entry.capabilities.waits[0];
    if entry.capabilities.fixed_size_bytes.is_some() {
        return Ok(Completion::ignored_with("skipped, because its messages have one size"));
    }
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let max = limits.max_size_bytes.unwrap_or(LARGEST).min(LARGEST);
    measured(entry, wait, max)?;
    let beyond = limits.max_size_bytes.unwrap_or(usize::MAX).saturating_add(1);
    match (limits.max_size_bytes, case(entry, wait, beyond).refusal(entry.capabilities, &limits)) {
        (None, _) => Ok(Completion::Completed),
        (Some(max), Some(refusal)) if refusal.reason.contains(&format_bytes(max)) => {
            Ok(Completion::Completed)
        }
        (Some(_), refusal) => Err(format!("beyond the limit: {refusal:?}").into()),
    }
}

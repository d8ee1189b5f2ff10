//! Every row through the whole harness, at sizes around every edge.

use furlong_bench::session::{Options, Session};
use furlong_bench::trial::{Scene, Settings};
use furlong_bench::{Driver, placement, registry};
use furlong_model::{Case, Measurement, Outcome, Placement, Start, Wait, format_bytes};
use libtest_mimic::{Completion, Failed, Trial};
use std::time::Duration;

/// Sizes around the edges of stamps, lines, pages and a pipe's buffer.
const SIZES: [usize; 10] = [1, 7, 8, 9, 16, 17, 128, 4096, 4097, 65_537];

/// The largest size that is tried where only memory limits it.
const LARGEST: usize = 16 << 20;

/// Each row at all sizes it takes, and each mechanism at its limit and beyond.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for driver in registry() {
        for &wait in driver.capabilities.waits {
            let name = format!("{}/{wait}: carries what it is given", driver.capabilities.name);
            tests.push(Trial::ignorable_test(name, move || carries(&driver, wait)));
        }
        if driver.capabilities.start != Start::Alone {
            for &wait in driver.capabilities.waits {
                let name =
                    format!("{}/{wait}: carries what it is given in one process", driver.capabilities.name);
                tests.push(Trial::ignorable_test(name, move || carries_in_one_process(&driver, wait)));
            }
        }
        let name = format!(
            "{}/{}: goes to its limit and not beyond",
            driver.capabilities.name, driver.capabilities.waits[0]
        );
        tests.push(Trial::ignorable_test(name, move || limit(&driver)));
    }
    tests
}

/// What surrounds a trial in which this binary plays both roles.
pub fn session() -> Result<Session, Failed> {
    let program = std::env::current_exe()?;
    Ok(Session::open(Options { program, file_folder: None, hear_signals: false })?)
}

/// A quick trial with this binary as both roles.
pub fn quick(
    drivers: &[Driver],
    driver: &Driver,
    case: &Case,
    patience: Duration,
) -> Result<Outcome, Failed> {
    lasting(drivers, driver, case, patience, Duration::from_millis(2))
}

/// The same, measured for as long as `budget`.
pub fn lasting(
    drivers: &[Driver],
    driver: &Driver,
    case: &Case,
    patience: Duration,
    budget: Duration,
) -> Result<Outcome, Failed> {
    let session = session()?;
    let settings = Settings {
        budget,
        warm_up: Some(Duration::from_millis(2)),
        patience,
        clock_read_ns: 25.0,
        most_round_trips: None,
    };
    let processors = placement::resolve(case.placement).map_err(|unavailable| unavailable.reason)?;
    let scene = Scene { drivers, driver, asker: None, case, processors, session: &session };
    scene.run(&settings).map_err(|_| "interrupted".into())
}

/// Two cores where there are two: a spinning pair on one takes a time slice for each message.
pub fn placed() -> Placement {
    match placement::resolve(Placement::OtherCore) {
        Ok(_) => Placement::OtherCore,
        Err(_) => Placement::SameCore,
    }
}

/// The row as a case.
pub fn case(driver: &Driver, wait: Wait, size_bytes: usize) -> Case {
    Case::round_trip(driver.capabilities.name, wait, size_bytes, placed())
}

/// The measurement of a trial that must succeed, after looking at what must hold in it.
fn measured(driver: &Driver, wait: Wait, size_bytes: usize) -> Result<Measurement, Failed> {
    let case = case(driver, wait, size_bytes);
    match quick(&registry(), driver, &case, Duration::from_secs(20))? {
        Outcome::Measured(measured) => {
            let roles = if driver.capabilities.start == Start::Alone { 1 } else { 2 };
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

fn carries(driver: &Driver, wait: Wait) -> Result<Completion, Failed> {
    let limits = match (driver.probe)() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    if let Some(size) = driver.capabilities.fixed_size_bytes {
        measured(driver, wait, size)?;
        return Ok(Completion::Completed);
    }
    for size in SIZES {
        if limits.max_size_bytes.is_none_or(|max| size <= max) {
            measured(driver, wait, size)?;
        }
    }
    Ok(Completion::Completed)
}

/// With both ends in one process, also where a message does not fit into the mechanism in one piece.
fn carries_in_one_process(driver: &Driver, wait: Wait) -> Result<Completion, Failed> {
    let limits = match (driver.probe)() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let fixed = driver.capabilities.fixed_size_bytes.map(|size| vec![size]);
    for size in fixed.unwrap_or_else(|| vec![1, 128, 4097, 300_000]) {
        let case = Case { placement: Placement::OneProcess, ..case(driver, wait, size) };
        if case.refusal(driver.capabilities, &limits).is_some() {
            continue;
        }
        match quick(&registry(), driver, &case, Duration::from_secs(20))? {
            Outcome::Measured(measured) if measured.roles.len() == 1 && measured.verified_messages > 0 => {}
            other => return Err(format!("{case}: {other:?}").into()),
        }
    }
    Ok(Completion::Completed)
}

fn limit(driver: &Driver) -> Result<Completion, Failed> {
    let wait = driver.capabilities.waits[0];
    if driver.capabilities.fixed_size_bytes.is_some() {
        return Ok(Completion::ignored_with("skipped, because its messages have one size"));
    }
    let limits = match (driver.probe)() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let max = limits.max_size_bytes.unwrap_or(LARGEST).min(LARGEST);
    measured(driver, wait, max)?;
    let beyond = limits.max_size_bytes.unwrap_or(usize::MAX).saturating_add(1);
    match (limits.max_size_bytes, case(driver, wait, beyond).refusal(driver.capabilities, &limits)) {
        (None, _) => Ok(Completion::Completed),
        (Some(max), Some(refusal)) if refusal.reason.contains(&format_bytes(max)) => {
            Ok(Completion::Completed)
        }
        (Some(_), refusal) => Err(format!("beyond the limit: {refusal:?}").into()),
    }
}

//! Tests of messages that are sent at fixed times, and of late messages.

use crate::pair::WATCHDOG;
use crate::rows::{case, warmed_up};
use crate::saboteur::{self, DAWDLE, LATE, STALL, name};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{Arrival, Case, Measurement, Outcome, Pattern, RoleTally, Wait};
use furlong_stats::{Distribution, Mixture};
use libtest_mimic::Failed;
use std::time::Duration;

/// Returns the tests of the paces, each for a benchmark that sleeps and one that busy-waits.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for wait in [Wait::Block, Wait::Spin] {
        tests.push(Trial::test(format!("pace/{wait}: a gap is kept"), move || a_gap_is_kept(wait)));
        for pattern in [Pattern::RoundTrip, Pattern::OneWay] {
            tests.push(Trial::test(format!("pace/{wait}: a rate is kept ({pattern})"), move || {
                a_rate_is_kept(wait, pattern)
            }));
            tests.push(Trial::test(format!("pace/{wait}: late sends are reported ({pattern})"), move || {
                late_sends_are_told(wait, pattern)
            }));
        }
    }
    tests.push(
        Trial::test("pace/stall: shows at a fixed rate", a_stall_shows_at_a_fixed_rate).alone_if(|| true),
    );
    tests
}

fn paced(
    mechanisms: &[MechanismEntry],
    mechanism: Option<&str>,
    wait: Wait,
    (pattern, arrival): (Pattern, Arrival),
    budget: Duration,
) -> Result<Measurement, Failed> {
    let suits = |entry: &&MechanismEntry| {
        let capabilities = entry.capabilities;
        mechanism.map_or(!capabilities.notifies_only() && capabilities.waits.contains(&wait), |name| {
            capabilities.name == name
        })
    };
    let entry = mechanisms
        .iter()
        .filter(suits)
        .find(|entry| entry.capabilities.name != "null")
        .ok_or("no such row")?;
    let case = Case { arrival, ..case(entry, wait, 128).with_pattern(pattern) };
    match warmed_up(mechanisms, entry, &case, WATCHDOG, [Duration::from_millis(2), budget])? {
        Outcome::Measured(measured) => Ok(measured),
        other => Err(format!("{case}: {other:?}").into()),
    }
}

fn holds(claim: bool, measured: &Measurement) -> Result<(), Failed> {
    if claim { Ok(()) } else { Err(format!("{measured:?}").into()) }
}

fn a_gap_is_kept(wait: Wait) -> Result<(), Failed> {
    const GAP_NS: u64 = 300_000;
    let measured = paced(
        &registry(),
        None,
        wait,
        (Pattern::RoundTrip, Arrival::ThinkTime(GAP_NS)),
        Duration::from_millis(20),
    )?;
    holds(measured.elapsed_ns >= measured.round_trips * GAP_NS, &measured)
}

fn a_rate_is_kept(wait: Wait, pattern: Pattern) -> Result<(), Failed> {
    const INTERVAL_NS: u64 = 400_000;
    let manner = (pattern, Arrival::Interval(INTERVAL_NS));
    let measured = paced(&registry(), None, wait, manner, Duration::from_millis(40))?;
    holds(measured.elapsed_ns >= measured.round_trips * INTERVAL_NS, &measured)?;
    // Messages that only the timer delayed are counted, and timed from their send: such a message waited for no other
    // message.
    let by_timer = measured.timer_late.ok_or("no lateness of a timer")?;
    holds(by_timer.sends <= measured.late_sends, &measured)?;
    // In a round trip two processes wait for each other. One of them also waits for a message to be due, which does not
    // count.
    let switches: u64 = measured.roles.iter().map(RoleTally::switches_to_wait).sum();
    holds(switches * 2 <= measured.round_trips * 5, &measured)
}

/// Checks that late sends are counted. No message arrives within 20 ns, so nearly every message after the first is
/// late.
fn late_sends_are_told(wait: Wait, pattern: Pattern) -> Result<(), Failed> {
    let manner = (pattern, Arrival::Interval(20));
    let measured = paced(&registry(), None, wait, manner, Duration::from_millis(20))?;
    let in_time = measured.round_trips.saturating_sub(measured.late_sends);
    holds(in_time <= 1 + measured.round_trips / 10, &measured)?;
    // The messages wait for the messages before them, and not for a timer.
    holds(measured.timer_late.is_some_and(|late| late.sends <= 1 + measured.round_trips / 10), &measured)
}

/// Checks that stalls show at a fixed rate: two messages are slow in a closed loop, but a tenth of all at a fixed rate.
fn a_stall_shows_at_a_fixed_rate() -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let p99_ns = |arrival: Arrival| -> Result<f64, Failed> {
        let measured = paced(
            &mechanisms,
            Some(name(DAWDLE, LATE)),
            Wait::Block,
            (Pattern::RoundTrip, arrival),
            Duration::from_secs(1),
        )?;
        let times = Distribution::decode(&measured.histogram).map_err(|error| error.to_string())?;
        Ok(Mixture::of(&[times]).ok_or("no times")?.quantile_ns(0.99))
    };
    let (closed, open) = (p99_ns(Arrival::ClosedLoop)?, p99_ns(Arrival::Interval(1_000_000))?);
    let stall_ns = STALL.as_nanos() as f64;
    if open > stall_ns / 2.0 && closed < open / 2.0 {
        return Ok(());
    }
    Err(format!("p99 is {open} ns at a fixed rate and {closed} ns without").into())
}

//! Tests of traffic: messages of several sizes, at independent times, to a receiver that works on each.

use crate::pair::WATCHDOG;
use crate::rows::{case, is_first_with, is_usual, quick};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{
    Arrival, Case, ConditionKind, Exchange, Outcome, Pattern, Request, RequestedConditions, Wait,
};
use furlong_stats::Distribution;
use libtest_mimic::{Completion, Failed};
use std::num::NonZeroU32;

/// The smallest size with a whole stamp, a size that is not aligned, and one of several pages.
const MIX: &str = "8:50,101:30,9001:20";

/// Returns one test per benchmark that carries data.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        for &wait in entry.capabilities.waits {
            let name = format!("{}/{wait}: carries messages of several sizes", entry.capabilities.name);
            if !condition("sizes", MIX).iter().all(|one| one.applies(entry.capabilities)) {
                continue;
            }
            let test = Trial::ignorable_test(name, move || carries(&entry, wait));
            tests.push(test.slow_if(!is_usual(&entry, wait) && !is_first_with(&entry, wait)));
        }
    }
    tests
}

fn condition(kind: &str, value: &str) -> RequestedConditions {
    ConditionKind::find(kind).unwrap().read(value).unwrap().into()
}

fn carries(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let mixed = condition("sizes", MIX);
    let served = mixed.with(ConditionKind::find("service-time").unwrap().read("exp:1us").unwrap());
    let round_trip = Case { conditions: mixed.clone(), ..case(entry, wait, 9001) };
    let paced = |arrival: Arrival, pattern: Pattern| Case {
        arrival,
        conditions: served.clone(),
        ..round_trip.clone().with_pattern(pattern)
    };
    let burst = Arrival::Burst { interval_ns: 20_000, messages: NonZeroU32::new(4).unwrap() };
    let request = Request { size_bytes: 32, by: None };
    let exchange = Exchange::of(Pattern::Request).with_request(Some(request));
    let cases = [
        round_trip.clone(),
        round_trip.clone().with(round_trip.exchange.clone().with_window(NonZeroU32::new(3).unwrap())),
        round_trip.clone().with(exchange),
        Case {
            conditions: mixed.with(ConditionKind::find("request-sizes").unwrap().read("8:1,7000:1").unwrap()),
            ..round_trip.clone().with(Exchange::asking(Request { size_bytes: 7000, by: None }))
        },
        round_trip.clone().with_pattern(Pattern::OneWay),
        paced(Arrival::Poisson(20_000), Pattern::RoundTrip),
        paced(burst, Pattern::RoundTrip).with_window(NonZeroU32::new(3).unwrap()),
        paced(burst, Pattern::OneWay),
    ];
    let mut measured = 0;
    for case in &cases {
        if case.refusal(entry.capabilities, &limits).is_some() {
            continue;
        }
        let trial = match quick(&registry(), entry, case, WATCHDOG)? {
            Outcome::Measured(trial) => trial,
            // The link holds fewer messages than the window.
            Outcome::Refused(_) => continue,
            other => return Err(format!("{case}: {other:?}").into()),
        };
        measured += 1;
        let is_stream = case.pattern().is_one_way() && case.arrival.is_closed_loop();
        let by_size: Result<Vec<u64>, _> = trial
            .size_classes
            .iter()
            .map(|class| Distribution::decode(&class.histogram).map(|times| times.samples()))
            .collect();
        let sum: u64 = by_size.map_err(|error| error.to_string())?.iter().sum();
        if trial.verified_messages == 0 || (!is_stream && sum != trial.round_trips) {
            return Err(format!("{case}: {sum} of {} messages have a size", trial.round_trips).into());
        }
    }
    let refused = limits.max_size_bytes.is_some_and(|most| most < 9001);
    if measured == 0 && !refused { Err("no case is measured".into()) } else { Ok(Completion::Completed) }
}

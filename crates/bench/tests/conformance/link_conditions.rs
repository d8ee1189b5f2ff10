//! Tests of links under requested conditions: with options of their sockets, with two writes per message, and
//! with several messages per call.

use crate::pair::WATCHDOG;
use crate::rows::{case, is_first_with, is_usual, quick};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{CONDITION_KINDS, Case, Outcome, Pattern, RequestedCondition, RequestedConditions, Wait};
use libtest_mimic::{Completion, Failed};

/// Message sizes: the smallest for two writes, a small one, and one that needs several calls.
const SIZES: [usize; 3] = [2, 128, 65_537];

/// Values that no delayed acknowledgement slows down.
const VALUES: [(&str, &str); 7] = [
    ("socket-options", "nagle+quickack"),
    ("socket-options", "nodelay+cork"),
    ("socket-options", "zerocopy"),
    ("writes", "1"),
    ("writes", "2"),
    ("batch", "1"),
    ("batch", "5"),
];

/// Returns one test per benchmark to which a value applies.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        for &wait in entry.capabilities.waits {
            let all = combinations(&entry);
            if all.iter().all(RequestedConditions::is_empty) {
                continue;
            }
            let name =
                format!("{}/{wait}: carries messages under conditions of its link", entry.capabilities.name);
            let test = Trial::ignorable_test(name, move || carries(&entry, wait, &all));
            tests.push(test.slow_if(!is_usual(&entry, wait) && !is_first_with(&entry, wait)));
        }
    }
    tests
}

/// Returns all combinations of the values that apply to a mechanism.
fn combinations(entry: &MechanismEntry) -> Vec<RequestedConditions> {
    let values = |name: &str| -> Vec<RequestedCondition> {
        let kind = CONDITION_KINDS.iter().find(|kind| kind.name == name);
        // Options of sockets are measured only on Linux.
        let is_here = !(cfg!(windows) && name == "socket-options");
        let texts = VALUES.iter().filter(|(kind, _)| *kind == name && is_here).map(|(_, text)| *text);
        kind.into_iter().flat_map(|kind| texts.clone().map(|text| kind.read(text))).flatten().collect()
    };
    RequestedConditions::combinations(&["socket-options", "writes", "batch"].map(values), entry.capabilities)
}

fn carries(entry: &MechanismEntry, wait: Wait, all: &[RequestedConditions]) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let mut carried = 0;
    for conditions in all {
        for size_bytes in SIZES {
            for pattern in [Pattern::RoundTrip, Pattern::OneWay] {
                let conditions = conditions.clone();
                let case = Case { conditions, ..case(entry, wait, size_bytes).with_pattern(pattern) };
                // One way, UDP loses messages. A datagram can be smaller than the largest size.
                if case.refusal(entry.capabilities, &limits).is_some() {
                    continue;
                }
                carried += 1;
                match quick(&registry(), entry, &case, WATCHDOG)? {
                    Outcome::Measured(measured) if measured.verified_messages > 0 => {}
                    other => return Err(format!("{case}: {other:?}").into()),
                }
            }
        }
    }
    if carried < all.len() {
        return Err(format!("{carried} cases for {} combinations of conditions", all.len()).into());
    }
    Ok(Completion::Completed)
}

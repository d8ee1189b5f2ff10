//! The planned messages of an exchange, if they are due at varying times or have several sizes.

use super::protocol::Exchange;
use furlong_loops::schedule::Schedule;
use furlong_loops::size_sequence::SizeSequence;
use furlong_model::{Arrival, Case};
use std::fmt::Write;

/// Returns the sizes of the messages of a trial with this key, if they are mixed.
pub(super) fn sizes(case: &Case, key: u64) -> Option<SizeSequence> {
    case.conditions.size_mix().map(|mix| SizeSequence::new(mix, key))
}

/// Returns when each message of an exchange is due, in nanoseconds after its beginning. A closed loop has no such times.
pub(super) fn due_ns(case: &Case, key: u64) -> impl Iterator<Item = u64> {
    let mut schedule = Schedule::new(case.arrival, case.wait, key);
    let mut due_ns = 0;
    std::iter::repeat_with(move || {
        due_ns = schedule.next_ns(due_ns, due_ns);
        due_ns
    })
}

/// Returns the file that describes the messages of an exchange to the programs, a line with due time and bytes per message. `done`
/// messages were exchanged before. `None` if the request has everything: messages of one size at fixed times, or in a closed loop.
pub(super) fn file(case: &Case, key: u64, done: u64, asked: Exchange) -> Option<String> {
    // Messages to several receivers have an interval of the second half of a trial, which is no pace.
    let is_paced = asked.interval_ns.is_some() && case.arrival.interval_ns().is_some();
    let varies = is_paced && !matches!(case.arrival, Arrival::Interval(_));
    let sizes = sizes(case, key);
    if !varies && sizes.is_none() {
        return None;
    }
    let mut text = String::new();
    let due_ns = due_ns(case, key).map(|due_ns| if is_paced { due_ns } else { 0 });
    for (number, due_ns) in (done + 1..=done + asked.messages).zip(due_ns) {
        let bytes = sizes.as_ref().map_or(case.size_bytes, |sizes| sizes.bytes(number));
        let _ = writeln!(text, "{due_ns} {bytes}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{ConditionKind, Phase, Placement, Wait};

    fn exchange(interval_ns: Option<u64>) -> Exchange {
        Exchange { interval_ns, ..Exchange::unpaced(Phase::Timed, 50, 1) }
    }

    fn lines(case: &Case, done: u64, interval_ns: Option<u64>) -> Vec<(u64, usize)> {
        let text = file(case, 7, done, exchange(interval_ns)).expect("a schedule");
        let line = |line: &str| {
            let (due, bytes) = line.split_once(' ').expect("two words");
            (due.parse().unwrap(), bytes.parse().unwrap())
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn only_messages_that_vary_have_a_schedule() {
        let case = Case::round_trip("queue", Wait::Block, 128, Placement::Free);
        assert_eq!(file(&case, 7, 0, exchange(None)), None);
        let fixed = Case { arrival: Arrival::Interval(100), ..case.clone() };
        assert_eq!(file(&fixed, 7, 0, exchange(Some(100))), None);
        let random = Case { arrival: Arrival::Poisson(1000), ..case.clone() };
        assert_eq!(file(&random, 7, 0, exchange(None)), None, "the warm-up has no pace");
        let planned = lines(&random, 3, Some(1000));
        assert!(planned.iter().map(|(due, _)| *due).eq(due_ns(&random, 7).take(50)), "{planned:?}");
        assert!(planned.is_sorted() && planned.iter().all(|(_, bytes)| *bytes == 128), "{planned:?}");
        let mix = ConditionKind::find("sizes").unwrap().read("16:1,128:1").unwrap();
        let mixed = Case { conditions: case.conditions.with(mix), ..case };
        let [first, second] = [0, 50].map(|done| lines(&mixed, done, None));
        assert!(first.iter().all(|(due, bytes)| *due == 0 && [16, 128].contains(bytes)), "{first:?}");
        assert_ne!(first, second, "sizes go on in the next exchange");
    }
}

//! Every program is built and run as printed. All messages must arrive whole, with either end started first and with
//! every combination of languages, and nothing may be left behind.

use crate::support::{BuiltProgram, can_build, each, is_readable, is_root, turn};
use furlong_model::{Pattern, Wait};
use furlong_programs::{EndBoundaries, Language, program, supported};
use furlong_testing::skip;
use std::ops::Range;

/// Messages in each exchange: more than the number of buffers that a program uses in turns.
const COUNT: u64 = 200;

/// Returns the number of messages. Two busy-waiting ends are slow on a machine with two CPUs.
fn count(wait: Wait) -> u64 {
    if wait == Wait::Spin { 40 } else { COUNT }
}

/// A benchmark for which programs exist, with the languages of these programs that are available here.
pub type Row = (&'static str, Wait, Vec<Language>);

/// Returns every such benchmark.
pub fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for language in Language::ALL.into_iter().filter(|language| can_build(*language)) {
        for (mechanism, wait) in supported(language) {
            match rows.iter_mut().find(|row| (row.0, row.1) == (mechanism, wait)) {
                Some(row) => row.2.push(language),
                None => rows.push((mechanism, wait, vec![language])),
            }
        }
    }
    rows
}

/// The pairs of languages.
#[derive(Clone, Copy, PartialEq)]
enum Pairs {
    /// Each language serves each language, itself included.
    All,
    /// Each language serves the next one, so each has both roles, with another language if there is one.
    Next,
}

/// Exchanges messages between the programs of one benchmark, in each start order.
fn exchange(
    (mechanism, wait, languages): &Row,
    (pattern, size_bytes): (Pattern, usize),
    (pairs, orders): (Pairs, Range<usize>),
    count: u64,
) {
    let can = |language: &&Language| {
        program(mechanism, *wait, pattern, size_bytes, EndBoundaries::default(), **language).is_ok()
    };
    let build =
        |language: &Language| BuiltProgram::new((mechanism, *wait), pattern, size_bytes, *language, None);
    let built: Vec<BuiltProgram> = languages.iter().filter(can).map(build).collect();
    for (at, serving) in built.iter().enumerate() {
        let next = (at + 1) % built.len();
        let asking = built.iter().enumerate().filter(|(other, _)| match serving.has_roles() {
            // If one program starts both ends, both are in the same language.
            false => *other == at,
            true => pairs == Pairs::All || *other == next,
        });
        for (_, asking) in asking {
            for first in if serving.has_roles() { orders.clone() } else { 0..1 } {
                serving.assert_exchanges_with(asking, first, count, &[]);
            }
        }
    }
}

fn exchange_all(rows: Vec<Row>, pattern: Pattern, pairs: Pairs, orders: Range<usize>) {
    each(rows, |row| {
        let _turn = turn(row.0);
        exchange(&row, (pattern, 128), (pairs, orders.clone()), count(row.1));
    });
}

#[test]
fn there_and_back() {
    let mut rows = rows();
    for (mechanism, wait, languages) in &mut rows {
        let is_first = |language| mechanisms(language).contains(&(mechanism, *wait));
        languages.retain(|language| *language == Language::C || is_first(*language));
    }
    exchange_all(rows, Pattern::RoundTrip, Pairs::Next, 0..1);
}

/// Returns one benchmark of each mechanism: the one with its first wait strategy.
fn mechanisms(language: Language) -> Vec<(&'static str, Wait)> {
    let mut rows: Vec<_> = supported(language).collect();
    rows.dedup_by_key(|row| row.0);
    rows
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn there_and_back_between_all() {
        exchange_all(rows(), Pattern::RoundTrip, Pairs::All, 0..2);
    }

    /// The ends find each other in the same way as with round trips. So one start order is enough, and each language
    /// once at each end.
    #[test]
    #[ignore = "slow"]
    fn one_way() {
        exchange_all(rows(), Pattern::OneWay, Pairs::Next, 1..2);
    }

    /// Other sizes and the third pattern do not change how a program waits. So the first wait strategy of each
    /// mechanism is enough; it depends on the language.
    #[test]
    #[ignore = "slow"]
    fn other_sizes() {
        let mut rows = rows();
        for (mechanism, wait, languages) in &mut rows {
            languages.retain(|language| mechanisms(*language).contains(&(mechanism, *wait)));
        }
        each(rows, |row| {
            let _turn = turn(row.0);
            exchange(&row, (Pattern::Request, 1000), (Pairs::Next, 0..1), COUNT);
            let too_large = ["posix-mq", "sysv-mq", "udp"].contains(&row.0);
            let large = if too_large { 8192 } else { 65536 + 1 };
            for (size_bytes, count) in [(1, COUNT), (large, 20)] {
                let pattern =
                    if size_bytes > 1 && row.0 != "udp" { Pattern::OneWay } else { Pattern::RoundTrip };
                exchange(&row, (pattern, size_bytes), (Pairs::Next, 1..2), count);
            }
        });
    }

    #[test]
    #[ignore = "slow"]
    fn an_ordinary_user_can_run_them() {
        if !is_root() {
            skip!("needs root: the other tests run as this user");
        }
        let ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        for language in [Language::C, Language::Python] {
            if !can_build(language) || !is_readable(language, &ordinary) {
                continue;
            }
            each(mechanisms(language), |row| {
                let _turn = turn(row.0);
                BuiltProgram::new(row, Pattern::RoundTrip, 128, language, None)
                    .assert_exchanges(0, COUNT, &ordinary);
            });
        }
    }
}

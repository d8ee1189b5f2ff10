//! `furlong explain`: the parts of a round trip, how they add up, and what cannot be taken apart.
#![forbid(unsafe_code)]

mod common;

use common::value::{at, list, number, row, text};
use common::{Finished, Place, Snapshot, look_for};
use serde_json::Value;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);
const QUICK: [&str; 6] = ["--place", "same-core", "--trials", "3", "--budget", "5ms"];

/// A quick explanation of these rows on one core.
fn explain(place: &Place, arguments: &[&str]) -> Finished {
    place.run(["explain"].iter().chain(arguments).chain(&QUICK).copied()).expect_code(0)
}

fn explain_json(rows: &[&str]) -> Value {
    explain(&Place::new(), &[rows, &["--format", "json"]].concat()).json()
}

/// Fails unless both are the same, but for what rounding leaves of `scale`.
#[track_caller]
fn expect_close(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-3 * scale.abs() + 1e-6, "{found} is not {expected}");
}

/// A part of a row.
#[track_caller]
fn term<'a>(row: &'a Value, name: &str) -> &'a Value {
    let found = list(row, "terms").iter().find(|term| at(term, "name") == name);
    found.unwrap_or_else(|| panic!("no {name} in {row:#}"))
}

/// A cost of the run that does not depend on a size.
#[track_caller]
fn cost<'a>(json: &'a Value, name: &str) -> &'a Value {
    let found = list(json, "costs.figures").iter().find(|figure| at(figure, "name") == name);
    found.unwrap_or_else(|| panic!("no cost {name} in {json:#}"))
}

#[test]
fn the_parts_add_up() {
    let json = explain_json(&["pipe/block", "posix-shm/futex"]);
    assert_eq!(list(&json, "rows").len(), 2, "{json:#}");
    assert!(list(&json, "unmodelled").is_empty() && list(&json, "skipped").is_empty(), "{json:#}");
    for row in list(&json, "rows") {
        assert_eq!((at(row, "size_bytes"), text(row, "placement")), (&Value::from(128), "same-core"));
        let [measured, predicted, unexplained] =
            ["measured_ns", "predicted_ns", "unexplained_ns"].map(|name| number(row, name));
        let mut sum = 0.0;
        for term in list(row, "terms") {
            let [count, cost_ns, ns] = ["count", "cost_ns", "ns"].map(|name| number(term, name));
            assert!(count >= 0.0 && cost_ns >= 0.0, "{term:#}");
            expect_close(ns, count * cost_ns, ns);
            sum += ns;
        }
        expect_close(predicted, sum, sum);
        expect_close(unexplained, measured - predicted, measured);
        // Far off would be another row, or parts that are missing; how near depends on the machine.
        assert!(predicted > measured / 2.0 && predicted < measured * 2.0, "{row:#}");
        assert!(number(row, "article_ns") > 0.0, "{row:#}");
        // Nobody shares a core without giving way.
        assert!(number(term(row, "context-switches"), "count") > 1.0, "{row:#}");
        term(row, "own-path");
    }
    let pipe = row(&json, "rows", "pipe/block");
    expect_close(number(term(pipe, "system-calls"), "count"), 4.0, 40.0);
    expect_close(number(term(pipe, "copying"), "count"), 4.0, 1.0);
    row(&json, "rows", "posix-shm/futex");
    // The costs are those of the same run.
    for (part, name) in [("system-calls", "system-call"), ("context-switches", "context-switch")] {
        let ns = number(cost(&json, name), "ns");
        assert!(ns > 0.0, "{json:#}");
        expect_close(number(term(pipe, part), "cost_ns"), ns, ns);
    }
    assert_eq!(at(pipe, "costs_without"), &Value::Null, "{json:#}");
}

#[test]
fn no_cost_is_fitted_to_the_row_that_it_explains() {
    let json = explain_json(&["eventfd/block", "pipe/block"]);
    let from: Vec<_> = list(cost(&json, "context-switch"), "from").iter().collect();
    assert!(from.iter().any(|row| *row == "eventfd/block") && from.len() > 1, "{json:#}");
    let switch_ns = |name: &str| number(term(row(&json, "rows", name), "context-switches"), "cost_ns");
    let ns = number(cost(&json, "context-switch"), "ns");
    // It is one of the rows that a context switch is taken from, but not of its own.
    assert_eq!(text(row(&json, "rows", "eventfd/block"), "costs_without"), "eventfd");
    assert_ne!(switch_ns("eventfd/block"), ns, "{json:#}");
    expect_close(switch_ns("pipe/block"), ns, ns);
}

#[test]
fn where_it_stands_alone_the_costs_are_those_without_it() {
    let json = explain_json(&["eventfd/block"]);
    let from = list(cost(&json, "context-switch"), "from");
    assert!(!from.is_empty() && from.iter().all(|row| row != "eventfd/block"), "{json:#}");
}

#[test]
fn the_table_says_what_was_measured_and_what_is_explained() {
    let table = explain(&Place::new(), &["pipe/block"]).stdout;
    let head = table.lines().find(|line| line.starts_with("pipe/block 128B same-core: ")).expect("a head");
    assert!(head.contains(" measured (") && head.contains(" explained ("), "{table}");
    for part in ["system calls", "copying", "own path", "context switches", "unexplained"] {
        assert!(table.lines().any(|line| line.trim_start().starts_with(part)), "{part} in {table}");
    }
    assert!(table.contains("T = size/bandwidth + N*switch + M*call: "), "{table}");
    assert!(table.contains("Costs, all from the same run: "), "{table}");
}

#[test]
fn on_two_cores_waking_is_what_costs() {
    let place = Place::new();
    let arguments = ["explain", "pipe/block", "--trials", "3", "--budget", "5ms", "--format", "json"];
    let json = place.run(arguments).expect_code(0).json();
    let pipe = row(&json, "rows", "pipe/block");
    assert_eq!(text(pipe, "placement"), "other-core");
    let wake_ups = term(pipe, "wake-ups");
    assert!(number(wake_ups, "count") > 1.0 && number(wake_ups, "ns") > 0.0, "{pipe:#}");
    assert!(number(cost(&json, "wake-up"), "ns") > number(cost(&json, "system-call"), "ns"), "{json:#}");
    assert_eq!(text(pipe, "dominant"), "wake-ups", "{pipe:#}");
}

#[test]
fn what_cannot_be_explained_is_listed_with_its_reason() {
    let json = explain_json(&["posix-shm/spin", "udp", "-s", "1MiB"]);
    assert!(list(&json, "rows").is_empty(), "{json:#}");
    let spins = row(&json, "unmodelled", "posix-shm/spin");
    assert!(text(spins, "reason").contains("until its time slice ends"), "{json:#}");
    let refused = row(&json, "skipped", "udp/block");
    assert!(text(refused, "reason").starts_with("1MiB is more than the "), "{json:#}");
    let table = explain(&Place::new(), &["posix-shm/spin"]).stdout;
    let (_, listed) = table.split_once("Not explained\n").expect("what is not explained");
    assert!(listed.contains("posix-shm/spin 128B same-core: "), "{table}");
}

#[test]
fn an_interrupt_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments = ["explain", "pipe", "--trials", "1000", "--format", "json"];
    let running = place.start(&mut place.furlong(arguments));
    look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    running.signal(libc::SIGINT);
    let finished = running.finish_within(A_WHILE).expect_code(130);
    before.expect_nothing_left(&place);
    let json = finished.json();
    assert!(list(&json, "rows").is_empty() && list(&json, "skipped").is_empty(), "{json:#}");
}

//! `furlong explain`: the parts of a round trip, their sum, and the rows that it cannot explain.

use crate::common::value::{at, list, number, row, text};
use crate::common::{Place, Snapshot, is_root, look_for};
use furlong_testing::skip;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);
const QUICK: [&str; 4] = ["--trials", "3", "--budget", "5ms"];

/// Returns the output of `furlong explain` with these words.
fn explain(place: &Place, words: &[&str]) -> String {
    let finished = place.run(["explain"].iter().chain(words).chain(&QUICK).copied()).expect_code(0);
    assert!(finished.stderr.lines().all(|line| line.starts_with("saved: ")), "{}", finished.stderr);
    finished.stdout
}

fn explain_json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&explain(place, &[words, &["--format", "json"]].concat())).expect("one object")
}

/// Output of one run in two formats.
struct Explanation {
    object: Value,
    table: String,
}

/// An explanation that several tests check.
static ON_ONE_CORE: LazyLock<Explanation> = LazyLock::new(|| {
    let place = Place::alone();
    let rows = ["pipe", "posix-shm/futex", "posix-shm/spin", "eventfd", "--place", "same-core"];
    let object = explain_json(&place, &[&rows[..], &["--save", "both"]].concat());
    Explanation { object, table: place.run(["runs", "show", "both"]).expect_code(0).stdout }
});

/// Fails unless both values are equal up to rounding errors relative to `scale`.
#[track_caller]
fn expect_close(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-3 * scale.abs() + 1e-6, "{found} is not {expected}");
}

/// Returns a part of a row.
#[track_caller]
fn term<'a>(row: &'a Value, name: &str) -> &'a Value {
    let found = list(row, "terms").iter().find(|term| at(term, "name") == name);
    found.unwrap_or_else(|| panic!("no {name} in {row:#}"))
}

/// Returns a cost of the run that does not depend on a size.
#[track_caller]
fn cost<'a>(json: &'a Value, name: &str) -> &'a Value {
    let found = list(json, "costs.figures").iter().find(|figure| at(figure, "name") == name);
    found.unwrap_or_else(|| panic!("no cost {name} in {json:#}"))
}

#[test]
fn the_parts_add_up() {
    assert_eq!(list(&ON_ONE_CORE.object, "rows").len(), 3, "{:#}", ON_ONE_CORE.object);
    for row in list(&ON_ONE_CORE.object, "rows") {
        let size = if text(row, "mechanism") == "eventfd" { 8 } else { 128 };
        assert_eq!((at(row, "size_bytes"), text(row, "placement")), (&Value::from(size), "same-core"));
        let [measured, predicted, unexplained] =
            ["measured_ns", "predicted_ns", "unexplained_ns"].map(|name| number(row, name));
        let mut sum = 0.0;
        for term in list(row, "terms") {
            let [count, cost_ns, ns] = ["count", "cost_ns", "ns"].map(|name| number(term, name));
            assert!(count >= 0.0 && cost_ns >= 0.0 && !text(term, "name").is_empty(), "{term:#}");
            expect_close(ns, count * cost_ns, ns);
            sum += ns;
        }
        expect_close(predicted, sum, sum);
        expect_close(unexplained, measured - predicted, measured);
        // A factor of 2 would mean another row or missing parts. The exact deviation depends on the machine.
        assert!(predicted > measured / 2.0 && predicted < measured * 2.0, "{row:#}");
        assert!(number(row, "article_ns") > 0.0, "{row:#}");
        // Two processes share a core only with context switches.
        assert!(number(term(row, "context-switches"), "count") > 1.0, "{row:#}");
        term(row, "own-path");
    }
    let pipe = row(&ON_ONE_CORE.object, "rows", "pipe/block");
    assert!((number(term(pipe, "system-calls"), "count") - 4.0).abs() <= 0.04, "{pipe:#}");
    assert_eq!(number(term(pipe, "copying"), "count"), 4.0, "two messages, two copies each: {pipe:#}");
}

#[test]
fn costs_are_those_of_the_same_run() {
    let pipe = row(&ON_ONE_CORE.object, "rows", "pipe/block");
    assert_eq!(at(pipe, "costs_without"), &Value::Null, "{pipe:#}");
    for (part, name) in [("system-calls", "system-call"), ("context-switches", "context-switch")] {
        let ns = number(cost(&ON_ONE_CORE.object, name), "ns");
        assert!(ns > 0.0, "{name} in {:#}", ON_ONE_CORE.object);
        expect_close(number(term(pipe, part), "cost_ns"), ns, ns);
    }
}

#[test]
fn what_cannot_be_explained_is_listed_with_its_reason() {
    assert_eq!(list(&ON_ONE_CORE.object, "unmodelled").len(), 1, "{:#}", ON_ONE_CORE.object);
    let spins = row(&ON_ONE_CORE.object, "unmodelled", "posix-shm/spin");
    assert!(text(spins, "reason").contains("until its time slice ends"), "{spins:#}");
    assert!(list(&ON_ONE_CORE.object, "skipped").is_empty(), "{:#}", ON_ONE_CORE.object);
}

#[test]
fn the_table_says_what_was_measured_and_what_is_explained() {
    let table = &ON_ONE_CORE.table;
    let head = table.lines().find(|line| line.starts_with("pipe/block 128B same-core: ")).expect("a head");
    assert!(head.contains(" measured ("), "{table}");
    // On a noisy machine, the sum of the parts may be too small.
    assert!(head.contains(" explained (") || head.contains(", not explained: the parts sum to "), "{table}");
    for part in ["system calls", "copying", "own path", "context switches", "unexplained"] {
        assert!(table.lines().any(|line| line.trim_start().starts_with(part)), "{part} in {table}");
    }
    assert!(table.contains("T = size/bandwidth + N*switch + M*call: "), "{table}");
    for cost in ["system-call ", "context-switch "] {
        assert!(table.lines().any(|line| line.starts_with(cost)), "{cost} in {table}");
    }
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

#[test]
fn timelines_add_up_and_are_drawn_together() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let words =
        ["explain", "pipe/block", "posix-mq/block", "--place", "same-core", "--timeline", "-o", "two.svg"];
    let words = words.into_iter().chain(QUICK).chain(["--format", "json"]);
    let finished = place.run(words).expect_code(0);
    assert_eq!(finished.stderr, "timeline written to two.svg\n");
    let json = finished.json();
    for name in ["pipe/block", "posix-mq/block"] {
        let timeline = row(&json, "timelines", name);
        let [round_trips, incomplete, sum_ns, traced_ns] =
            ["round_trips", "incomplete", "sum_ns", "traced_ns"].map(|name| number(timeline, name));
        assert!(round_trips > 1_000.0 && incomplete < round_trips / 10.0, "{timeline:#}");
        let steps = || list(timeline, "paths").iter().flat_map(|path| list(path, "steps"));
        expect_close(steps().map(|step| number(step, "ns")).sum(), sum_ns, sum_ns);
        // Another clock measured the same messages. The exact difference depends on the machine.
        assert!((sum_ns / traced_ns - 1.0).abs() < 0.25, "{timeline:#}");
        // On one CPU, the receiver can only run after a switch.
        let names: Vec<_> = steps().map(|step| text(step, "step")).collect();
        for step in ["send-call", "switch", "receiver-code"] {
            assert!(names.contains(&step), "{step} in {timeline:#}");
        }
        assert_eq!(list(timeline, "model").len(), 2, "{timeline:#}");
    }
    let picture = std::fs::read_to_string(place.path("two.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("pipe/block") && picture.contains("switch"));
}

#[test]
fn timelines_of_invisible_messages_and_missing_rights_are_refused() {
    let place = Place::new();
    place.run(["explain", "pipe", "-o", "x.svg"]).expect_code(2).expect_complaint("--timeline");
    let words = ["explain", "posix-shm/spin", "--place", "other-core", "--timeline"];
    place
        .run(words)
        .expect_code(2)
        .expect_complaint("stores to shared memory, which the kernel does not see");
    if is_root() {
        let words = ["explain", "pipe", "--timeline"];
        let denied = place.finish(&mut place.furlong_as_nobody(words)).expect_code(7);
        assert!(denied.stderr.contains("remedy: run as root, or with CAP_PERFMON"), "{denied:#?}");
    }
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn on_two_cores_who_sleeps_must_be_woken() {
        let json = explain_json(&Place::new(), &["pipe/block", "posix-shm/spin"]);
        let [pipe, spins] = ["pipe/block", "posix-shm/spin"].map(|name| row(&json, "rows", name));
        assert_eq!([pipe, spins].map(|row| text(row, "placement")), ["other-core"; 2]);
        let wake_ups = term(pipe, "wake-ups");
        assert!(number(wake_ups, "count") > 0.5 && number(wake_ups, "ns") > 0.0, "{pipe:#}");
        assert!(number(cost(&json, "wake-up"), "ns") > number(cost(&json, "system-call"), "ns"), "{json:#}");
        // A busy-waiting role needs no wake-up and makes no system call, but the cache lines must still cross.
        assert!(list(spins, "terms").iter().all(|term| at(term, "name") != "wake-ups"), "{spins:#}");
        assert_eq!(number(term(spins, "system-calls"), "count"), 0.0, "{spins:#}");
        assert!(number(term(spins, "cache-lines-across"), "ns") > 0.0, "{spins:#}");
    }

    #[test]
    #[ignore = "slow"]
    fn no_cost_is_fitted_to_the_row_that_it_explains() {
        let switch = cost(&ON_ONE_CORE.object, "context-switch");
        let from = list(switch, "from");
        assert!(from.iter().any(|row| row == "eventfd/block") && from.len() > 1, "{switch:#}");
        assert!(!from.iter().any(|row| row == "pipe/block" || row == "posix-shm/futex"), "{switch:#}");
        // For a row from which the cost of a context switch is derived, that cost comes from the other rows only.
        let eventfd = row(&ON_ONE_CORE.object, "rows", "eventfd/block");
        assert_eq!(text(eventfd, "costs_without"), "eventfd");
        assert_ne!(number(term(eventfd, "context-switches"), "cost_ns"), number(switch, "ns"), "{eventfd:#}");
        let table = explain(&Place::new(), &["eventfd/block", "--place", "same-core"]);
        assert!(table.contains("Costs exclude the benchmarks of eventfd"), "{table}");
    }
}

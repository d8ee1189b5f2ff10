//! `furlong count`: the system calls and context switches of a round trip, independent of the counting method.

use crate::common::Place;
use crate::common::value::{at, list, number, row, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The numbers of the capabilities that the tracepoint of system calls requires.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// Returns whether this process has a capability.
fn has(right: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("rights");
    u64::from_str_radix(mask.trim(), 16).expect("a mask") >> right & 1 == 1
}

fn is_root() -> bool {
    furlong_os::identity::is_administrator()
}

/// Returns the system calls by name.
fn calls(row: &Value) -> BTreeMap<String, f64> {
    let calls = at(row, "system_calls_per_round_trip").as_object();
    let calls = calls.unwrap_or_else(|| panic!("no calls in {row:#}")).iter();
    calls.map(|(name, count)| (name.clone(), count.as_f64().expect("a count"))).collect()
}

/// Fails unless exactly these calls were counted. A trial may begin or end in the middle of a call.
#[track_caller]
fn expect_calls(row: &Value, expected: &[(&str, f64)]) {
    let calls = calls(row);
    let is_as_expected =
        |(name, count): &(&str, f64)| calls.get(*name).is_some_and(|found| (found - count).abs() <= 0.02);
    assert!(calls.len() == expected.len() && expected.iter().all(is_as_expected), "{expected:?}: {row:#}");
}

/// Fails unless the row contains its counting method and the reasons against a better one.
#[track_caller]
fn expect_reason(row: &Value) {
    let reasons = list(row, "why_not_better");
    match text(row, "method") {
        "tracepoint" => assert!(reasons.is_empty(), "{row:#}"),
        "ptrace" => {
            let reason = reasons.first().and_then(Value::as_str).unwrap_or_default();
            let says_what_is_needed = ["CAP_", "root", "ulimit"].iter().any(|words| reason.contains(words));
            assert!(reason.contains("no tracepoint: ") && says_what_is_needed, "{row:#}");
        }
        method => panic!("counted by {method}: {row:#}"),
    }
}

#[test]
fn rows_make_the_calls_and_switches_that_they_must() {
    let place = Place::alone();
    let rows = ["pipe/block", "unix-stream/block", "unix-stream/select-first", "posix-shm/spin"];
    let more = ["--place", "same-core", "--format", "json"];
    let finished = place.run(["count"].into_iter().chain(rows).chain(more)).expect_code(0);
    let json = finished.json();
    assert_eq!(list(&json, "rows").len(), rows.len(), "{json:#}");
    assert_eq!(at(&json, "schema"), 2);
    assert!(list(&json, "skipped").is_empty() && finished.stderr.is_empty(), "{finished:#?}");

    let row = |name: &str| row(&json, "rows", name);
    expect_calls(row("pipe/block"), &[("read", 2.0), ("write", 2.0)]);
    expect_calls(row("unix-stream/block"), &[("read", 2.0), ("write", 2.0)]);
    expect_calls(row("unix-stream/select-first"), &[("select", 4.0), ("read", 2.0), ("write", 2.0)]);
    expect_calls(row("posix-shm/spin"), &[]);
    // Each role waits once for the other. A busy machine adds a few switches.
    let switches = ["voluntary", "involuntary"]
        .map(|kind| number(row("pipe/block"), &format!("switches_per_round_trip.{kind}")));
    assert!((1.8..=3.0).contains(&(switches[0] + switches[1])), "{json:#}");
    for name in rows {
        let row = row(name);
        expect_reason(row);
        assert_eq!(at(row, "as_declared"), true, "{row:#}");
        assert_eq!(at(row, "surprise"), &Value::Null, "{row:#}");
        assert_eq!(at(row, "placement"), "same-core");
        let roles: Vec<_> = list(row, "roles").iter().map(|role| text(role, "role")).collect();
        assert_eq!(roles, ["initiator", "responder"]);
        // The counters of the CPU, or the reason why there are none.
        let hardware = at(row, "hardware_per_round_trip").as_object().expect("an object");
        assert_eq!(hardware.is_empty(), at(row, "hardware_absent").is_string(), "{row:#}");
    }
}

#[test]
fn the_method_is_the_best_that_the_user_may_use() {
    let place = Place::new();
    let json = place.run(["count", "pipe", "--format", "json"]).expect_code(0).json();
    let row = row(&json, "rows", "pipe/block");
    expect_reason(row);
    let method = text(row, "method");
    match [CAP_PERFMON, CAP_SYS_ADMIN].map(has) {
        [true, true] => assert_eq!(method, "tracepoint", "{row:#}"),
        [false, false] => assert_eq!(method, "ptrace", "{row:#}"),
        // One of the capabilities is enough if the trace file system is mounted and readable.
        _ => {}
    }
    // The table also names the method.
    let table = place.run(["count", "pipe"]).expect_code(0).stdout;
    assert!(table.contains(&format!("counted by {method}")), "{table}");
    assert_eq!(table.contains("no tracepoint: "), method == "ptrace", "{table}");
}

#[test]
fn both_methods_count_the_same() {
    let place = Place::new();
    let words = ["count", "pipe/block", "tcp/block", "posix-mq/block", "eventfd/block", "--format", "json"];
    let ours = place.run(words).expect_code(0).json();
    // An ordinary user has only one method, so there is nothing to compare. Root can also run as another user.
    let nobodys = is_root().then(|| place.finish(&mut place.furlong_as_nobody(words)).expect_code(0).json());
    for name in &words[1..5] {
        let our = row(&ours, "rows", name);
        let nobody = nobodys.as_ref().map_or(our, |json| row(json, "rows", name));
        assert_eq!(text(nobody, "method"), "ptrace", "{nobody:#}");
        expect_reason(nobody);
        assert_eq!(calls(our), calls(nobody), "{our:#} {nobody:#}");
        assert!(calls(our).values().sum::<f64>() >= 3.98, "each role sends and receives: {our:#}");
    }
}

#[test]
fn the_table_has_each_call_and_their_sum() {
    let place = Place::new();
    let table = place.run(["count", "pipe", "posix-shm/spin"]).expect_code(0).stdout;
    let figures = |start: &str| -> Vec<f64> {
        let line = table.lines().find_map(|line| line.strip_prefix(start));
        let line = line.unwrap_or_else(|| panic!("no line of '{start}' in {table}"));
        line.split_whitespace().map(|figure| figure.parse().expect("a figure")).collect()
    };
    // The columns are the two roles, a round trip and a message.
    for (start, expected) in [
        ("read ", [1.0, 1.0, 2.0, 1.0]),
        ("write ", [1.0, 1.0, 2.0, 1.0]),
        ("system calls ", [2.0, 2.0, 4.0, 2.0]),
    ] {
        assert_eq!(figures(start), expected, "{table}");
    }
    for what in ["voluntary switches", "involuntary switches", "minor page faults", "major page faults"] {
        assert_eq!(figures(what).len(), 4, "{table}");
    }
    assert!(table.contains("pipe/block 128B other-core, counted by "), "{table}");
    assert!(table.contains("No system call sends, receives or waits"), "{table}");
}

#[test]
fn a_row_that_is_refused_is_listed_with_its_reason() {
    let place = Place::new();
    let json = place.run(["count", "udp", "pipe", "-s", "1MiB", "--format", "json"]).expect_code(0).json();
    let names: Vec<_> = list(&json, "rows").iter().map(|row| text(row, "mechanism")).collect();
    assert_eq!(names, ["pipe"]);
    let refused = row(&json, "skipped", "udp/block");
    assert_eq!((text(refused, "status"), at(refused, "size_bytes")), ("refused", &Value::from(1 << 20)));
    assert!(text(refused, "reason").starts_with("1MiB is more than the "), "{refused:#}");
    let table = place.run(["count", "udp", "-s", "1MiB"]).expect_code(7).stdout;
    assert!(table.contains("udp/block 1MiB other-core refused: 1MiB is more than the "), "{table}");
}

#[test]
fn a_run_counts_beside_measuring() {
    let place = Place::new();
    let arguments = ["run", "pipe", "posix-shm/spin", "--trials", "2", "--budget", "5ms", "--format", "json"];
    let json = place.run(arguments.into_iter().chain(["--count", "--save", "counted"])).expect_code(0).json();
    expect_calls(row(&json, "rows", "pipe/block"), &[("read", 2.0), ("write", 2.0)]);
    expect_calls(row(&json, "rows", "posix-shm/spin"), &[]);
    assert_eq!((place.records("counted", "trial"), place.records("counted", "count")), (4, 2));
    // Without `--count`, the field is absent and not zero.
    let json = place.run(arguments.into_iter().chain(["--no-save"])).expect_code(0).json();
    let calls = row(&json, "rows", "pipe/block").get("system_calls_per_round_trip");
    assert!(calls.is_none_or(Value::is_null), "{json:#}");
}

#[test]
fn several_pairs_make_as_many_calls_per_round_trip_as_one() {
    let place = Place::new();
    // The pairs start one after the other, and must be measured at the same time.
    let arguments = ["run", "pipe/block", "--pairs", "2", "--trials", "2", "--budget", "300ms", "--count"];
    let json =
        place.run(arguments.into_iter().chain(["--format", "json", "--no-save"])).expect_code(0).json();
    let rows = list(&json, "rows");
    assert_eq!(rows.len(), 2, "{json:#}");
    rows.iter().for_each(|row| expect_calls(row, &[("read", 2.0), ("write", 2.0)]));
}

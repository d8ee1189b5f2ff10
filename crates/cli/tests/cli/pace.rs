//! `--rate` and `--gap`: messages are sent when they are due, and the rows show the rate or the gap.

use crate::common::Place;
use crate::common::value::{at, list, number};
use serde_json::{Value, json};

/// Returns the rows of a blocking and a busy-waiting mechanism with these options, and their table.
fn rows(place: &Place, options: &[&str]) -> (Vec<Value>, String) {
    // The rates in these tests leave a busy machine some milliseconds for each message.
    let more = ["--trials", "3", "--budget", "50ms", "--save", "paced", "--format", "json"];
    let words = ["run", "pipe", "posix-shm/spin"].iter().chain(options).chain(&more).copied();
    let json = place.run(words).expect_code(0).json();
    let found = list(&json, "rows");
    assert!(found.len() == 2 && list(&json, "skipped").is_empty(), "{json:#}");
    assert!(found.iter().all(|row| at(row, "verified") == true), "{json:#}");
    (found.to_vec(), place.run(["runs", "show", "paced"]).expect_code(0).stdout)
}

#[test]
fn after_each_answer_there_is_a_gap() {
    let (rows, table) = rows(&Place::new(), &["--gap", "1ms"]);
    for row in rows {
        assert_eq!(at(&row, "arrival"), &json!({"think-time": 1_000_000}), "{row:#}");
        assert_eq!(at(&row, "late_sends_share"), &Value::Null, "{row:#}");
        let rate = number(&row, "round_trips_per_second");
        assert!(rate > 0.0 && rate <= 1e3 * 1.02, "{row:#}");
    }
    assert!(table.contains("pipe/block (think-time 1ms)"), "{table}");
}

#[test]
fn messages_leave_at_fixed_times() {
    let (rows, table) = rows(&Place::alone(), &["--rate", "200/s"]);
    for row in &rows {
        assert_eq!(at(row, "arrival"), &json!({"interval": 5_000_000}), "{row:#}");
        assert!((0.0..=1.0).contains(&number(row, "late_sends_share")), "{row:#}");
        // A busy machine may be late, but no message is sent before it is due.
        let rate = number(row, "round_trips_per_second");
        assert!(rate > 200.0 / 5.0 && rate <= 200.0 * 1.02, "{row:#}");
    }
    assert!(table.contains(", at 200/s\n"), "{table}");
    // Each role sleeps once per round trip, until the other's message arrives. furlong's sleep until the next message
    // is due, and the cost of that sleep, are not part of the row.
    let pipe = rows.iter().find(|row| at(row, "mechanism") == "pipe").expect("a pipe");
    let switches = number(pipe, "switches_per_round_trip.voluntary");
    assert!(switches < 2.5, "{switches} switches");
}

#[test]
fn messages_one_way_are_timed_from_when_they_were_due() {
    let options = ["-m", "one-way", "-s", "4KiB", "--rate", "200/s"];
    let (rows, table) = rows(&Place::alone(), &options);
    for row in &rows {
        assert_eq!(at(row, "arrival"), &json!({"interval": 5_000_000}), "{row:#}");
        let rate = number(row, "messages_per_second");
        assert!(rate > 200.0 / 5.0 && rate <= 200.0 * 1.02, "{row:#}");
        assert!((0.0..=1.0).contains(&number(row, "late_sends_share")), "{row:#}");
    }
    // Between two messages, a blocking receiver uses no CPU time and a busy-waiting one keeps a CPU busy. The time
    // for which the sender waits until its next message is due is charged to neither.
    let cpu = |index: usize| {
        let row = &rows[index];
        (number(row, "cpu_ns_per_message.user") + number(row, "cpu_ns_per_message.system"))
            * number(row, "messages_per_second")
            / 1e9
    };
    assert!(cpu(0) < cpu(1) && cpu(1) < 1.5, "{rows:#?}");
    assert!(table.contains("from when each was due") && !table.contains("a millisecond or more"), "{table}");
}

#[test]
fn a_gap_needs_an_answer() {
    let place = Place::new();
    let output = place.run(["run", "pipe", "-m", "one-way", "--gap", "1ms"]).expect_code(2);
    assert!(output.stderr.contains("no message gets a response"), "{}", output.stderr);
    let output = place.run(["run", "pipe", "--think-time", "0..1ms"]).expect_code(2);
    assert!(output.stderr.contains("as in 1us..1ms:x10"), "{}", output.stderr);
}

#[test]
fn a_rate_that_a_row_cannot_carry_shows_no_times() {
    let place = Place::new();
    let words = "run pipe --rate 10M/s --trials 2 --budget 20ms --no-save --format";
    let json = place.run(words.split(' ').chain(["json"])).expect_code(7).json();
    assert!(list(&json, "rows").is_empty(), "{json:#}");
    let skipped = &list(&json, "skipped")[0];
    assert_eq!(at(skipped, "status"), "saturated", "{skipped:#}");
    // No pipe transfers a message in 100 ns. So each message would be later than the one before, and its time would
    // depend on the length of the trial.
    let [asked, carried] = ["asked_per_second", "carried_per_second"]
        .map(|figure| number(skipped, &format!("saturation.{figure}")));
    assert!(asked == 1e7 && carried > 0.0 && carried < asked / 2.0, "{skipped:#}");
    let table = place.run(words.split(' ').chain(["table"])).expect_code(7);
    assert!(table.stdout.contains("is saturated: 10M/s were asked and "), "{table:#?}");
    // While other tests run, the rate that it sustained is not its limit.
    let remedies = ["remedy: ask for less than ", "remedy: other processes took CPU time too"];
    assert!(remedies.iter().any(|remedy| table.stderr.contains(remedy)), "{table:#?}");
}

#[test]
fn a_row_without_a_pace_says_nothing_of_one() {
    let place = Place::new();
    let words = ["run", "pipe", "--trials", "1", "--budget", "5ms", "--no-save", "--format", "json"];
    let json = place.run(words).expect_code(0).json();
    let row = &list(&json, "rows")[0];
    assert!(row.get("arrival").is_none_or(|pace| pace == "closed-loop"), "{row:#}");
    assert_eq!(at(row, "late_sends_share"), &Value::Null, "{row:#}");
}

#[test]
fn a_sweep_of_rates_has_a_chart_and_says_what_a_row_carries() {
    let place = Place::new();
    let words =
        ["run", "pipe", "--place", "same-core", "--rate", "500/s..1k/s", "--rate", "10M/s", "--rate", "1k/s"];
    let quick = ["--trials", "3", "--budget", "20ms", "--chart", "always", "--save", "swept"];
    let table = place.run(words.iter().chain(&quick).copied()).expect_code(0).stdout;
    assert!(table.contains("Latency against rate, 128B round-trip, one core"), "{table}");
    let shown = place.run(["export", "swept", "--format", "json"]).expect_code(0).json();
    let sweep = &list(&shown[0], "rate_sweeps")[0];
    let asked: Vec<f64> =
        list(sweep, "points").iter().map(|point| number(point, "asked_per_second")).collect();
    assert_eq!(asked, [500.0, 1_000.0, 1e7], "{sweep:#}");
    // No pipe sustains ten million round trips per second.
    assert!(list(sweep, "points")[2].get("saturated").is_some(), "{sweep:#}");
    let page = place.run(["report", "swept", "--format", "markdown", "--charts", "charts", "-o", "swept.md"]);
    page.expect_code(0);
    let charts = std::fs::read_dir(place.path("charts")).expect("charts").flatten();
    let names: Vec<_> = charts.map(|chart| chart.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().any(|name| name.contains("latency-by-rate")), "{names:?}");
}

#[test]
fn messages_are_in_flight_as_they_are_due_up_to_the_window() {
    let place = Place::alone();
    let words = "run pipe --rate 1k/s --arrival burst:8 --window 1 --window 4 --trials 2 --budget 50ms --save open --format json";
    let json = place.run(words.split(' ')).expect_code(0).json();
    let [one, four] = list(&json, "rows") else { panic!("{json:#}") };
    let (one, four) = if one.get("in_flight").is_none() { (one, four) } else { (four, one) };
    assert!(one.get("in_flight").is_none(), "{one:#}");
    assert!(
        number(four, "in_flight.most") == 4.0 && number(four, "in_flight.at_bound_share") > 0.0,
        "{four:#}"
    );
    let table = place.run(["runs", "show", "open"]).expect_code(0).stdout;
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("pipe/block (window 4, arrival burst:8) 4 of 4, which delayed"), "{table}");
    assert!(table.contains("pipe/block (arrival burst:8) 1"), "{table}");
}

#[test]
fn rate_of_own_programs_is_rejected() {
    for pace in [["--rate", "1k/s"], ["--think-time", "1ms"]] {
        let words = ["run", "--program", "true", "--program", "true"].into_iter().chain(pace);
        let output = Place::new().run(words).expect_code(2);
        assert!(output.stderr.contains("without --rate and --think-time"), "{}", output.stderr);
    }
}

//! Output formats: one JSON object, one line per row, or a table, with the same figures in each.

use crate::common::{FinishedCommand, Place, value::at};
use furlong_analysis::SkippedStatus;
use furlong_model::OwnedCapabilities;
use std::collections::BTreeSet;
use std::process::Stdio;

const QUICK: [&str; 4] = ["--trials", "2", "--budget", "5ms"];

/// Runs these rows quickly.
fn run(place: &Place, arguments: &[&str]) -> FinishedCommand {
    place.run(["run"].iter().chain(arguments).chain(&QUICK).copied())
}

#[test]
fn json_has_the_documented_fields() {
    let place = Place::new();
    let arguments = ["run", "pipe", "posix-shm/spin", "udp", "-s", "128", "-s", "1MiB", "--trials", "4"];
    let finished = place.run(arguments.into_iter().chain(["--budget", "5ms", "--format", "json"]));
    let finished = finished.expect_code(0);
    let json = finished.json();
    assert_eq!(at(&json, "schema"), 2);
    assert_eq!(at(&json, "partial"), false);
    for name in ["machine.kernel", "noise.level", "seed", "argv", "groups", "findings", "harness"] {
        at(&json, name);
    }
    let rows = at(&json, "rows").as_array().unwrap();
    assert_eq!(rows.len(), 5, "{json:#}");
    for row in rows {
        assert_eq!(at(row, "pattern"), "round-trip");
        assert_eq!(at(row, "placement"), "other-core");
        assert_eq!(at(row, "status"), "measured");
        assert_eq!(at(row, "trials"), 4);
        assert_eq!(at(row, "verified"), true);
        assert!(at(row, "mechanism").is_string() && at(row, "wait").is_string());
        assert!([128, 1 << 20].contains(&at(row, "size_bytes").as_u64().unwrap()));
        let number = |path: &str| at(row, path).as_f64().unwrap_or_else(|| panic!("{path} of {row:#}"));
        let times = ["p50", "p90", "p99", "p999", "max"].map(|name| number(&format!("round_trip_ns.{name}")));
        assert!(times[0] > 0.0 && times.is_sorted(), "{row:#}");
        assert!(number("round_trip_ns.mean") <= times[4] && number("round_trip_ns.stddev") >= 0.0, "{row:#}");
        let interval = at(row, "round_trip_ns.median_ci95").as_array().unwrap();
        let [low, high] = [0, 1].map(|index| interval[index].as_f64().unwrap());
        assert!(low > 0.0 && low <= times[0] && times[0] <= high, "{row:#}");
        assert!(number("round_trips_per_second") > 0.0, "{row:#}");
        for path in ["cpu_ns_per_round_trip.user", "cpu_ns_per_round_trip.system"] {
            assert!(number(path) >= 0.0, "{row:#}");
        }
        for path in ["switches_per_round_trip.voluntary", "switches_per_round_trip.involuntary"] {
            assert!(number(path) >= 0.0, "{row:#}");
        }
    }
    let skipped = at(&json, "skipped").as_array().unwrap();
    assert_eq!(skipped.len(), 1, "{json:#}");
    assert_eq!(at(&skipped[0], "mechanism"), "udp");
    assert_eq!(at(&skipped[0], "wait"), "block");
    assert_eq!(at(&skipped[0], "size_bytes"), 1 << 20);
    assert_eq!(at(&skipped[0], "status"), "refused");
    assert!(!at(&skipped[0], "reason").as_str().unwrap().is_empty() && at(&skipped[0], "remedy").is_string());
}

#[test]
fn every_format_has_every_row() {
    let place = Place::new();
    let arguments = ["pipe/block", "socketpair/poll", "eventfd", "udp", "-s", "1MiB"];
    let rows = [("pipe", "block"), ("socketpair", "poll"), ("eventfd", "block"), ("udp", "block")];
    let of = |format: &'static str| {
        let arguments: Vec<_> = arguments.into_iter().chain(["--format", format]).collect();
        run(&place, &arguments).expect_code(0).stdout
    };
    let csv = of("csv");
    let mut lines = csv.lines();
    let columns = lines.next().unwrap();
    assert!(columns.starts_with("mechanism,wait,pattern,size_bytes,placement,status"), "{csv}");
    let (markdown, table) = (of("markdown"), of("table"));
    for (mechanism, wait) in rows {
        let found = csv.lines().filter(|line| line.starts_with(&format!("{mechanism},{wait},"))).count();
        assert_eq!(found, 1, "{mechanism}/{wait} in {csv}");
        let row = format!("{mechanism}/{wait}");
        assert!(markdown.lines().any(|line| line.contains(&row)), "{row} in {markdown}");
        assert!(table.lines().any(|line| line.contains(&row)), "{row} in {table}");
    }
    assert_eq!(csv.lines().count(), 1 + rows.len(), "{csv}");
    assert!(!table.contains('\x1b') && !markdown.contains('\x1b'), "no colours where no terminal is");
}

/// Returns the number of mechanisms in the list.
fn mechanisms() -> usize {
    let mechanisms = furlong_bench::registry();
    let names: BTreeSet<_> = mechanisms.iter().map(|entry| entry.capabilities.name).collect();
    names.len()
}

#[test]
fn capabilities_read_back_as_they_were_written() {
    let list = Place::new().run(["list", "--format", "json"]).expect_code(0).json();
    for entry in furlong_bench::registry() {
        let claimed = entry.capabilities.owned();
        let written = list.as_array().unwrap().iter().find(|found| at(found, "mechanism") == &claimed.name);
        let written = at(written.unwrap_or_else(|| panic!("{} is not listed", claimed.name)), "capabilities");
        let read: OwnedCapabilities = serde_json::from_value(written.clone()).unwrap();
        // Several entries have the same name if the wait strategy is part of the mechanism.
        assert!(claimed.waits.iter().all(|wait| read.waits.contains(wait)), "{read:?}");
        assert_eq!(
            (read.boundaries, read.copies, read.reach),
            (claimed.boundaries, claimed.copies, claimed.reach)
        );
        let own: OwnedCapabilities = serde_json::from_value(serde_json::to_value(&claimed).unwrap()).unwrap();
        assert_eq!(own, claimed);
    }
}

#[test]
fn every_mechanism_that_is_available_is_measured_and_verified() {
    let place = Place::new();
    let list = place.run(["list", "--format", "json"]).expect_code(0).json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), mechanisms(), "{list:#?}");
    let finished = run(&place, &["-s", "128", "--format", "json"]);
    let summary = finished.expect_code(0).summary();
    for entry in list {
        let name = at(entry, "mechanism").as_str().unwrap();
        if at(entry, "available") == false {
            assert!(summary.skipped.iter().any(|skipped| skipped.case.mechanism == name), "{name}");
            furlong_testing::skipped(name, format_args!("needs {name}: {}", at(entry, "reason")));
            continue;
        }
        let row = summary.rows.iter().find(|row| row.case.mechanism == name);
        let row = row.unwrap_or_else(|| panic!("{name} is not measured: {:#?}", summary.skipped));
        assert!(row.verified && row.trials == 2 && row.failed_trials == 0, "{row:#?}");
        let size = at(entry, "capabilities.fixed_size_bytes").as_u64().unwrap_or(128);
        assert_eq!(row.case.size_bytes as u64, size, "{name}");
    }
    assert_eq!(summary.rows.len() + summary.skipped.len(), list.len());
}

#[test]
fn a_size_above_a_limit_is_refused_with_the_limit() {
    let place = Place::new();
    let arguments = ["udp", "pipe", "-s", "1MiB", "--format", "json"];
    let summary = run(&place, &arguments).expect_code(0).summary();
    assert_eq!((summary.rows.len(), summary.skipped.len()), (1, 1));
    let skipped = &summary.skipped[0];
    assert_eq!((skipped.case.mechanism.as_str(), skipped.status), ("udp", SkippedStatus::Refused));
    assert!(skipped.reason.starts_with("1MiB is more than the "), "{skipped:?}");
    // With --require, a refused row is a failure.
    run(&place, &["udp", "pipe", "-s", "1MiB", "--require"]).expect_code(7);
    run(&place, &["udp", "pipe", "-s", "1KiB", "--require"]).expect_code(0);
    // A mechanism that carries data rejects messages of 0 bytes.
    run(&place, &["pipe", "-s", "0"]).expect_code(2).expect_complaint("a message of 0 bytes carries nothing");
}

#[test]
fn a_processor_that_is_not_there_is_named() {
    let place = Place::new();
    let arguments = ["pipe", "--place", "0:4711", "--format", "json"];
    let summary = run(&place, &arguments).expect_code(7).summary();
    assert!(summary.rows.is_empty());
    assert!(summary.skipped[0].reason.contains("CPU 4711"), "{:?}", summary.skipped);
}

#[test]
fn stderr_has_one_line_where_it_is_no_terminal() {
    let place = Place::new();
    for format in ["table", "json"] {
        let finished = run(&place, &["pipe", "--format", format]).expect_code(0);
        let lines: Vec<_> = finished.stderr.lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with("saved: "), "{finished:?}");
        assert!(std::path::Path::new(&lines[0]["saved: ".len()..]).is_file(), "{finished:?}");
        assert_eq!(run(&place, &["pipe", "--no-save", "--format", format]).expect_code(0).stderr, "");
    }
    assert_eq!(place.run(["list", "--why"]).expect_code(0).stderr, "");
    assert_eq!(place.run(["doctor"]).expect_code(0).stderr, "");
}

#[test]
fn a_saved_run_holds_what_was_printed() {
    let place = Place::new();
    let arguments = ["pipe", "eventfd", "--format", "json", "--save", "kept", "--seed", "7"];
    let finished = run(&place, &arguments).expect_code(0);
    let saved = furlong_analysis::Run::read(place.saved("kept")).unwrap();
    // The saved run yields the same summary as stdout.
    assert_eq!(furlong_render::json(&furlong_analysis::DecodedRun::of(&saved).summary), finished.stdout);
    assert_eq!(finished.summary().seed, 7);
}

/// Runs furlong with a reader that closes the pipe before it has read anything.
fn with_reader_gone(place: &Place, arguments: &[&str], both: bool) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.furlong(arguments.iter().copied());
    // `start` would redirect the output to files.
    command.stdout(writer.try_clone().unwrap());
    command.stderr(if both { Stdio::from(writer) } else { Stdio::piped() });
    let child = command.spawn().unwrap();
    drop((reader, command));
    let output = crate::common::wait_for_output(child);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    for both in [false, true] {
        with_reader_gone(&place, &["run", "pipe", "--trials", "2", "--budget", "5ms"], both);
        with_reader_gone(&place, &["list", "--why"], both);
        with_reader_gone(&place, &["doctor"], both);
        with_reader_gone(&place, &["run", "--help"], both);
    }
}

#[test]
fn result_that_cannot_be_written_to_a_closed_stdout_is_a_failure() {
    let place = Place::with_runs();
    for words in
        ["list", "runs list", "runs show after", "export after", "report after", "doctor", "--help", "man"]
    {
        let line = format!("\"$FURLONG\" {words} >&-");
        place
            .finish(&mut place.shell(&line))
            .expect_code(1)
            .expect_complaint("cannot write the result to stdout");
    }
    place.finish(&mut place.shell("\"$FURLONG\" export after -o after.csv >&-")).expect_code(0);
}

#[test]
fn closed_standard_descriptors_do_no_harm() {
    let place = Place::new();
    // Only the table is lost.
    let line = "\"$FURLONG\" run pipe unix-stream --trials 2 --budget 5ms --save closed <&- >&- 2>&-";
    place.finish(&mut place.shell(line)).expect_code(1);
    let saved = furlong_analysis::Run::read(place.saved("closed")).unwrap();
    assert_eq!(furlong_analysis::DecodedRun::of(&saved).summary.rows.len(), 2);
}

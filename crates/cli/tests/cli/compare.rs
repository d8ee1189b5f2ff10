//! Comparison of saved runs: lookup of names, verdicts, exit statuses, and rejected arguments.

use crate::common::rewritten::rewritten;
use crate::common::value::{at, list, number, row, text};
use crate::common::{FinishedCommand, Place};
use furlong_analysis::Run;
use furlong_model::Record;
use std::fs;
use std::sync::LazyLock;

/// Factors within 1 % of each other, and a second set with other values.
const STEADY: [f64; 8] = [1.0, 0.992, 1.008, 0.996, 1.004, 0.994, 1.006, 1.002];
const AGAIN: [f64; 8] = [1.001, 0.993, 1.007, 0.997, 1.003, 0.995, 1.005, 0.999];

/// The run from which all tests here derive their runs.
static MEASURED: LazyLock<String> = LazyLock::new(|| {
    let place = Place::new();
    let quick = ["--trials", "3", "--budget", "4ms", "--save", "measured", "--no-progress"];
    let rows = ["run", "pipe", "unix-stream", "posix-shm/spin", "-s", "128"];
    place.run(rows.iter().chain(&quick).copied()).expect_code(0);
    fs::read_to_string(place.saved("measured")).expect("a run")
});

/// Returns a place with the run as measured, saved as `measured`.
fn measured() -> (Place, Run) {
    let (text, place) = (&*MEASURED, Place::new());
    fs::create_dir_all(place.saved("measured").parent().expect("a folder")).expect("a folder");
    fs::write(place.saved("measured"), text).expect("a file");
    let run = Run::read(place.saved("measured")).expect("a run");
    (place, run)
}

/// Returns all rows of the run with multiplied times.
fn times(run: &Run, factors: [f64; 8], times: f64) -> Vec<Record> {
    rewritten(run, &factors.map(|factor| factor * times))
}

/// Returns a place with the run, a repetition of it, and a run in which everything takes 1.3 times as long.
fn compared() -> (Place, Run) {
    let (place, run) = measured();
    place.write_run("before", &times(&run, STEADY, 1.0));
    place.write_run("again", &times(&run, AGAIN, 1.0));
    place.write_run("slower", &times(&run, AGAIN, 1.3));
    (place, run)
}

fn compare(place: &Place, words: &[&str]) -> FinishedCommand {
    place.run(["compare"].iter().chain(words).copied()).expect_no_panic()
}

fn verdicts(finished: &FinishedCommand) -> Vec<String> {
    list(&finished.json(), "rows").iter().map(|row| text(row, "verdict").to_owned()).collect()
}

#[test]
fn a_run_is_the_same_as_its_copy_and_itself() {
    let (place, _) = measured();
    fs::copy(place.saved("measured"), place.saved("copy")).unwrap();
    let words = ["measured", "copy", "--fail-on", "regression,inconclusive", "--format", "json"];
    let finished = compare(&place, &words).expect_code(0);
    assert_eq!(verdicts(&finished), ["same"; 3]);
    for other in ["copy", "measured"] {
        let table = compare(&place, &["measured", other]).expect_code(0).stdout;
        assert!(table.contains("they are copies of one run"), "{table}");
    }
    let itself = ["measured", "measured", "--fail-on", "regression,inconclusive", "--format", "json"];
    assert_eq!(verdicts(&compare(&place, &itself).expect_code(0)), ["same"; 3]);
}

#[test]
fn what_is_slower_is_worse_and_fails_where_that_is_asked() {
    let (place, _) = compared();
    let json = |words: &[&str]| compare(&place, &[words, &["--format", "json"]].concat());
    let worse = json(&["before", "slower"]).expect_code(0);
    assert_eq!(verdicts(&worse), ["worse"; 3]);
    let fail = ["--fail-on", "regression", "--fail-on", "inconclusive"];
    json(&[&["before", "slower"], &fail[..]].concat()).expect_code(3);
    // In the opposite direction it is better, and the repetition is the same.
    assert_eq!(verdicts(&json(&[&["slower", "before"], &fail[..]].concat()).expect_code(0)), ["better"; 3]);
    assert_eq!(verdicts(&json(&[&["before", "again"], &fail[..]].concat()).expect_code(0)), ["same"; 3]);
    // With this margin the change is too small.
    assert_eq!(verdicts(&json(&["before", "slower", "--margin", "40%"]).expect_code(0)), ["same"; 3]);
}

#[test]
fn what_cannot_be_said_fails_where_that_is_asked() {
    let (place, run) = compared();
    place.write_run("wide", &rewritten(&run, &[1.0, 1.6, 0.7, 1.2, 0.8, 1.5]));
    let words = ["before", "wide", "--format", "json"];
    assert_eq!(verdicts(&compare(&place, &words).expect_code(0)), ["inconclusive"; 3]);
    compare(&place, &["before", "wide", "--fail-on", "inconclusive"]).expect_code(4);
    // No row is judged, so a regression is not excluded.
    let silent = compare(&place, &["before", "wide", "--fail-on", "regression"]).expect_code(4);
    let silent = silent.expect_complaint("no benchmark could be judged");
    let says = silent.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(says.contains("Minimum detectable change of the inconclusive benchmarks: about"), "{says}");
    compare(&place, &["before", "wide", "--fail-on", "regression", "--allow-inconclusive"]).expect_code(0);
    // A regression takes precedence.
    compare(&place, &["before", "wide", "slower", "--fail-on", "inconclusive,regression"]).expect_code(3);
}

#[test]
fn json_has_the_documented_fields() {
    let (place, _) = compared();
    let finished = compare(&place, &["before", "slower", "again", "--format", "json"]).expect_code(0);
    let json = finished.json();
    assert_eq!((at(&json, "schema"), text(&json, "baseline")), (&2.into(), "before"));
    let names: Vec<_> = list(&json, "runs").iter().map(|run| text(run, "name")).collect();
    assert_eq!(names, ["before", "slower", "again"]);
    assert_eq!(list(&json, "rows").len(), 6);
    let pipe = row(&json, "rows", "pipe/block");
    assert_eq!(
        [text(pipe, "run"), text(pipe, "verdict"), text(pipe, "placement")],
        ["slower", "worse", "other-core"]
    );
    assert_eq!((number(pipe, "size_bytes"), number(pipe, "baseline_trials")), (128.0, 8.0));
    let (ratio, ends) = (number(pipe, "ratio"), list(pipe, "ci95"));
    assert!(ends[0].as_f64() <= Some(ratio) && Some(ratio) <= ends[1].as_f64(), "{pipe:#}");
    assert!((ratio - number(pipe, "new_ns") / number(pipe, "baseline_ns")).abs() < 1e-6, "{pipe:#}");
    assert!((ratio - 1.3).abs() < 0.02 && number(pipe, "p_adjusted") < 0.05, "{pipe:#}");
    assert!(
        list(&json, "only_in").is_empty() && list(&json, "environment_differences").is_empty(),
        "{json:#}"
    );
    assert!(!list(&json, "verdict").is_empty());
}

#[test]
fn every_format_has_every_row() {
    let (place, _) = compared();
    for format in ["table", "markdown", "csv"] {
        let text = compare(&place, &["before", "slower", "--format", format]).expect_code(0).stdout;
        assert_eq!(text.matches("worse").count().min(3), 3, "{text}");
        assert!(!text.contains('\x1b'), "no colours where no terminal is: {text}");
    }
    let csv = compare(&place, &["before", "slower", "--format", "csv"]).stdout;
    assert!(
        csv.starts_with("run,mechanism,wait,pattern,size_bytes,placement,") && csv.lines().count() == 4,
        "{csv}"
    );
}

#[test]
fn runs_are_found_by_what_they_are_called() {
    let (place, run) = compared();
    let later = |name: &str, seconds: u64, slower: f64| {
        let mut records = times(&run, AGAIN, slower);
        if let Record::Run(header) = &mut records[0] {
            header.started_unix_s += seconds;
        }
        place.write_run(name, &records);
    };
    later("nightly-2", 2000, 1.3);
    later("nightly-1", 1000, 1.0);
    let names = |words: &[&str]| {
        let json = compare(&place, &[words, &["--format", "json"]].concat()).expect_code(0).json();
        list(&json, "runs").iter().map(|run| text(run, "name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["@last~1", "@last"]), ["nightly-1", "nightly-2"]);
    // Runs are ordered by time, not by name, and the baseline is not compared with itself.
    assert_eq!(names(&["nightly-*"]), ["nightly-1", "nightly-2"]);
    assert_eq!(names(&["@last", "nightly-*", "before"]), ["nightly-2", "nightly-1", "before"]);
    // A file outside the directory of saved runs can be named as well.
    fs::copy(place.saved("slower"), place.path("theirs.jsonl")).unwrap();
    assert_eq!(names(&["before", "theirs.jsonl"]), ["before", "theirs.jsonl"]);
    let path = place.path("theirs.jsonl").display().to_string();
    assert_eq!(names(&[&path, "before"]), [path.as_str(), "before"]);
}

#[test]
fn what_names_no_run_is_refused() {
    let (place, run) = compared();
    fs::write(place.saved("garbage"), "no run\n").unwrap();
    let mut newer = serde_json::to_value(Record::Run(run.header)).unwrap();
    newer["schema"] = 3.into();
    fs::write(place.saved("newer"), format!("{newer}\n")).unwrap();
    fs::write(place.saved("hostile"), "{\"record\":\"trial\",\"\\u001b[2J\":1,\"case\":\"\\u001b[2J\"}\n")
        .unwrap();
    for (words, told) in [
        (&["befor", "again"][..], "no run is saved as 'befor'; did you mean 'before'?"),
        (&["before", "zzz"], "no run is saved as 'zzz'; saved runs: "),
        (&["before", "nowhere/before"], "cannot open nowhere/before"),
        (&["before", "missing.jsonl"], "cannot open missing.jsonl"),
        (&["before", "@last~99"], "there is no @last~99; saved runs: "),
        (&["before", "@first"], "write @last for the newest run, or @last~1"),
        (&["before", "@last~x"], "write @last for the newest run, or @last~1"),
        (&["before", "z*"], "no saved run matches 'z*'"),
        (&["before", "["], "'[' is not a valid run: "),
        (&["before", ""], "no run is saved as ''"),
        (&["before"], "needs a baseline and another run"),
        (&[], "required arguments"),
        (&["before", "garbage"], "run garbage: line 1 (byte 0): this is not a valid furlong record"),
        (&["before", "newer"], "use a newer furlong"),
        (&["before", "hostile"], "run hostile: line 1"),
        (&["before", "again", "--margin", "5"], "as in 5% or 2.5%"),
        (&["before", "again", "--margin", "-5%"], "as in 5% or 2.5%"),
        (&["before", "again", "--margin", "0%"], "--margin must be above 0% and up to 100%, got 0%"),
        (&["before", "again", "--fail-on", "worse"], "regression, inconclusive"),
        (&["before", "again", "--format", "xml"], "table, json, csv, markdown"),
    ] {
        let finished = compare(&place, words).expect_code(2).expect_complaint(told);
        assert!(finished.stdout.is_empty() && !finished.stderr.contains('\x1b'), "{finished:?}");
    }
    let nothing = Place::new();
    compare(&nothing, &["@last", "@last~1"]).expect_code(2).expect_complaint("no run is saved yet");
}

#[test]
fn runs_without_a_common_row_cannot_be_compared() {
    let (place, run) = compared();
    let mut records = times(&run, AGAIN, 1.0);
    records.retain(|record| !matches!(record, Record::Trial(trial) if trial.case.mechanism != "pipe"));
    for record in &mut records {
        if let Record::Trial(trial) = record {
            trial.case.size_bytes = 256;
        }
    }
    place.write_run("other", &records);
    let told =
        "other and before have no benchmark in common: other has pipe/block 256B other-core, and before has ";
    let finished = compare(&place, &["before", "other"]).expect_code(6).expect_complaint(told);
    assert_eq!(finished.stdout, "");
    place.write_run("empty", &records[..1]);
    compare(&place, &["before", "empty"])
        .expect_code(6)
        .expect_complaint("empty has no benchmark with a time");
}

#[test]
fn a_run_that_was_cut_off_is_compared_as_far_as_it_goes() {
    let (place, _) = compared();
    let text = fs::read(place.saved("slower")).unwrap();
    fs::write(place.saved("torn"), &text[..text.len() * 9 / 10]).unwrap();
    let finished = compare(&place, &["before", "torn"]).expect_code(0);
    assert!(finished.stdout.contains("the run is partial"), "{finished:#?}");
}

#[test]
fn hostile_text_in_a_run_is_harmless() {
    let (place, run) = compared();
    let hostile = |factors| {
        let mut records = times(&run, factors, 1.0);
        for record in &mut records {
            match record {
                Record::Run(header) => header.machine.kernel = "\x1b[2J|<b>".into(),
                Record::Trial(trial) => trial.case.mechanism += "\x1b[31m\u{202e}",
                _ => {}
            }
        }
        records
    };
    place.write_run("evil", &hostile(STEADY));
    place.write_run("eviler", &hostile(AGAIN));
    for format in ["table", "markdown", "csv"] {
        let finished = compare(&place, &["evil", "eviler", "--format", format]).expect_code(0);
        assert!(!finished.stdout.contains(['\x1b', '\u{202e}']), "{finished:?}");
    }
    let finished = compare(&place, &["before", "evil"]).expect_code(6);
    assert!(!finished.stderr.contains(['\x1b', '\u{202e}']), "{finished:?}");
}

#[test]
fn nothing_is_measured_and_nothing_written() {
    let (place, _) = compared();
    let saved = || fs::read_dir(place.saved("x").parent().unwrap()).unwrap().count();
    let before = saved();
    let finished = compare(&place, &["before", "slower"]).expect_code(0);
    assert_eq!((saved(), finished.stderr.as_str()), (before, ""));
    assert!(fs::read_dir(place.path("tmp")).unwrap().next().is_none());
}

/// Returns the run with counts, in which each role makes the call `name` `each` times per round trip.
fn counted(run: &Run, name: &str, each: u64) -> Vec<Record> {
    let mut records = times(run, STEADY, 1.0);
    let last = records.pop();
    for count in &run.counts {
        let mut count = count.clone();
        for role in &mut count.roles {
            role.system_calls = Some([(name.to_owned(), each * role.round_trips)].into());
        }
        records.push(Record::Count(count));
    }
    records.extend(last);
    records
}

#[test]
fn counts_are_a_baseline_that_noise_does_not_touch() {
    let place = Place::new();
    for name in ["calls", "again"] {
        let words = ["count", "pipe", "unix-stream", "--place", "same-core", "--save", name];
        place.run(words).expect_code(0);
    }
    let fail = ["--fail-on", "more-calls"];
    let table = compare(&place, &[&["calls", "again"], &fail[..]].concat()).expect_code(0).stdout;
    assert!(table.contains("No benchmark was timed in both.") && table.contains("system calls"), "{table}");
    // A run with counts alone has no times to compare, and a run with times alone has no counts.
    compare(&place, &["calls", "again", "--fail-on", "regression"])
        .expect_code(4)
        .expect_complaint("no benchmark could be judged");
    let run = Run::read(place.saved("calls")).expect("a run");
    place.write_run("more", &counted(&run, "read", 3));
    let more = compare(&place, &[&["calls", "more", "--format", "json"], &fail[..]].concat()).expect_code(3);
    let json = more.json();
    let counts: Vec<_> =
        list(&json, "counts").iter().map(|count| (text(count, "counted"), text(count, "verdict"))).collect();
    assert_eq!(counts.iter().filter(|count| **count == ("system-calls", "more")).count(), 2, "{json:#}");
    compare(&place, &[&["more", "calls"], &fail[..]].concat()).expect_code(0);
    let xml = compare(&place, &["calls", "more", "--format", "junit"]).expect_code(0).stdout;
    assert!(xml.starts_with("<?xml") && xml.matches("<failure ").count() == 2, "{xml}");

    let (place, _) = compared();
    let uncounted = compare(&place, &[&["before", "again"], &fail[..]].concat()).expect_code(4);
    uncounted.expect_complaint("no benchmark has system calls counted in both runs");
    compare(&place, &[&["before", "again", "--allow-inconclusive"], &fail[..]].concat()).expect_code(0);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn explained_runs_are_saved_with_their_costs_and_compared() {
        let place = Place::new();
        for name in ["one", "other"] {
            let words = [
                "explain",
                "pipe",
                "--place",
                "same-core",
                "--trials",
                "4",
                "--budget",
                "2ms",
                "--save",
                name,
            ];
            place.run(words).expect_code(0);
            assert!(place.records(name, "costs") > 0 && place.records(name, "count") > 0);
        }
        let json = compare(&place, &["one", "other", "--format", "json"]).expect_code(0).json();
        // Each cause that the comparison names accounts for 50 to 150 % of the change.
        for cause in list(&json, "causes") {
            for share in list(cause, "rows") {
                let part = number(share, "part_ns") / number(share, "change_ns");
                assert!((0.5..=1.5).contains(&part), "{cause:#}");
            }
        }
    }
}

#[test]
fn an_export_is_named_as_what_it_is() {
    let place = Place::with_runs();
    place.run(["export", "before", "--format", "json", "-o", "before.json"]).expect_code(0);
    compare(&place, &["before.json", "after"]).expect_code(2).expect_complaint("Exports contain no trials");
}

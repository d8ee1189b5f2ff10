//! Runs that an older furlong has saved are still read, by every verb that reads runs. They are stored in
//! `tests/runs-of-schema-1`, with the rows that the older furlong exported in `rows.csv`.

use crate::common::Place;
use crate::common::value::{at, list, number, row, text};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// The kinds of runs. Each kind has records or fields that no other has.
const RUNS: [&str; 11] = [
    "counted",
    "explained",
    "gap",
    "handovers",
    "interrupted",
    "one-way",
    "rate",
    "recommendation",
    "replayed",
    "request",
    "sizes",
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/runs-of-schema-1")
}

/// Returns a place in which all of them are saved.
fn with_runs() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.saved("x").parent().expect("a folder")).expect("a folder in a place of our own");
    for name in RUNS {
        fs::copy(folder().join(format!("{name}.jsonl")), place.saved(name)).expect("a run");
    }
    place
}

/// Returns the lines of a CSV file, each reduced to the named columns.
fn columns<'a>(sheet: &'a str, names: &[&str]) -> Vec<Vec<&'a str>> {
    let mut lines = sheet.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let place = |name: &&str| head.iter().position(|found| found == name);
    let places: Vec<_> =
        names.iter().map(|name| place(name).unwrap_or_else(|| panic!("no {name} in {head:?}"))).collect();
    lines.map(|line| places.iter().map(|place| line[*place]).collect()).collect()
}

#[test]
fn their_rows_are_exported_as_when_they_were_saved() {
    let expected = fs::read_to_string(folder().join("rows.csv")).expect("the rows of then");
    let names: Vec<_> = expected.lines().next().expect("a head").split(',').collect();
    let exported = with_runs().run(["export", "*", "--format", "csv"]).expect_code(0);
    let [mut now, mut then] = [&exported.stdout, &expected].map(|sheet| columns(sheet, &names));
    now.sort();
    then.sort();
    assert_eq!(now, then);
    assert_eq!(exported.stderr, "");
}

#[test]
fn what_they_were_asked_for_is_known() {
    let place = with_runs();
    let exported = |name| {
        let json = place.run(["export", name, "--format", "json"]).expect_code(0).json();
        json.as_array().and_then(|runs| runs.first()).expect("a run").clone()
    };
    let pipe = |run: &Value| row(run, "rows", "pipe/block").clone();
    assert_eq!(at(&pipe(&exported("gap")), "arrival"), &json!({"think-time": 100_000}));
    let rate = pipe(&exported("rate"));
    assert_eq!(at(&rate, "arrival"), &json!({"interval": 200_000}));
    assert!((0.0..1.0).contains(&number(&rate, "late_sends_share")), "{rate:#}");
    assert_eq!(number(&pipe(&exported("request")), "request.size_bytes"), 1.0);
    assert!(number(&pipe(&exported("one-way")), "messages_per_second") > 0.0);
    let calls = at(&pipe(&exported("counted")), "system_calls_per_round_trip").clone();
    assert_eq!((number(&calls, "read"), number(&calls, "write")), (2.0, 2.0), "{calls:#}");
    assert_eq!([at(&exported("interrupted"), "partial"), at(&exported("sizes"), "partial")], [true, false]);
}

#[test]
fn they_are_reported_with_every_row_and_what_was_concluded() {
    let place = with_runs();
    let rows = fs::read_to_string(folder().join("rows.csv")).expect("the rows of then");
    let rows = columns(&rows, &["run", "mechanism", "wait"]);
    for name in RUNS {
        for format in ["html", "markdown"] {
            let text = place.run(["report", name, "--format", format]).expect_code(0).stdout;
            // HTML escapes the slash.
            let text = text.replace("&#x2f;", "/");
            for row in rows.iter().filter(|row| row[0] == name) {
                assert!(text.contains(&format!("{}/{}", row[1], row[2])), "{row:?} in {text}");
            }
            let concluded: &[&str] = match name {
                "explained" => &["pipe/block", "128B", "same-core", "context switches"],
                "handovers" => &["memfd", "tmpfs", "Which backing?"],
                "interrupted" => &["partial"],
                "recommendation" => &[
                    "Recommendation (provisional): fifo/block",
                    "choose, protect and remove a path",
                    "file-shm/spin",
                ],
                "replayed" => &["The queue is a thousand times as fast as the pipe.", "an old machine"],
                _ => &[],
            };
            for words in concluded {
                assert!(text.contains(words), "no '{words}' in {name}: {text}");
            }
        }
    }
}

#[test]
fn they_are_compared_with_each_other() {
    let place = with_runs();
    for name in RUNS.into_iter().filter(|name| *name != "handovers") {
        let copy = format!("{name}-again");
        fs::copy(place.saved(name), place.saved(&copy)).expect("a copy");
        let json = place.run(["compare", name, &copy, "--format", "json"]).expect_code(0).json();
        let rows = list(&json, "rows");
        assert!(!rows.is_empty() && rows.iter().all(|row| number(row, "ratio") == 1.0), "{json:#}");
        assert_eq!(text(&json, "baseline"), name);
    }
    // The rows in common are compared, although the runs were made by different verbs.
    let json = place.run(["compare", "counted", "interrupted", "--format", "json"]).expect_code(0).json();
    assert_eq!(list(&json, "rows").len(), 1, "{json:#}");
    let pipe = row(&json, "rows", "pipe/block");
    assert_eq!((number(pipe, "baseline_ns"), number(pipe, "new_ns")), (41_168.0, 31_576.0), "{pipe:#}");
}

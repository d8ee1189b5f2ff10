//! The queries of docs/queries.md, run as written on saved runs, return the same figures as furlong. Those of docs/traces.md keep every
//! message of a trace.
//!
//! They need a Python with DuckDB: `FURLONG_PYTHON`, otherwise `python3`. `.ci/run` creates one.

use crate::common::Place;
use crate::common::value::{at, list, number, text};
use furlong_testing::skip;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Runs the query on stdin in the second directory, with the first one as home, and prints a list of objects.
const PROGRAM: &str = "
import duckdb, json, os, sys
os.environ['HOME'] = sys.argv[1]
os.chdir(sys.argv[2])
found = duckdb.connect().execute(sys.stdin.read())
names = [column[0] for column in found.description]
json.dump([dict(zip(names, row)) for row in found.fetchall()], sys.stdout, default=str)
";

/// Returns a Python that has DuckDB, or why there is none.
fn python() -> Result<String, String> {
    let python = env::var("FURLONG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match Command::new(&python).args(["-c", "import duckdb"]).output() {
        Ok(output) if output.status.success() => Ok(python),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(stderr.lines().last().unwrap_or_default().to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the SQL blocks of a page.
fn queries(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let page = fs::read_to_string(path).expect("a page");
    let blocks = page.split("\n```sql\n").skip(1);
    blocks.filter_map(|block| block.split_once("\n```").map(|(query, _)| query.to_owned())).collect()
}

/// Returns the rows that a query returns.
fn found(python: &str, place: &Place, query: &str) -> Vec<Value> {
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM]).args([place.path("home"), place.path("home")]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("Python starts");
    child.stdin.take().expect("a pipe").write_all(query.as_bytes()).expect("a reader");
    let output = crate::common::wait_for_output(child);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}\n{query}");
    match serde_json::from_slice(&output.stdout) {
        Ok(Value::Array(lines)) => lines,
        other => panic!("{other:?}"),
    }
}

/// Runs furlong with the saved runs in its home, as the queries expect, and returns its stdout.
fn furlong(place: &Place, words: &[&str]) -> String {
    let mut command = place.furlong(words.iter().copied());
    command.env_remove("XDG_DATA_HOME").current_dir(place.path("home"));
    place.finish(&mut command).expect_code(0).stdout
}

/// Creates three runs, one of them cut off inside a line and one with a pace. Another run also has a line of an
/// unknown kind.
fn with_runs() -> Place {
    let place = Place::new();
    for name in ["before", "after"] {
        let rows = ["run", "pipe", "posix-mq", "-s", "128", "-s", "4KiB", "--trials", "3", "--budget", "5ms"];
        furlong(&place, &[&rows[..], &["--no-progress", "--save", name]].concat());
    }
    let paced = ["run", "pipe", "--gap", "1ms", "--trials", "3", "--budget", "5ms", "--save", "paced"];
    furlong(&place, &paced);
    let folder = place.path("home/.local/share/furlong/runs");
    let mut before = fs::OpenOptions::new().append(true).open(folder.join("before.jsonl")).expect("a run");
    before.write_all(b"{\"record\":\"trial\",\"case\":{\"mech").expect("a file");
    // The `machine` of an experiment is a sentence, but the `machine` of a header is an object.
    let mut after = fs::OpenOptions::new().append(true).open(folder.join("after.jsonl")).expect("a run");
    after.write_all(b"{\"record\":\"of-the-future\",\"machine\":\"a PC\",\"outcome\":7}\n").expect("a file");
    place
}

/// Returns every row of every run as furlong exports it, with the run's name and kernel, except rows with a pace.
fn exported(place: &Place) -> Vec<(String, Value, Value)> {
    let runs: Value =
        serde_json::from_str(&furlong(place, &["export", "before", "paced", "--format", "json"])).unwrap();
    let rows = |run: &Value| {
        let of_run =
            |row: &Value| (text(run, "run").to_owned(), at(run, "machine.kernel").clone(), row.clone());
        list(run, "rows").iter().map(of_run).collect::<Vec<_>>()
    };
    runs.as_array().expect("a list").iter().flat_map(rows).collect()
}

fn same(line: &Value, run: &str, row: &Value) -> bool {
    let words = ["mechanism", "wait", "pattern", "placement"];
    text(line, "run") == run
        && words.iter().all(|name| at(line, name) == at(row, name))
        && number(line, "size_bytes") == number(row, "size_bytes")
}

#[track_caller]
fn expect_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} is not {expected}");
}

#[test]
fn the_queries_agree_with_what_furlong_exports() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => skip!("needs a Python with DuckDB: {why}"),
    };
    let place = with_runs();
    let [raw, sheet] = queries("queries.md").try_into().expect("two queries");

    let lines = found(&python, &place, &raw);
    let of = |name: &str| lines.iter().filter(|line| text(line, "run") == name).count();
    assert_eq!([of("before"), of("after"), of("paced")], [4, 4, 0], "{lines:#?}");
    for (run, kernel, row) in exported(&place).iter().filter(|(run, ..)| run == "before") {
        let line =
            lines.iter().find(|line| same(line, run, row)).unwrap_or_else(|| panic!("{row:#} in {lines:#?}"));
        assert_eq!((at(line, "kernel"), number(line, "trials")), (kernel, 3.0));
        // The median of an odd number of trials is the value of one of them, both as a time and as a rate.
        expect_close(number(line, "mean_ns"), 1e9 / number(row, "round_trips_per_second"));
    }

    furlong(&place, &["export", "before", "paced", "-o", "runs.csv"]);
    let rows = exported(&place);
    let mut queries = vec![sheet.clone()];
    if cfg!(feature = "parquet") {
        furlong(&place, &["export", "before", "paced", "--format", "parquet", "-o", "runs.parquet"]);
        queries.push(sheet.replace("read_csv('runs.csv')", "read_parquet('runs.parquet')"));
    }
    for query in &queries {
        let lines = found(&python, &place, query);
        assert_eq!((lines.len(), rows.len()), (5, 5), "{query}\n{lines:#?}");
        for (run, kernel, row) in &rows {
            let line = lines
                .iter()
                .find(|line| same(line, run, row))
                .unwrap_or_else(|| panic!("{row:#} in {lines:#?}"));
            assert_eq!(at(line, "kernel"), kernel);
            expect_close(number(line, "p50_ns"), number(row, "round_trip_ns.p50"));
            let interval = list(row, "round_trip_ns.median_ci95");
            for (name, end) in ["median_ci95_low_ns", "median_ci95_high_ns"].iter().zip(interval) {
                expect_close(number(line, name), end.as_f64().expect("an end"));
            }
        }
    }
}

#[test]
fn a_trace_becomes_parquet_and_a_trace_again() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => skip!("needs a Python with DuckDB: {why}"),
    };
    let place = Place::new();
    let words =
        "trace generate --to web.jsonl --rate 5k/s --arrival poisson --sizes 64:70,4KiB:30 --messages 2000";
    furlong(&place, &words.split(' ').collect::<Vec<_>>());
    for query in queries("traces.md") {
        found(&python, &place, &query);
    }
    let messages = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(place.path("home").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let before = messages("web.jsonl");
    assert_eq!((before.len(), &before), (2000, &messages("again.jsonl")));
    let info = |name| furlong(&place, &["trace", "info", name]);
    assert_eq!(info("web.jsonl"), info("again.jsonl"));
}

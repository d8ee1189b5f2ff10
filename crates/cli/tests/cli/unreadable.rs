//! Unreadable saved runs are named wherever they are left out, and are never replaced by another run.

use crate::common::Place;
use crate::common::value::{list, text};
use std::fs;
use std::time::{Duration, SystemTime};

const NEWER: &str = "{\"record\":\"run\",\"schema\":99}\n";

/// Returns a place with the runs `one` and `two`, and the text of the first.
fn place() -> (Place, String) {
    let place = Place::new();
    for name in ["one", "two"] {
        let words =
            ["run", "pipe/block", "--trials", "1", "--budget", "1ms", "--no-progress", "--save", name];
        place.run(words).expect_code(0);
    }
    let text = fs::read_to_string(place.saved("one")).unwrap();
    (place, text)
}

/// Writes a file among the runs with a modification time this number of seconds from now.
fn write(place: &Place, name: &str, text: &str, later_s: u64) {
    fs::write(place.saved(name), text).unwrap();
    let file = fs::File::open(place.saved(name)).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(later_s)).unwrap();
}

#[test]
fn files_that_cannot_be_read_are_named_by_lists_and_globs() {
    let (place, one) = place();
    write(&place, "newer", NEWER, 0);
    write(&place, "marked", &format!("\u{feff}{one}"), 0);
    write(&place, "empty", "", 0);
    write(&place, "damaged", &one.replacen("\n{", "\n}{", 1), 0);
    let listed = place.run(["runs", "list", "--format", "json"]).expect_code(0);
    let names: Vec<_> = list(&listed.json(), "runs").iter().map(|run| text(run, "run").to_owned()).collect();
    assert!(names.contains(&"one".to_owned()) && names.contains(&"damaged".to_owned()), "{names:?}");
    let listed = listed
        .expect_complaint("skipping 3 saved runs that cannot be read")
        .expect_complaint("use a newer furlong");
    listed.expect_complaint("marked: ").expect_complaint("empty: ");
    for words in [
        &["export", "*"][..],
        &["report", "*", "--format", "markdown"],
        &["compare", "one", "*"],
        &["runs", "show", "*"],
    ] {
        let found = place.run(words.iter().copied()).expect_code(0).expect_complaint("newer: ");
        assert!(found.stdout.contains("pipe") && found.stderr.contains("damaged: line "), "{found:#?}");
    }
    place.run(["export", "newer", "one"]).expect_code(2).expect_complaint("run newer: ");
    place
        .run(["export", "d*"])
        .expect_code(2)
        .expect_complaint("none of these runs can be read; specify other runs");
    place.run(["export", "n*"]).expect_code(2).expect_complaint("no saved run that can be read matches 'n*'");
}

#[test]
fn last_run_is_not_chosen_past_a_newer_file_that_cannot_be_read() {
    let (place, _) = place();
    write(&place, "newer", NEWER, 60);
    for words in [&["runs", "show", "@last"][..], &["export"], &["compare", "@last~1", "@last"]] {
        let refused = place.run(words.iter().copied()).expect_code(2);
        refused.expect_complaint("the saved run newer is newer than").expect_complaint("runs remove newer");
    }
    place.run(["runs", "remove", "newer"]).expect_code(0);
    place.run(["runs", "show", "@last"]).expect_code(0);
}

#[test]
fn data_folder_that_cannot_be_read_does_not_count_as_empty() {
    let place = Place::new();
    let runs = place.saved("").parent().unwrap().to_owned();
    fs::create_dir_all(runs.parent().unwrap()).unwrap();
    fs::write(&runs, "").unwrap();
    for words in [&["runs", "list"][..], &["export"], &["runs", "show", "x*"], &["export", "nothing"]] {
        place.run(words.iter().copied()).expect_code(2).expect_complaint("cannot read the saved runs in ");
    }
}

#[test]
fn page_of_too_many_runs_is_refused() {
    let (place, one) = place();
    for number in 0..1001 {
        fs::write(place.saved(&format!("many-{number}")), &one).unwrap();
    }
    let refused = place.run(["report", "many-*", "-o", "x.html"]).expect_code(2);
    refused.expect_complaint("a page shows at most 1000 runs, got 1001").expect_complaint("--by host");
}

#[test]
fn figures_that_cannot_be_are_refused_or_make_their_row_void() {
    let (place, one) = place();
    let changed = |from: &str, to: &str| {
        let text = one.replacen(from, to, 1);
        assert_ne!(text, one);
        fs::write(place.path("bad.jsonl"), text).unwrap();
        place.run(["export", "./bad.jsonl", "--format", "json"])
    };
    for (from, to, why) in [
        ("\"minor_faults\":", "\"minor_faults\":18446744073709551615,\"x\":", "minor_faults is 1.8"),
        ("\"case\":{\"mechanism\":\"pipe\"", "\"case\":{\"mechanism\":\"\"", "mechanism is empty"),
        ("\"size_bytes\":", "\"size_bytes\":1099511627776,\"x\":", "size_bytes is 1.0"),
    ] {
        changed(from, to).expect_code(2).expect_complaint(why);
    }
    let trial = one.lines().find(|line| line.contains("\"measured\"")).unwrap();
    changed(trial, &format!("{trial}\n{trial}")).expect_code(2).expect_complaint("occurs twice");
    for (key, value) in [("idle_ns", "1000000000000000"), ("minor_faults", "1000000000")] {
        let void = changed(&format!("\"{key}\":"), &format!("\"{key}\":{value},\"x\":")).expect_code(0);
        assert!(void.stdout.contains("role-figures"), "{key}: {}", void.stdout);
    }
    // A run from a version that did not store the window of the readings.
    let old =
        trial.replace("\"window_ns\":", "\"x\":").replace("\"user_ns\":", "\"user_ns\":1000000000000,\"y\":");
    let void = changed(trial, &old).expect_code(0);
    assert!(void.stdout.contains("cpus-busy"), "{}", void.stdout);
}

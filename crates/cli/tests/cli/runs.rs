//! Management of saved runs: they are listed, shown, renamed, removed and replaced.

use crate::common::value::{at, list, text};
use crate::common::{Place, look_for};
use std::fs;
use std::time::Duration;

/// Measures a row quickly and saves the run under `name`.
fn save(place: &Place, row: &str, name: &str, more: &[&str]) -> crate::common::FinishedCommand {
    let words = ["run", row, "--trials", "1", "--budget", "2ms", "--no-progress", "--save", name];
    place.run(words.iter().chain(more).copied())
}

fn names(place: &Place) -> Vec<String> {
    let json = place.run(["runs", "list", "--format", "json"]).expect_code(0).json();
    assert_eq!(at(&json, "schema"), 1);
    list(&json, "runs").iter().map(|run| text(run, "run").to_owned()).collect()
}

#[test]
fn runs_are_listed_shown_renamed_and_removed() {
    let place = Place::new();
    assert!(place.run(["runs", "list"]).expect_code(0).stdout.contains("No run is saved yet"));
    save(&place, "pipe", "first", &[]).expect_code(0);
    save(&place, "tcp", "second", &[]).expect_code(0);
    fs::write(place.saved("no-run"), "{}\n").unwrap();
    assert_eq!(names(&place), ["first", "second"]);
    let table = place.run(["runs", "list"]).expect_code(0).stdout;
    assert!(table.contains("first") && table.contains("run pipe --trials 1 --budget 2ms"), "{table}");
    let shown = place.run(["runs", "show", "first"]).expect_code(0).stdout;
    assert!(shown.contains("furlong run pipe") && shown.contains("pipe/block"), "{shown}");
    assert!(!shown.contains("tcp"), "{shown}");

    // A name in use keeps its run.
    let taken = place.run(["runs", "rename", "first", "second"]).expect_code(2);
    taken.expect_complaint("already exists; 'furlong runs remove second' deletes it");
    place.run(["runs", "rename", "*", "third"]).expect_code(2).expect_complaint("matches several runs");
    place
        .run(["runs", "rename", "first", "../x"])
        .expect_code(2)
        .expect_complaint("use only letters, digits");
    assert_eq!(names(&place), ["first", "second"]);
    place.run(["runs", "rename", "first", "third"]).expect_code(0);
    assert_eq!(names(&place), ["third", "second"]);

    // Either all named runs are removed, or none.
    place
        .run(["runs", "remove", "third", "fourth"])
        .expect_code(2)
        .expect_complaint("no run is saved as 'fourth'");
    let path = place.saved("third").to_string_lossy().into_owned();
    place.run(["runs", "remove", &path]).expect_code(2).expect_complaint("this is a path");
    assert_eq!(names(&place), ["third", "second"]);
    place.run(["runs", "remove", "third", "thi*"]).expect_code(0);
    assert_eq!(names(&place), ["second"]);
    assert!(place.saved("no-run").exists());
}

#[test]
fn a_complete_run_alone_replaces_another() {
    let place = Place::new();
    save(&place, "pipe", "mine", &["--replace"]).expect_code(0);
    save(&place, "tcp", "mine", &["--replace"]).expect_code(0).expect_complaint("mine.jsonl");
    let replaced = fs::read_to_string(place.saved("mine")).unwrap();
    assert!(replaced.contains("\"tcp\"") && !replaced.contains("\"mechanism\":\"pipe\""), "{replaced}");
    assert_eq!(place.all_saved().len(), 1);
    // An interrupted run is saved under its start time.
    let words = ["run", "fifo", "--trials", "1000", "--budget", "20ms", "--save", "mine", "--replace"];
    let running = place.start(&mut place.furlong(words));
    look_for(Duration::from_secs(30), || (place.records_of_all("trial") > 1).then_some(())).expect("a trial");
    running.signal(libc::SIGINT);
    running.finish().expect_code(130).expect_complaint("was not replaced: this run is not complete");
    assert_eq!(fs::read_to_string(place.saved("mine")).unwrap(), replaced);
    assert_eq!(place.all_saved().len(), 2);
    place.run(["run", "pipe", "--replace"]).expect_code(2).expect_complaint("--save <NAME>");
}

#[test]
fn a_run_in_which_nothing_was_measured_is_not_saved_and_never_the_last() {
    let place = Place::with_runs();
    let before = place.all_saved();
    for more in [&[][..], &["--save", "empty"]] {
        let words = ["run", "pipe", "--place", "0:999"];
        let finished = place.run(words.iter().chain(more).copied()).expect_code(7);
        finished.expect_complaint("nothing was measured, so no run is saved");
    }
    assert_eq!(place.all_saved(), before);
    // An earlier version may have saved a run without trials, or a run may have been killed before its first trial.
    let header = std::fs::read_to_string(place.saved("after")).unwrap();
    std::fs::write(place.saved("empty"), header.lines().next().unwrap().to_owned() + "\n").unwrap();
    let refused = place.run(["report", "empty", "-o", "empty.html"]).expect_code(2);
    refused.expect_complaint("nothing was measured in empty, so there is nothing to report");
    assert!(!place.path("empty.html").exists());
    place.run(["report", "@last", "-o", "last.html"]).expect_code(0);
}

//! Files of other users, and files that cannot be created: nothing blocks, nothing is read without a limit, and every
//! loss is reported.

use crate::common::{FinishedCommand, Place};
use furlong_testing::skip;
use std::fs;
use std::path::Path;

const QUICK: &str = "run pipe --trials 1 --budget 5ms --format json";

fn make_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ')
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let place = Place::new();
    make_fifo(&place.path("a.jsonl"));
    make_fifo(&place.path("a.toml"));
    for verb in [
        "export ./a.jsonl",
        "report ./a.jsonl",
        "compare ./a.jsonl ./a.jsonl",
        "runs show ./a.jsonl",
        "replay ./a.toml",
        "recommend --workload ./a.toml",
    ] {
        place.run(words(verb)).expect_code(2);
    }
}

#[test]
fn a_pipe_in_the_place_of_a_journal_is_not_waited_for() {
    let place = Place::new();
    let folder = place.path("tmp/furlong-0123456789abcdef");
    fs::create_dir(&folder).unwrap();
    make_fifo(&folder.join("journal"));
    place.age_leftovers();
    assert!(place.run(["doctor"]).expect_code(0).stdout.contains("left by a dead run"));
    place.run(["doctor", "--clean"]).expect_code(0);
    assert!(!folder.exists());
}

#[test]
fn what_cannot_be_cleaned_up_is_a_failure() {
    let place = Place::new();
    let folder = place.path("tmp/furlong-0123456789abcdef");
    fs::create_dir_all(folder.join("somebody else's")).unwrap();
    fs::write(folder.join("journal"), "{").unwrap();
    let finished = place.run(["doctor", "--clean"]).expect_code(1);
    assert!(finished.stdout.contains("BAD   cannot remove"), "{finished:#?}");
    assert!(folder.join("somebody else's").exists());
}

#[test]
fn a_file_without_end_is_refused() {
    let place = Place::new();
    for verb in [
        "replay /dev/zero",
        "recommend --workload /dev/zero",
        "export /dev/zero",
        "compare /dev/zero /dev/zero",
    ] {
        let finished = place.run(words(verb)).expect_code(2);
        assert!(finished.stderr.contains("is longer than"), "{finished:#?}");
    }
}

#[test]
fn figures_that_cannot_be_are_refused() {
    let place = Place::new();
    place.run(words(QUICK).chain(["--save", "run"])).expect_code(0);
    let text = fs::read_to_string(place.saved("run")).unwrap();
    for (name, figure) in [("spin_lost", "1e307"), ("clock_read_ns", "-9.2e18"), ("core_to_core_ns", "-5.0")]
    {
        let start = text.find(&format!("\"{name}\":")).expect("a figure") + name.len() + 3;
        let end = start + text[start..].find([',', '}']).unwrap();
        fs::write(place.path("bad.jsonl"), format!("{}{figure}{}", &text[..start], &text[end..])).unwrap();
        for verb in ["export", "report", "compare"] {
            let finished =
                place.run([verb, "./bad.jsonl", "./bad.jsonl"].into_iter().take(if verb == "compare" {
                    3
                } else {
                    2
                }));
            finished.expect_code(2).expect_complaint(&format!("this figure is impossible: {name} is "));
        }
    }
}

/// Fails unless the row was measured and furlong exited with status 1.
#[track_caller]
fn expect_not_saved(finished: FinishedCommand, words: &str) {
    let finished = finished.expect_code(1).expect_complaint(words);
    assert!(finished.stdout.contains("1  pipe/block"), "{finished:#?}");
    assert!(!finished.stderr.lines().any(|line| line.starts_with("saved: ")), "{finished:#?}");
}

#[test]
fn a_run_that_cannot_be_saved_says_so() {
    let table = "run pipe --trials 1 --budget 5ms";
    let place = Place::new();
    fs::remove_dir(place.path("data")).unwrap();
    fs::write(place.path("data"), "a file").unwrap();
    expect_not_saved(place.run(words(table)), "the run is not saved: cannot create ");
    // A write beyond the file size limit fails, but kills no process. The table and the memory that roles share stay
    // below the limit.
    let place = Place::new();
    let mut command = place.program("prlimit");
    command
        .args(["--fsize=6000:6000", env!("CARGO_BIN_EXE_furlong")])
        .args(words(&table.replace("--trials 1", "--trials 20")));
    expect_not_saved(place.finish(&mut command), "the run is not complete in ");
}

#[test]
fn a_writer_that_was_killed_leaves_nothing_after_the_next_one() {
    let place = Place::new();
    place.run(words(QUICK).chain(["--save", "run"])).expect_code(0);
    let mut command = place.program("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=rename", "-e", "inject=rename:signal=KILL"]);
    command.args([env!("CARGO_BIN_EXE_furlong"), "export", "run", "-o", "run.csv"]);
    if command.output().is_err() {
        skip!("needs strace");
    }
    let left = || {
        let names = fs::read_dir(place.path(".")).unwrap().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".furlong-")).count()
    };
    assert!(left() == 1 && !place.path("run.csv").exists());
    fs::write(place.path(".furlong-notes.tmp"), "the user's own").unwrap();
    place.run(["export", "run", "-o", "run.csv"]).expect_code(0);
    assert!(left() == 1 && place.path(".furlong-notes.tmp").exists() && place.path("run.csv").exists());
}

#[test]
fn nobody_is_given_a_folder_that_was_not_asked_for() {
    let place = Place::new();
    place.run(words(QUICK).chain(["--save", "run"])).expect_code(0);
    for verb in ["report", "export"] {
        place.run([verb, "run", "-o", "a/b/c.html"]).expect_code(1).expect_complaint("a/b");
    }
    assert!(!place.path("a").exists());
}

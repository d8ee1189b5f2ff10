//! `furlong adapter new` in each language: what it writes passes the check as it stands, and has a row.

use crate::common::Place;
use std::path::PathBuf;
use std::time::Duration;

/// Begins an adapter in a language that CI may lack, checks it, and runs its row beside another.
fn passes_as_it_stands(language: &str, tool: &str, needed: bool) {
    let there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    if !there {
        assert!(!needed || std::env::var_os("CI").is_none(), "CI lacks {tool}, and this test needs it");
        eprintln!("skipped: {tool} is not here");
        return;
    }
    let place = Place::new();
    let furlong = |arguments: &[&str]| {
        let mut command = place.furlong(arguments.iter().copied());
        // Go compiles its own library once for all runs of this test.
        command.env("GOCACHE", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("go"));
        place.start(&mut command).finish_within(Duration::from_secs(120))
    };
    let new = furlong(&["adapter", "new", "--lang", language, "mine"]).expect_code(0);
    assert!(new.stdout.contains("furlong adapter check ./mine"), "{}", new.stdout);
    let checked = furlong(&["adapter", "check", "./mine"]).expect_code(0);
    assert!(checked.stdout.contains("17 of 17 passed"), "{}", checked.stdout);
    let short = ["--trials", "1", "--budget", "2ms", "--size", "128", "--format", "json", "--no-save"];
    let run = furlong(&[&["run", "--adapter", "./mine", "pipe"], &short[..]].concat()).expect_code(0);
    let summary = run.summary();
    assert!(summary.rows.iter().any(|row| row.case.mechanism == "mine"), "{:?}", summary.skipped);
    furlong(&["adapter", "new", "--lang", language, "mine"]).expect_code(2);
}

#[test]
fn python_passes_as_it_stands() {
    passes_as_it_stands("python", "python3", true);
}

#[test]
fn node_passes_as_it_stands() {
    passes_as_it_stands("node", "node", false);
}

#[test]
fn go_passes_as_it_stands() {
    passes_as_it_stands("go", "go", false);
}

#[test]
fn java_passes_as_it_stands() {
    passes_as_it_stands("java", "javac", false);
}

#[test]
fn c_passes_as_it_stands() {
    passes_as_it_stands("c", "cc", true);
}

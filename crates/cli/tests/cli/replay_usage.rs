//! Errors in the arguments of `furlong replay` are reported with a remedy, before anything is measured.

use crate::common::experiment::{ROUND_TRIPS, row};
use crate::common::{FinishedCommand, Place, Snapshot};
use furlong_analysis::{ReplayStatus, published};

/// Fails unless `furlong replay` rejects these words with this reason.
#[track_caller]
fn refused(words: &[&str], told: &str) -> FinishedCommand {
    let place = Place::new();
    let finished = place.run(["replay"].iter().chain(words).copied()).expect_code(2).expect_complaint(told);
    assert!(finished.stdout.is_empty() && place.all_saved().is_empty(), "{finished:#?}");
    finished
}

#[test]
fn the_list_has_all_and_describes_the_named_ones() {
    let place = Place::new();
    let finished = place.run(["replay", "--list"]).expect_code(0);
    for (name, _) in published() {
        let begins = |line: &str| line.split_whitespace().next() == Some(name);
        assert!(finished.stdout.lines().any(begins), "no {name} in {}", finished.stdout);
    }
    assert!(finished.stderr.is_empty() && place.all_saved().is_empty(), "{finished:#?}");
    let described = place.run(["replay", "--list", "racehorse"]).expect_code(0).stdout;
    assert!(described.contains("Core i5-4590S") && !described.contains("ka2yan-2008"), "{described}");
}

#[test]
fn names_that_nothing_has() {
    refused(&[], "<EXPERIMENT>");
    for name in ["racehors", "RACEHORSE", "", "."] {
        let finished = refused(&[name], &format!("unknown experiment '{name}'"));
        assert!(finished.stderr.contains("furlong replay --list"), "{finished:#?}");
    }
    refused(&["./nothing.toml"], "cannot read ./nothing.toml: No such file");
    refused(&["nothing.toml"], "cannot read nothing.toml: No such file");
    refused(&["./"], "cannot read ./: Is a directory");
    // One wrong name prevents all experiments from starting.
    refused(&["racehorse", "racehors"], "unknown experiment 'racehors'");
}

#[test]
fn options_that_mean_nothing() {
    refused(&["ka2yan-2008", "--touch", "line"], "--touch: ka2yan-2008 has no bulk transfer");
    for words in [&["--fresh-copy"][..], &["--console-mode", "new"]] {
        let asked = [&["qiita-windows-blocks"], words].concat();
        refused(&asked, &format!("{}: qiita-windows-blocks starts no subsystem program here", words[0]));
    }
    refused(&["ka2yan-2008", "--total", "1MiB"], "--total: ka2yan-2008 has no total number of bytes");
    refused(
        &["itmedia-mmap-100mb", "--total", "1MiB"],
        "--total: itmedia-mmap-100mb has no total number of bytes",
    );
    for format in ["json", "csv", "markdown"] {
        let words = ["racehorse", "--style", "racehorse", "--format", format];
        refused(&words, "--style racehorse requires --format table");
    }
    refused(&["--list", "racehors"], "unknown experiment 'racehors'");
    refused(&["--list", "--all"], "cannot be used with");
    refused(&["--all", "racehorse"], "cannot be used with");
    for words in [&["--format", "json"][..], &["--trials", "3"], &["--touch", "line"], &["--require"]] {
        refused(&[&["--list"], words].concat(), "cannot be used with");
    }
}

#[test]
fn values_that_are_none() {
    refused(&["racehorse", "--trials", "0"], "--trials must be between 1 and 1000, got 0");
    refused(&["racehorse", "--trials", "1001"], "--trials must be between 1 and 1000, got 1001");
    refused(
        &["racehorse", "--place", "moon"],
        "there are: other-core, same-core, one-process, free, spread, packed, smt, l3, node, far, A:B",
    );
    refused(&["itmedia-mmap-100mb", "--touch", "page"], "there are: byte, line");
    refused(&["qiita-windows-blocks", "--total", "a lot"], "write whole bytes from 0 to 1GiB");
    refused(&["racehorse", "--style", "donkey"], "furlong, racehorse");
}

#[test]
fn a_mistake_in_a_file_is_told_with_its_line() {
    for (right, wrong, line, told) in [
        ("kind = \"round-trip\"", "kind = \"round\"", 8, "round-trip"),
        ("count = 1000", "count = 0", 10, "count"),
        ("order_by = \"mean_us\"", "order_by = \"speed\"", 13, "speed"),
        ("row = \"pipe/block\"", "row = \"pipe\"", 17, "pipe"),
        ("mean_us = 20", "mean_us = -20", 18, "mean_us"),
        ("faster = \"the queue\"", "faster = \"the snail\"", 33, "the snail"),
        ("author = ", "auther = ", 3, "auther"),
        ("title = \"Is", "title = Is", 2, ""),
    ] {
        let (before, place) = (Snapshot::take(), Place::new());
        assert!(ROUND_TRIPS.contains(right), "{right}");
        let text = ROUND_TRIPS.replacen(right, wrong, 1);
        let finished = place.finish(&mut place.replaying(&text, &[])).expect_code(2);
        let finished = finished.expect_complaint(&format!("./mine.toml:{line}: ")).expect_complaint(told);
        assert!(finished.stdout.is_empty() && place.all_saved().is_empty(), "{finished:#?}");
        before.expect_nothing_left(&place);
    }
}

#[test]
fn a_row_that_there_is_not_says_so_and_the_others_are_measured() {
    let place = Place::new();
    let mistyped = ROUND_TRIPS.replacen("posix-mq/block", "posix-mg/block", 1);
    let finished = place.finish(&mut place.replaying(&mistyped, &[])).expect_code(2);
    finished.expect_complaint("no mechanism is called 'posix-mg': did you mean posix-mq?");
    for wrong in ["pigeon/block", "pipe/futex"] {
        let text = ROUND_TRIPS.replacen("posix-mq/block", wrong, 1);
        let replay = place.replay(&text, &["--no-save"]).expect_code(0).replay();
        let mistyped = row(&replay, "the queue");
        assert_eq!(mistyped.status, ReplayStatus::Refused, "{mistyped:#?}");
        assert_eq!(mistyped.reason, Some(format!("no row is called {wrong}")));
        assert_eq!(mistyped.remedy.as_deref(), Some("furlong list shows all there are"));
        assert!(row(&replay, "the pipe").verified);
    }
}

//! `--self-check` compares a row with itself, and the exit status reports the result.

use crate::common::value::{at, list, number, text};
use crate::common::{FinishedCommand, Place};

const WORDS: [&str; 8] =
    ["run", "posix-shm/futex", "--place", "same-core", "--self-check", "--budget", "5ms", "--no-save"];

fn self_check(arguments: &[&str]) -> FinishedCommand {
    Place::new().run(WORDS.iter().chain(arguments).copied()).expect_no_panic()
}

#[test]
fn the_share_of_ties_decides() {
    let finished = self_check(&["--repeats", "4", "--trials", "5", "--format", "json"]);
    let json = finished.json();
    assert_eq!(at(&json, "repeats"), 4, "{json:#}");
    let (share, ties) = (number(&json, "share"), number(&json, "ties"));
    assert!((0.0..=1.0).contains(&share) && share == ties / 4.0, "{json:#}");
    let passed = at(&json, "passed").as_bool().expect("yes or no");
    // Two misses of four happen by chance once in 71 checks, three once in 2,000.
    assert_eq!((passed, number(&json, "needed")), (ties >= 2.0, 2.0), "{json:#}");
    assert_eq!(finished.code, Some(if passed { 0 } else { 1 }), "{finished:#?}");
    assert!(list(&json, "unjudged").is_empty() && finished.stderr.is_empty(), "{finished:#?}");

    let [row] = list(&json, "rows") else { panic!("one row in {json:#}") };
    assert_eq!((text(row, "mechanism"), text(row, "placement")), ("posix-shm", "same-core"));
    assert_eq!(at(row, "repeats"), 4, "{json:#}");
    assert_eq!((number(row, "share"), number(row, "ties")), (share, ties), "{json:#}");
    assert!(number(row, "worst_ratio") >= 1.0, "{json:#}");
    for copy in ["first", "second"] {
        let p50_ns = number(row, &format!("{copy}.p50_ns"));
        let [low, high] = list(row, &format!("{copy}.ci95_ns")) else { panic!("no interval in {row:#}") };
        assert!(low.as_f64() <= Some(p50_ns) && Some(p50_ns) <= high.as_f64(), "{row:#}");
    }
}

#[test]
fn the_table_says_how_it_ended() {
    let finished = self_check(&["--repeats", "2", "--trials", "4"]);
    let verdict = if finished.code == Some(0) { "PASSED: " } else { "FAILED: " };
    assert!(finished.stdout.contains(verdict), "{finished:#?}");
    assert!(
        finished.stdout.contains(" of 2 comparisons tie, ") && finished.stdout.contains("; at least 1 must"),
        "{finished:#?}"
    );
    assert!(finished.stdout.contains("posix-shm/futex 128B same-core"), "{finished:#?}");
}

#[test]
fn too_few_trials_compare_nothing() {
    let finished = self_check(&["--repeats", "2", "--trials", "2", "--format", "json"]).expect_code(1);
    let json = finished.json();
    assert!(list(&json, "rows").is_empty() && at(&json, "passed") == false, "{json:#}");
    assert!(text(&list(&json, "unjudged")[0], "reason").contains("an interval needs 3"), "{json:#}");
}

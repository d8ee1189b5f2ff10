//! The number of trials of a row: exact, or as many as a precision requires and the time allows.

use crate::common::Place;
use crate::common::value::{number, row};
use furlong_analysis::Run;

/// Returns the numbers of the trials of a saved run, in order.
fn numbers(place: &Place, options: &[&str]) -> Vec<u32> {
    let words = ["run", "pipe", "--budget", "2ms", "--warm-up", "1ms", "--save", "mine"];
    place.run(words.iter().chain(options).copied()).expect_code(0).expect_no_panic();
    let run = Run::read(place.saved("mine")).expect("a run");
    let mut numbers: Vec<u32> = run.trials.iter().map(|trial| trial.number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn trials_alone_are_an_exact_number() {
    assert_eq!(numbers(&Place::new(), &["--trials", "7"]), (0..7).collect::<Vec<_>>());
}

#[test]
fn what_is_not_certain_enough_is_measured_further_and_counts_on() {
    // No row here reaches this precision after six trials.
    let found = numbers(&Place::new(), &["--trials", "6", "--precision", "0.1%", "--within", "1s"]);
    assert!(found.len() > 6, "{found:?}");
    assert_eq!(found, (0..found.len() as u32).collect::<Vec<_>>());
}

#[test]
fn what_is_certain_enough_is_not() {
    // Trials vary by less than the median if no other test runs and no host migrates a vCPU.
    let found = numbers(&Place::alone(), &["--place", "same-core", "--trials", "6", "--precision", "100%"]);
    assert!(found.len() >= 6 && found.len() <= 9, "{found:?}");
}

#[test]
fn a_row_that_no_time_was_left_for_says_so() {
    let finished = Place::new().run(["run", "pipe", "tcp", "--within", "1ns", "--no-save"]).expect_code(7);
    finished
        .expect_complaint("time ran out before its first trial")
        .expect_complaint("remedy: use a longer --within, or fewer rows");
}

#[test]
fn a_precision_needs_trials_that_say_how_far_they_differ() {
    let words = ["run", "pipe", "--precision", "2%", "--trials", "5"];
    Place::new().run(words).expect_code(2).expect_complaint("--precision needs --trials 6 or more");
    for refused in ["--precision=5%", "--within=3s"] {
        let words = ["run", "pipe", "--self-check", refused];
        Place::new().run(words).expect_code(2).expect_complaint("cannot be used with");
    }
}

#[test]
fn all_of_a_run_is_repeated_some_time_apart() {
    let place = Place::new();
    let words =
        ["run", "pipe", "--trials", "4", "--across", "2", "--apart", "100ms", "--budget", "2ms", "--no-save"];
    let json = place.run(words.into_iter().chain(["--format", "json"])).expect_code(0).json();
    assert_eq!(number(&json, "across"), 2.0);
    assert_eq!(number(row(&json, "rows", "pipe/block"), "trials"), 8.0);
    let table = place.run(words).expect_code(0).stdout;
    assert!(table.contains("2 times: interval of p50 over 2 repetitions"), "{table}");
    let refused = place.run(["run", "pipe", "--across", "2", "--within", "1s"]).expect_code(2);
    assert!(refused.stderr.contains("--within"), "{}", refused.stderr);
}

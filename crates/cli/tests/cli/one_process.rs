//! `--place one-process`: both ends in one process, so that neither waits; and `--place free`: roles are not pinned.

use crate::common::Place;
use crate::common::value::{at, list, number, row, text};
use serde_json::Value;

/// Returns the row of a mechanism with its roles in `place`.
#[track_caller]
fn row_in<'a>(json: &'a Value, mechanism: &str, place: &str) -> &'a Value {
    let is_it = |row: &&Value| [text(row, "mechanism"), text(row, "placement")] == [mechanism, place];
    let found = list(json, "rows").iter().find(is_it);
    found.unwrap_or_else(|| panic!("no {mechanism} in {place} of {json:#}"))
}

#[test]
fn nobody_waits_and_one_processor_is_used() {
    let place = Place::alone();
    let mechanisms = ["pipe", "tcp", "posix-mq"];
    let more = ["--place", "one-process", "--place", "same-core", "--trials", "3", "--budget", "5ms"];
    let words = ["run"].into_iter().chain(mechanisms).chain(more).chain(["--no-save", "--format", "json"]);
    let json = place.run(words).expect_code(0).json();
    assert!(list(&json, "skipped").is_empty(), "{json:#}");
    for mechanism in mechanisms {
        let row = row_in(&json, mechanism, "one-process");
        assert_eq!(at(row, "verified"), true, "{row:#}");
        assert_eq!(list(row, "processors").len(), 1, "{row:#}");
        let switches =
            ["voluntary", "involuntary"].map(|kind| number(row, &format!("switches_per_round_trip.{kind}")));
        assert!(switches[0] + switches[1] < 0.2, "{row:#}");
        // Two processes also wait for each other.
        let shared = row_in(&json, mechanism, "same-core");
        assert!(number(row, "round_trip_ns.p50") < number(shared, "round_trip_ns.p50"), "{json:#}");
        assert_ne!(at(row, "group"), at(shared, "group"), "they are not ranked together: {json:#}");
    }
}

#[test]
fn every_mechanism_with_two_ends_can_do_it() {
    let place = Place::new();
    let words = ["run", "--place", "one-process", "--trials", "1", "--budget", "2ms", "--no-save"];
    let json = place.run(words.into_iter().chain(["--format", "json"])).expect_code(0).json();
    // A mechanism with a single end reports that.
    let null = row(&json, "skipped", "null/spin");
    assert_eq!(text(null, "status"), "refused");
    assert!(text(null, "reason").contains("one end"), "{null:#}");
    let every = place.run(["list", "--format", "json"]).expect_code(0).json();
    for entry in every.as_array().expect("a list") {
        let name = text(entry, "mechanism");
        if name != "null" && at(entry, "available") == true {
            assert_eq!(at(row_in(&json, name, "one-process"), "verified"), true, "{name} in {json:#}");
        }
    }
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn every_mechanism_can_do_without_being_pinned() {
        let place = Place::new();
        let words = ["run", "--place", "free", "--trials", "3", "--budget", "2ms", "--no-save"];
        let json = place.run(words.into_iter().chain(["--format", "json"])).expect_code(0).json();
        let every = place.run(["list", "--format", "json"]).expect_code(0).json();
        for entry in every.as_array().expect("a list") {
            let name = text(entry, "mechanism");
            if at(entry, "available") == true {
                let row = row_in(&json, name, "free");
                assert_eq!(at(row, "verified"), true, "{row:#}");
                assert!((0.0..=3.0).contains(&number(row, "trials_on_one_processor")), "{row:#}");
            }
        }
        let pinned =
            place.run(["run", "pipe", "--trials", "1", "--budget", "2ms", "--no-save", "--format", "json"]);
        assert!(
            at(row(&pinned.expect_code(0).json(), "rows", "pipe/block"), "trials_on_one_processor").is_null()
        );
        let refused = place.run(["explain", "pipe", "--place", "free", "--trials", "1"]).expect_code(2);
        assert!(refused.stderr.contains("the scheduler chose"), "{}", refused.stderr);
    }
}

//! `--place one-process`: both ends in one process, so that nobody waits.
#![forbid(unsafe_code)]

mod common;

use common::Place;
use common::value::{at, list, number, row, text};

#[test]
fn nobody_waits_and_one_processor_is_used() {
    let place = Place::new();
    let more = ["--place", "one-process", "--place", "same-core", "--trials", "3", "--budget", "5ms"];
    let names = ["pipe/block", "tcp/block", "posix-mq/block"];
    let words = ["run"].into_iter().chain(names).chain(more).chain(["--no-save", "--format", "json"]);
    let json = place.run(words).expect_code(0).json();
    assert!(list(&json, "skipped").is_empty(), "{json:#}");
    for name in names {
        let of = |place: &str| {
            let mut rows = list(&json, "rows").iter();
            let found = rows.find(|row| {
                text(row, "placement") == place && name.starts_with(&format!("{}/", text(row, "mechanism")))
            });
            found.unwrap_or_else(|| panic!("no {name} in {place} of {json:#}"))
        };
        let row = of("one-process");
        assert_eq!(at(row, "verified"), true, "{row:#}");
        assert_eq!(list(row, "processors").len(), 1, "{row:#}");
        let switches = ["voluntary", "involuntary"]
            .map(|kind| number(row, &format!("switches_per_round_trip.{kind}")));
        assert!(switches[0] + switches[1] < 0.2, "{row:#}");
        // What two processes do beside that is to wait for each other.
        let [alone, shared] =
            ["one-process", "same-core"].map(|place| number(of(place), "round_trip_ns.p50"));
        assert!(alone < shared, "{json:#}");
        assert_ne!(at(row, "group"), at(of("same-core"), "group"), "they are not ranked together: {json:#}");
    }
}

#[test]
fn every_mechanism_with_two_ends_can_do_it() {
    let place = Place::new();
    let words = ["run", "--place", "one-process", "--trials", "1", "--budget", "2ms", "--no-save"];
    let json = place.run(words.into_iter().chain(["--format", "json"])).expect_code(0).json();
    assert!(list(&json, "rows").iter().all(|row| at(row, "verified") == true), "{json:#}");
    // One that has a single end anyway says so.
    assert_eq!(text(row(&json, "skipped", "null/spin"), "status"), "refused");
    assert!(text(row(&json, "skipped", "null/spin"), "reason").contains("one end"), "{json:#}");
    let available = place.run(["list", "--format", "json"]).expect_code(0).json();
    let available = available.as_array().expect("a list").iter().filter(|entry| at(entry, "available") == true);
    assert_eq!(list(&json, "rows").len(), available.count() - 1, "{json:#}");
}

//! Messages that are accessed in place, compared with copied ones, and rings of a chosen size.

use crate::common::Place;
use crate::common::value::{at, list, number, row, text};
use serde_json::Value;

const QUICK: [&str; 8] =
    ["--trials", "3", "--budget", "4ms", "--warm-up", "2ms", "--no-save", "--no-progress"];

fn ran(place: &Place, words: &[&str], code: i32) -> Value {
    let words = ["run"].iter().chain(words).chain(&QUICK).chain(&["--format", "json"]);
    place.run(words.copied()).expect_code(code).json()
}

/// Returns the row of a mechanism with this access.
fn accessed<'a>(json: &'a Value, mechanism: &str, access: &str) -> &'a Value {
    let of = |row: &Value| row.get("access").and_then(Value::as_str).unwrap_or("copy").to_owned();
    let is_it = |row: &&Value| text(row, "mechanism") == mechanism && of(row) == access;
    list(json, "rows").iter().find(is_it).unwrap_or_else(|| panic!("no {mechanism} {access} in {json:#}"))
}

#[test]
fn copies_and_messages_in_place_stand_in_one_table() {
    let words = ["memfd-shm", "channel/futex", "-s", "4096", "--access", "copy", "--access", "in-place"];
    let json = ran(&Place::new(), &words, 0);
    for mechanism in ["memfd-shm", "channel"] {
        let [copies, in_place] = ["copy", "in-place"].map(|access| accessed(&json, mechanism, access));
        assert_eq!(text(copies, "group"), text(in_place, "group"));
        assert_eq!(at(in_place, "verified"), true);
    }
}

#[test]
fn what_touches_some_bytes_alone_has_a_table_of_its_own_and_says_so() {
    let place = Place::new();
    let words = ["memfd-shm", "--access", "stamps-in-place", "--access", "copy"];
    let json = ran(&place, &words, 0);
    let stamps = accessed(&json, "memfd-shm", "stamps-in-place");
    assert!(text(stamps, "group").ends_with("/stamps-in-place"), "{stamps:#}");
    assert!(!text(accessed(&json, "memfd-shm", "copy"), "group").contains("stamps"));
    let table = place.run(["run"].iter().chain(&words).chain(&QUICK).copied()).expect_code(0).stdout;
    assert!(table.contains("memfd-shm/futex (stamps in place)"), "{table}");
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("of which the first and the last 8 bytes are touched"), "{table}");
}

#[test]
fn what_lends_nothing_is_refused_and_left_out_unless_it_is_named() {
    let place = Place::new();
    let json = ran(&place, &["--access", "in-place", "--place", "one-process"], 0);
    // Some mechanisms may be missing here, but every row that is tried has zero-copy access.
    let skipped = list(&json, "skipped");
    let none_lends_nothing =
        skipped.iter().all(|row| !text(row, "reason").contains("has no zero-copy access"));
    assert!(list(&json, "rows").len() > 3 && none_lends_nothing, "{json:#}");
    let refused = place.run(["run", "pipe", "--access", "in-place"]).expect_code(2);
    refused.expect_complaint("pipe has no zero-copy access").expect_complaint("leave --access out");
}

#[test]
fn a_ring_is_as_large_as_asked_and_holds_one_message() {
    let place = Place::new();
    for (size, ring, in_force) in [("128", "100000", 131_072.0), ("1MiB", "64KiB", 2_097_152.0)] {
        let json = ran(&place, &["channel/futex", "-s", size, "--ring-size", ring], 0);
        let row = row(&json, "rows", "channel/futex");
        assert_eq!(number(row, "effective.ring-bytes"), in_force, "{size} in {ring}: {row:#}");
        assert!(number(row, "buffer_bytes") > 0.0);
    }
}

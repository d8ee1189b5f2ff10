//! Several messages in flight: the rows that support it, their table, and the reasons if it is impossible.

use crate::common::Place;
use crate::common::value::{list, number, row, text};

const QUICK: [&str; 8] =
    ["--trials", "3", "--budget", "10ms", "--warm-up", "2ms", "--no-save", "--no-progress"];

#[test]
fn rows_keep_as_many_outstanding_as_they_can_hold() {
    let words =
        ["run", "pipe", "posix-shm", "eventfd", "null", "unix-stream", "--window", "3", "--format", "json"];
    let json = Place::new().run(words.into_iter().chain(QUICK)).expect_code(0).json();
    for name in ["pipe/block", "posix-shm/futex", "unix-stream/block"] {
        let row = row(&json, "rows", name);
        assert_eq!(number(row, "window"), 3.0);
        assert_eq!(text(row, "group"), "other-core/sleeping/128B");
        // Little's law, which a row obeys in every trial or is void, shows that three messages were in flight.
        assert!(number(row, "round_trips_per_second") > 0.0 && number(row, "round_trip_ns.p50") > 0.0);
    }
    for (name, why) in [("eventfd/block", "holds 1 each way"), ("null/spin", "needs two processes")] {
        let skipped = row(&json, "skipped", name);
        assert!(text(skipped, "reason").contains(why), "{skipped:#}");
    }
    assert_eq!(list(&json, "skipped").len(), 2);
}

#[test]
fn more_than_a_row_holds_is_refused_with_its_depth() {
    let place = Place::new();
    let words =
        |window| ["run", "posix-shm", "pipe", "-m", "request", "--response", "4KiB", "--window", window];
    let refused = place.run(words("100000").into_iter().chain(QUICK)).expect_code(7).stdout;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "100000 messages cannot be in flight: posix-shm holds 1 of 1B there and 1 of 4KiB back",
        "and with more messages than both directions hold plus one, each side would wait for the other to make room",
        "ask for --window 3 or less",
        "or ask for a larger pipe (--pipe-size)",
    ] {
        assert!(refused.contains(told), "{told}: {refused}");
    }
    let table = place.run(words("3").into_iter().chain(QUICK)).expect_code(0).stdout;
    assert!(table.contains("posix-shm/futex (window 3)"), "{table}");
}

#[test]
fn a_window_that_makes_no_sense_is_told() {
    for (words, told) in [
        (&["--window", "0"][..], "--window must be between 1 and 1000000, got 0"),
        (&["--window", "4..2"], "write a number from 1 to 1000000, or the first, the last and a factor"),
        (&["--window", "2", "-m", "one-way"], "--window is for round trips and requests"),
        (&["--window", "2", "--think-time", "1ms"], "--think-time pauses after the response"),
        (&["--window", "2", "--place", "one-process"], "--window needs two processes"),
        (&["--window", "2", "--count"], "--count counts round trips with a single message in flight"),
    ] {
        let finished = Place::new().run(["run", "pipe"].iter().chain(words).copied()).expect_code(2);
        assert!(finished.stderr.contains(told), "{words:?}: {}", finished.stderr);
    }
    let words = ["run", "splice", "--window", "2", "--rate", "1k/s"];
    Place::new().run(words).expect_code(2).expect_complaint("splice/block only waits");
}

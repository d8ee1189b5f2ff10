//! Tests of suites that keep their plan, and of all ways to break it.

use super::*;

fn suite(body: &str, exit: Option<i32>) -> Vec<Case> {
    judged(&Section { name: "s".to_owned(), body: body.to_owned(), exit })
}

/// Returns the notes of the final case of a suite.
fn end(body: &str, exit: Option<i32>) -> String {
    let cases = suite(body, exit);
    let end = cases.last().unwrap();
    assert_eq!(end.name, "s: ran to its end");
    assert_eq!(end.passed, end.notes.is_empty(), "{end:?}");
    end.notes.join("; ")
}

#[test]
fn a_suite_that_keeps_its_plan_passes() {
    let body = "TAP version 13\n1..3\n# it took 3 tries\nok 1 - opens\nok 2\nok 3 - closes # SKIP no door\n";
    let cases = suite(body, Some(0));
    let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["s: opens", "s: ", "s: closes # SKIP no door", "s: ran to its end"]);
    assert!(cases.iter().all(|case| case.passed));
    assert_eq!(cases[0].notes, ["it took 3 tries"]);
}

#[test]
fn the_plan_may_come_last() {
    assert_eq!(end("ok 1 - a\nok 2 - b\n1..2\n", Some(0)), "");
}

#[test]
fn a_test_that_fails_stays_one() {
    let cases = suite("1..2\n# why\nnot ok 1 - a\nok 2 - b\n", Some(1));
    assert!(!cases[0].passed && cases[0].notes == ["why"]);
    assert!(cases[1].passed && cases[2].passed);
}

#[test]
fn every_broken_promise_is_named() {
    for (body, exit, message) in [
        ("", Some(0), "it printed no plan"),
        ("ok 1 - a\n", Some(0), "it printed no plan"),
        ("1..0\n", Some(0), "its plan is to test nothing"),
        ("1..2\nok 1 - a\n", Some(0), "it planned 2 tests, and 1 printed their results"),
        ("1..1\nok 1 - a\nok 2 - b\n", Some(0), "it planned 1 tests, and 2 printed their results"),
        ("1..1\nok 1 - a\n1..1\n", Some(0), "it printed more than one plan"),
        ("1..2\nok 1 - a\nok 1 - a\n", Some(0), "expected test 2, found: ok 1 - a"),
        ("1..2\nok 1 - a\nok 3 - c\n", Some(0), "expected test 2, found: ok 3 - c"),
        ("1..1\nok 1 - a\nBail out! no device\n", Some(0), "Bail out! no device"),
        ("1..1\nok 1 - a\n", Some(3), "it ended with 3"),
        ("1..1\nok 1 - a\n", Some(137), "signal 9 ended it"),
        ("1..1\nok 1 - a\n", None, "it did not end before the guest did"),
        (
            "1..2\nok 1 - a\no",
            None,
            "it planned 2 tests, and 1 printed their results; it did not end before the guest did; o",
        ),
    ] {
        assert_eq!(end(body, exit), message, "{body:?} {exit:?}");
    }
}

#[test]
fn what_only_looks_like_a_result_is_none() {
    let cases = suite("1..1\nokay then\nnot okay\nok 1 - a\n", Some(0));
    assert_eq!(cases.len(), 2);
    assert_eq!(cases[0].notes, ["okay then", "not okay"]);
}

#[test]
fn what_was_said_last_is_kept_with_how_it_ended() {
    let cases = suite("1..1\nok 1 - a\n# no such device\n", Some(1));
    assert_eq!(cases[1].notes, ["it ended with 1", "no such device"]);
}

#[test]
fn one_stream_is_numbered_through() {
    let cases = [suite("1..1\n# note\nok 1 - a\n", Some(0)), suite("1..1\nnot ok 1 - b\n", Some(0))].concat();
    let expected = "TAP version 13\n1..4\nok 1 - s: a\n# note\nok 2 - s: ran to its end\nnot ok 3 - s: b\n\
                    ok 4 - s: ran to its end\n";
    assert_eq!(stream(&cases), expected);
    assert_eq!(failures(&cases), "  s: b\n    ");
}

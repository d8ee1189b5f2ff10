//! `furlong recommend --observed`: unusable traces are rejected, and the candidates carry the recorded traffic.

use crate::common::Place;
use crate::common::value::{at, list, number, text};
use std::fs;

/// Returns a message of a trace.
fn message(time_ns: u64, ends: [&str; 2], size_bytes: u32) -> String {
    let [sender, receiver] = ends;
    format!(
        "{{\"time_ns\":{time_ns},\"sender\":\"{sender}\",\"receiver\":\"{receiver}\",\"size_bytes\":{size_bytes},\
         \"means\":\"posix-mq\"}}\n"
    )
}

const THERE: [&str; 2] = ["client", "server"];
const BACK: [&str; 2] = ["server", "client"];

#[test]
fn unusable_traces_are_rejected_with_line_and_key() {
    let place = Place::new();
    let good = message(5, THERE, 64) + &message(9, THERE, 64);
    for (trace, expected) in [
        (String::new(), "seen.jsonl: the file is empty"),
        (message(5, THERE, 64), "link 'client->server' has fewer than two messages"),
        (good.clone() + "{\"time_ns\":9", "line 3: not a message of a trace: EOF"),
        (good.replace("size_bytes", "size"), "line 1: not a message of a trace: missing field `size_bytes`"),
        (good.replace("64", "-1"), "line 1: not a message of a trace: invalid value"),
        (good.clone() + &message(9, THERE, 0), "line 3: size_bytes must be between 1 and 1073741824, got 0"),
        (good.clone() + &message(4, THERE, 64), "line 3: time_ns 4 is before 9"),
        (
            good.replace("posix-mq", "a\\u001b[2Jb"),
            "line 1: means must have 1 to 256 bytes without invisible",
        ),
        (good.replace("server", &"s".repeat(257)), "line 1: receiver must have 1 to 256 bytes"),
        (good.clone() + &"{".repeat(5000), "line 3: longer than 4096 bytes"),
        (message(5, THERE, 64).repeat(9), "more than 10M messages per second on 'client->server'"),
        ("12 1700000000.5 write(1, \"x\", 1) = 1\n".to_owned(), "not a trace of furlong: convert it"),
    ] {
        fs::write(place.path("seen.jsonl"), &trace).unwrap();
        let output = place.run(["recommend", "--observed", "seen.jsonl", "--no-save"]).expect_code(2);
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
        assert!(output.stdout.is_empty() && !output.stderr.contains('\u{1b}'), "{}", output.stderr);
    }
    fs::write(place.path("seen.jsonl"), good).unwrap();
    for (words, expected) in [
        ("--observed nowhere.jsonl", "nowhere.jsonl: cannot open the file"),
        ("--observed .", "not a regular file"),
        ("--observed seen.jsonl --link client->other", "link 'client->other' has fewer than two messages"),
        ("--observed seen.jsonl --objective throughput", "use an --objective other than throughput"),
        ("--observed seen.jsonl --size 64", "cannot be used with"),
        ("--observed seen.jsonl --rate 1k/s", "cannot be used with"),
        ("--size 64 --link client->server", "--link requires --observed FILE"),
    ] {
        let output = place.run(["recommend"].into_iter().chain(words.split(' '))).expect_code(2);
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
}

#[test]
fn answered_messages_are_measured_in_a_closed_loop() {
    let place = Place::new();
    let exchange =
        |number: u64| message(number * 20_000, THERE, 64) + &message(number * 20_000 + 10_000, BACK, 64);
    fs::write(place.path("seen.jsonl"), (0..200).map(exchange).collect::<String>()).unwrap();
    let words = "recommend --observed seen.jsonl --format json --no-save --no-progress --within 4s";
    let answer = place.run(words.split(' ')).expect_code(0).json();
    assert_eq!(
        (text(&answer, "workload.pattern"), number(&answer, "workload.size_bytes")),
        ("round-trip", 64.0)
    );
    let [one, other] = [THERE, BACK].map(|[sender, receiver]| format!("{sender}->{receiver}"));
    let link = text(&answer, "workload.observed.link");
    assert!(link == one || link == other, "{link}");
    // 50,000 exchanges per second.
    assert!((number(&answer, "workload.observed.per_second") / 50e3 - 1.0).abs() < 0.01);
    let choice = text(&answer, "choice.mechanism");
    // A busy machine may eliminate it.
    let mut measured = ["ranked", "eliminated"].into_iter().flat_map(|key| list(&answer, key));
    assert!(measured.any(|row| text(row, "mechanism") == "posix-mq"), "{answer:#}");
    if choice != "posix-mq" {
        assert_eq!(text(&answer, "switch.from"), "posix-mq/block");
        let [before, after, saved] = ["before_ns", "after_ns", "saved_ns"]
            .map(|key| number(&answer, &format!("switch.latency.{key}")));
        assert!(before > 0.0 && (before - after - saved).abs() < 1.0 + before / 1e3, "{answer:#}");
        assert!(at(&answer, "switch.cpu_share").is_null(), "the rate depends on the mechanism: {answer:#}");
    }
}

#[test]
fn unanswered_messages_are_replayed_and_the_pair_of_the_choice_is_printed() {
    let place = Place::new();
    let send =
        |number: u64| message(number * 1_000_000, THERE, if number.is_multiple_of(10) { 4000 } else { 100 });
    fs::write(place.path("seen.jsonl"), (0..500).map(send).collect::<String>()).unwrap();
    let words = "recommend --observed seen.jsonl --emit c --no-save --no-progress --within 6s";
    let output = place.run(words.split(' ')).expect_code(0);
    assert!(output.stdout.starts_with("/*\n * "), "{}", output.stdout);
    assert!(output.stdout.contains("MESSAGE_BYTES = 4000"), "the largest message: {}", output.stdout);
    let gain = "over the observed posix-mq/block";
    assert!(
        output.stderr.contains(gain) || output.stderr.contains(": posix-mq/block\n"),
        "{}",
        output.stderr
    );
}

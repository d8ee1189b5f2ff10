//! `furlong trace` and `--arrival trace:FILE`: summaries, imports, generated traces and replays.

use crate::common::Place;
use crate::common::value::{at, list, number};
use serde_json::json;
use std::fmt::Write;
use std::fs;

/// Returns a trace with these times in microseconds and sizes.
fn trace(messages: &[(u64, u32)], receiver: &str) -> String {
    messages.iter().fold(String::new(), |mut text, (us, size)| {
        let time_ns = us * 1000;
        let message = json!({"time_ns": time_ns, "sender": "a", "receiver": receiver, "size_bytes": size});
        writeln!(text, "{message}").unwrap();
        text
    })
}

#[test]
fn generated_trace_is_summarized_and_replayed_by_both_roles() {
    let place = Place::new();
    let words =
        "trace generate --to web.jsonl --rate 2k/s --arrival poisson --sizes 64:70,4KiB:30 --messages 200";
    place.run(words.split(' ')).expect_code(0);
    place.run(words.replace("web", "again").split(' ')).expect_code(0);
    let [web, again] = ["web.jsonl", "again.jsonl"].map(|name| fs::read(place.path(name)).unwrap());
    assert_eq!(web, again, "the same seed gives the same trace");
    let info = place.run(["trace", "info", "web.jsonl"]).expect_code(0).stdout;
    assert!(info.starts_with("200 messages, ") && info.contains("client->server  200"), "{info}");
    let replay = "run pipe -m one-way --arrival trace:web.jsonl --speed 0.5x --trials 3 --no-progress --save web --format json";
    let run = place.run(replay.split(' ')).expect_code(0).json();
    let [row] = list(&run, "rows") else { panic!("{run:#}") };
    assert_eq!(number(row, "size_bytes"), 4096.0);
    let found: Vec<f64> = list(row, "size_classes").iter().map(|class| number(class, "size_bytes")).collect();
    assert_eq!(found, [64.0, 4096.0]);
    // Each of three trials replays the trace once, and may end before its last messages.
    let messages = number(row, "message_ns.samples");
    assert!((580.0..=600.0).contains(&messages), "{messages}");
    let condition = at(at(row, "conditions"), "trace").as_str().unwrap();
    assert!(condition.ends_with("\t\tweb.jsonl") && condition.contains(" 500 64..4096 "), "{condition}");
    // A run of another trace is named as such.
    place.run(words.replace("web", "other").split(' ').chain(["--seed", "2"])).expect_code(0);
    place.run(replay.replace("web", "other").split(' ')).expect_code(0);
    let compared = place.run(["compare", "web", "other"]).expect_code(6).stderr;
    assert!(compared.contains("trace web.jsonl@") && compared.contains("trace other.jsonl@"), "{compared}");
}

#[test]
fn round_trips_and_fan_out_replay_a_link() {
    let place = Place::new();
    // Slow enough for a machine that loses most of its CPU time.
    let even: Vec<_> = (0..100).map(|number| (number * 5000, 64)).collect();
    fs::write(place.path("one.jsonl"), trace(&even, "b")).unwrap();
    let mixed: Vec<_> = (0..100).map(|number| (number * 5000, 64 + number as u32)).collect();
    let text = trace(&mixed, "b")
        .lines()
        .zip(trace(&even, "c").lines())
        .fold(String::new(), |text, (b, c)| text + b + "\n" + c + "\n");
    fs::write(place.path("two.jsonl"), text).unwrap();
    let several = place.run(["run", "pipe", "--arrival", "trace:two.jsonl"]).expect_code(2).stderr;
    assert!(several.contains("select one of them with --link: a->b, a->c"), "{several}");
    for (words, largest) in [
        ("pipe posix-shm/futex --arrival trace:two.jsonl --link a->b", 163.0),
        ("unix-dgram -m one-way --arrival trace:two.jsonl --link a->b", 163.0),
        ("pipe -m fan-out --receivers 2 --arrival trace:one.jsonl", 64.0),
    ] {
        let short = "--trials 1 --no-progress --no-save --format json";
        let run = place.run(["run"].into_iter().chain(words.split(' ')).chain(short.split(' ')));
        let run = run.expect_code(0).json();
        assert!(!list(&run, "rows").is_empty(), "{run:#}");
        for row in list(&run, "rows") {
            assert_eq!(number(row, "size_bytes"), largest, "{row:#}");
        }
    }
}

#[test]
fn strace_and_pcap_are_converted() {
    let place = Place::new();
    let lines = "7 1700000000.000100 write(4<pipe:[5]>, \"a\", 128) = 128\n\
                 8 1700000000.000350 read(3<pipe:[5]>, \"a\", 4096) = 128\n";
    fs::write(place.path("strace.txt"), lines).unwrap();
    let converted = place.run(["trace", "convert", "strace.txt", "--to", "out.jsonl"]).expect_code(0).stderr;
    assert!(converted.starts_with("2 messages written to out.jsonl"), "{converted}");
    let first = "{\"time_ns\":0,\"sender\":\"7\",\"receiver\":\"pipe:[5]\",\"size_bytes\":128,\"kind\":\"message\"}\n";
    let text = fs::read_to_string(place.path("out.jsonl")).unwrap();
    assert!(text.starts_with(first), "{text}");
    // A file that cannot be converted leaves the old trace as it is.
    fs::write(place.path("strace.txt"), lines.to_owned() + "end of file\n").unwrap();
    let refused = place.run(["trace", "convert", "strace.txt", "--to", "out.jsonl"]).expect_code(2).stderr;
    assert!(refused.contains("strace.txt: line 3: not a line of 'strace -f -ttt'"), "{refused}");
    assert_eq!(fs::read_to_string(place.path("out.jsonl")).unwrap(), text);
    fs::write(place.path("cut.pcap"), [0xd4, 0xc3, 0xb2, 0xa1, 2, 0]).unwrap();
    let cut = place.run(["trace", "info", "cut.pcap"]).expect_code(2).stderr;
    assert!(cut.contains("cut.pcap: offset 0: truncated: 6 of 24 bytes"), "{cut}");
}

#[test]
fn wrong_traces_are_rejected_before_anything_is_measured() {
    let place = Place::new();
    let write = |name: &str, text: String| fs::write(place.path(name), text).unwrap();
    write("good.jsonl", trace(&[(0, 64), (1000, 100_000)], "b"));
    write("back.jsonl", trace(&[(5, 64), (4, 64)], "b"));
    write("once.jsonl", trace(&[(5, 64), (5, 64)], "b"));
    write("fast.jsonl", trace(&[(0, 64), (1, 64)], "b"));
    write("text.jsonl", "{\n".to_owned());
    write("strace.txt", "7 1700000000.000100 write(4, \"a\", 1) = 1\n".to_owned());
    for (words, why) in [
        ("trace:good.jsonl --rate 1k/s", "leave --rate and --find-rate out"),
        ("trace:good.jsonl --find-rate p99<1ms", "leave --rate and --find-rate out"),
        ("trace:good.jsonl --arrival poisson", "cannot be combined"),
        ("trace:good.jsonl --size 64", "leave --size and --sizes out"),
        ("trace:good.jsonl --sizes 64:1", "leave --size and --sizes out"),
        ("trace:good.jsonl --think-time 1ms", "leave --think-time out"),
        ("trace:good.jsonl --link a->c", "no message on the link 'a->c'; its links: a->b"),
        ("trace:good.jsonl --speed 2", "write 2x or 0.5x"),
        ("poisson --rate 1k/s --speed 2x", "--speed needs --arrival trace:FILE"),
        ("trace:fast.jsonl --speed 1000x", "more than 10M messages per second"),
        ("trace:back.jsonl", "back.jsonl: line 2: time_ns 4000 is before 5000"),
        ("trace:once.jsonl", "two messages at different times"),
        ("trace:text.jsonl", "text.jsonl: line 1: not a message of a trace"),
        ("trace:strace.txt", "convert it with 'furlong trace convert FROM --to FILE'"),
        ("trace:.", "not a regular file"),
        ("trace:nothing.jsonl", "cannot open the file"),
    ] {
        let refused =
            place.run(["run", "pipe", "--arrival"].into_iter().chain(words.split(' '))).expect_code(2);
        assert!(refused.stderr.contains(why) && refused.stdout.is_empty(), "{words}: {}", refused.stderr);
    }
    for (words, why) in [
        ("udp --arrival trace:good.jsonl", "(line 2 of good.jsonl) is more than"),
        ("eventfd --arrival trace:good.jsonl", "a trace has sizes"),
        ("pipe -m request --request 8 --arrival trace:good.jsonl", "ask for round trips or one-way messages"),
        ("pipe -m fan-out --arrival trace:good.jsonl", "a trace of several sizes needs one sender"),
    ] {
        let code = if words.starts_with("udp") { 7 } else { 2 };
        let refused =
            place.run(["run", "--no-progress"].into_iter().chain(words.split(' '))).expect_code(code);
        let text = refused.stdout + &refused.stderr;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(why), "{words}: {text}");
    }
}

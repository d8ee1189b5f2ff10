//! One-way messages, requests with responses, sweeps over sizes, and buffers of a chosen size.

use crate::common::Place;
use crate::common::value::{at, list, number, row, text};
use serde_json::Value;

const QUICK: [&str; 8] =
    ["--trials", "3", "--budget", "4ms", "--warm-up", "2ms", "--no-save", "--no-progress"];

/// Returns the JSON of a quick run.
fn measured(place: &Place, words: &[&str]) -> Value {
    ran(place, words, 0)
}

/// Returns the JSON of a quick run in which nothing can be measured.
fn refused(place: &Place, words: &[&str]) -> Value {
    ran(place, words, 7)
}

fn ran(place: &Place, words: &[&str], code: i32) -> Value {
    let words = ["run"].iter().chain(words).chain(&QUICK).chain(&["--format", "json"]);
    place.run(words.copied()).expect_code(code).json()
}

#[test]
fn a_stream_has_figures_of_messages_and_a_throughput() {
    let json = measured(&Place::new(), &["pipe", "posix-mq", "-m", "one-way", "-s", "4KiB"]);
    assert!(list(&json, "skipped").is_empty(), "{json:#}");
    for mechanism in ["pipe/block", "posix-mq/block"] {
        let row = row(&json, "rows", mechanism);
        assert_eq!([text(row, "pattern"), text(row, "unit")], ["one-way", "message"]);
        assert_eq!(at(row, "verified"), true);
        let (rate, bytes) = (number(row, "messages_per_second"), number(row, "bytes_per_second"));
        assert!(rate > 0.0 && (bytes / rate / 4096.0 - 1.0).abs() < 1e-3, "{row:#}");
        // Linux splits the CPU time of a short trial by the ticks that fell into it, so one part may be 0.
        let cpu_ns = ["user", "system"].map(|part| number(row, &format!("cpu_ns_per_message.{part}")));
        assert!(number(row, "message_ns.p50") > 0.0 && cpu_ns.iter().sum::<f64>() > 0.0, "{row:#}");
        let object = row.as_object().expect("a row");
        assert!(!object.keys().any(|key| key.contains("round_trip")), "{row:#}");
    }
}

#[test]
fn groups_are_measured_together_and_compared_with_one_sender() {
    // Long enough for Little's law, although four senders take turns on a busy machine.
    let words = "run socketpair -m fan-in --senders 2 --receivers 2 --pairs 2 --trials 3 --budget 100ms --no-save --no-progress \
                 --format json";
    let json = Place::new().run(words.split_whitespace()).expect_code(0).json();
    assert!(list(&json, "skipped").is_empty(), "{json:#}");
    let [one, groups] = list(&json, "rows") else { panic!("{json:#}") };
    assert_eq!((number(one, "receivers"), one.get("parties")), (2.0, None));
    assert_eq!(["parties", "groups", "receivers"].map(|key| number(groups, key)), [4.0, 2.0, 2.0]);
    let share = |key: &str| number(groups, &format!("shares.{key}"));
    assert!(share("least") <= 0.25 && share("most") >= 0.25, "{groups:#}");
}

#[test]
fn a_row_says_how_many_messages_it_holds() {
    let json = measured(&Place::new(), &["posix-mq", "posix-shm", "sysv-mq", "-m", "one-way", "-s", "1KiB"]);
    let depth = |name: &str| list(row(&json, "rows", name), "depth")[0].as_u64();
    assert_eq!([depth("posix-shm/futex"), depth("sysv-mq/block")], [Some(1), Some(16)]);
    let in_force = number(row(&json, "rows", "posix-mq/block"), "effective.queue-depth");
    assert_eq!(depth("posix-mq/block"), Some(in_force as u64));
}

#[test]
fn a_request_has_an_answer_of_its_own_size() {
    let place = Place::new();
    let json = measured(&place, &["unix-stream", "-m", "request", "--request", "3", "--response", "64KiB"]);
    let own = row(&json, "rows", "unix-stream/block");
    assert_eq!((number(own, "request.size_bytes"), number(own, "size_bytes")), (3.0, 65_536.0));
    assert!(number(own, "round_trip_ns.p50") > 0.0 && number(own, "bytes_per_second") > 0.0, "{own:#}");
    let by_pipe =
        measured(&place, &["posix-shm", "pipe", "-m", "request", "--request-by", "pipe", "-s", "64KiB"]);
    let [shm, pipe] = ["posix-shm/futex", "pipe/block"].map(|name| row(&by_pipe, "rows", name));
    assert_eq!(text(shm, "request.by"), "pipe");
    assert_eq!(text(shm, "group"), text(pipe, "group"), "what asks the same way is ranked together");
}

#[test]
fn a_sweep_has_every_size_and_a_chart() {
    let place = Place::new();
    let words = ["pipe", "unix-stream", "-m", "one-way", "-s", "64..4KiB:x4"];
    let json = measured(&place, &words);
    let sizes = |name: &str| {
        let rows = list(&json, "rows").iter().filter(|row| text(row, "mechanism") == name);
        let mut sizes: Vec<u64> = rows.map(|row| number(row, "size_bytes") as u64).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes("pipe"), [64, 256, 1024, 4096]);
    assert_eq!(sizes("unix-stream"), sizes("pipe"));
    let mut command = place.furlong(["run"].iter().chain(&words).chain(&QUICK).copied());
    // A terminal of 80 columns has no room for the depth.
    let table = place.finish(command.env("COLUMNS", "120")).expect_code(0).stdout;
    assert!(table.contains("Throughput against size, two cores"), "{table}");
    let legends = ["a pipe/block, b unix-stream/block", "a unix-stream/block, b pipe/block"];
    assert!(legends.into_iter().any(|legend| table.contains(legend)), "{table}");
    assert!(table.contains("GB/s") && table.contains("CPU/message"), "{table}");
    assert!(
        table.contains("  depth  ") && table.contains("depth: minimum number of messages in flight"),
        "{table}"
    );
    assert!(!table.contains("\u{1b}["), "a table in a pipe is plain text: {table}");
}

#[test]
fn what_would_lose_messages_is_refused_one_way() {
    let json = measured(&Place::new(), &["udp", "eventfd", "null", "pipe", "-m", "one-way"]);
    for (name, why) in [("udp/block", "loses"), ("eventfd/block", "no data"), ("null/spin", "two processes")]
    {
        let skipped = row(&json, "skipped", name);
        assert_eq!(text(skipped, "status"), "refused");
        assert!(text(skipped, "reason").contains(why), "{skipped:#}");
    }
}

#[test]
fn buffers_are_as_large_as_asked_or_the_row_says_why_not() {
    let place = Place::new();
    let words = ["pipe", "unix-stream", "-m", "one-way", "--pipe-size", "128KiB", "--socket-buffer", "64KiB"];
    let json = measured(&place, &words);
    let pipe = row(&json, "rows", "pipe/block");
    assert_eq!(
        (number(pipe, "buffer_bytes"), number(pipe, "effective.pipe-size-bytes")),
        (131_072.0, 131_072.0)
    );
    let socket = row(&json, "rows", "unix-stream/block");
    // The kernel doubles the size for its bookkeeping.
    assert_eq!(number(socket, "effective.send-buffer-bytes"), 131_072.0);
    // This exceeds the capacity that any pipe may have.
    let json = refused(&place, &["pipe", "--pipe-size", "1GiB"]);
    let row = row(&json, "skipped", "pipe/block");
    assert_eq!(text(row, "status"), "unavailable");
    assert!(text(row, "reason").contains("fs.pipe-max-size"), "{row:#}");
}

#[test]
fn options_that_contradict_one_another_are_told() {
    let place = Place::new();
    for (words, told) in [
        (&["run", "pipe", "--request", "1"][..], "--request belongs to -m request"),
        (&["run", "pipe", "--response", "1"], "--response belongs to -m request"),
        (&["run", "pipe", "--senders", "2"], "--senders belongs to -m fan-in"),
        (&["run", "pipe", "-m", "fan-in", "--workers", "2"], "--workers belongs to -m work"),
        (&["run", "pipe", "-m", "work", "--pairs", "2"], "use --workers instead of --pairs"),
        (&["run", "pipe", "-m", "fan-in", "--rate", "1k/s"], "leave --rate out"),
        (&["run", "pipe", "-m", "work", "--receivers", "2"], "--receivers belongs to -m fan-out"),
        (&["run", "pipe", "-m", "fan-in", "--receivers", "2000"], "ask for up to 1024 receivers"),
        (
            &["run", "pipe", "-m", "fan-in", "--senders", "200", "--pairs", "10"],
            "ask for up to 1024 in all groups",
        ),
        (&["run", "pipe", "--request-by", "tcp"], "--request-by belongs to -m request"),
        (&["run", "pipe", "-m", "one-way", "--gap", "1ms"], "for round trips"),
        (&["run", "pipe", "-m", "fan-out", "--count"], "--count counts"),
        (&["run", "pipe", "-m", "both-ways"], "there are: round-trip, one-way, request"),
        (&["run", "pipe", "-m", "request", "--response", "4KiB", "-s", "4KiB"], "cannot be used with"),
        (&["run", "posix-mq", "--pipe-size", "64KiB"], "none of these benchmarks has such a buffer"),
        (&["run", "pipe", "--socket-buffer", "64KiB"], "none of these benchmarks has such a buffer"),
        (&["run", "pipe", "-s", "64..1"], "sweep of sizes"),
        (&["run", "pipe", "-s", "64..1KiB:x1"], "sweep of sizes"),
    ] {
        let finished = place.run(words.iter().copied()).expect_code(2);
        assert!(finished.stderr.contains(told), "{words:?}: {}", finished.stderr);
    }
    // A row that cannot do this reports it, and the other rows run.
    let json = refused(&place, &["pipe", "-m", "request", "--request-by", "nothing"]);
    assert!(text(row(&json, "skipped", "pipe/block"), "reason").contains("no mechanism is called nothing"));
}

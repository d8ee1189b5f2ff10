//! `--arrival`, `--sizes`, `--service-time` and `--find-rate`: traffic other than one message after the other.

use crate::common::Place;
use crate::common::value::{at, list, number};
use serde_json::{Value, json};

const SHORT: [&str; 6] = ["--trials", "3", "--no-progress", "--save", "traffic", "--format=json"];

/// Runs benchmarks with these options and returns the JSON.
fn measured(place: &Place, words: &str) -> Value {
    place.run(["run"].into_iter().chain(words.split(' ')).chain(SHORT)).expect_code(0).json()
}

#[test]
fn messages_of_several_sizes_have_their_own_percentiles() {
    let place = Place::new();
    let words = "pipe -m one-way --rate 2k/s --arrival poisson --sizes 64:70,4KiB:30 --service-time exp:10us --budget 100ms";
    let run = measured(&place, words);
    let [row] = list(&run, "rows") else { panic!("{run:#}") };
    assert_eq!(at(row, "arrival"), &json!({"poisson": 500_000}));
    assert_eq!(at(row, "conditions"), &json!({"sizes": "64B:70,4KiB:30", "service-time": "exp:10us"}));
    assert_eq!(number(row, "size_bytes"), 4096.0);
    let classes = list(row, "size_classes");
    let sizes: Vec<f64> = classes.iter().map(|class| number(class, "size_bytes")).collect();
    assert_eq!(sizes, [64.0, 4096.0]);
    let samples: f64 = classes.iter().map(|class| number(class, "ns.samples")).sum();
    assert_eq!(samples, number(row, "message_ns.samples"), "{row:#}");
    // The mean size is 1273.6 B.
    let mean = number(row, "bytes_per_second") / number(row, "messages_per_second");
    assert!((mean / 1273.6 - 1.0).abs() < 0.01, "{mean}");
    let table = place.run(["runs", "show", "traffic"]).expect_code(0).stdout;
    assert!(table.contains("64B to 4KiB messages one way"), "{table}");
    assert!(table.contains("Latency by size"), "{table}");
}

#[test]
fn requests_and_responses_have_sizes_that_do_not_depend_on_each_other() {
    let place = Place::new();
    let words =
        "pipe posix-mq -m request --sizes 64:70,4KiB:30 --request-sizes 32:50,2KiB:50 --window 1 --window 4";
    let run = measured(&place, words);
    assert_eq!(list(&run, "rows").len(), 4, "{run:#}");
    for row in list(&run, "rows") {
        assert_eq!((number(row, "request.size_bytes"), number(row, "size_bytes")), (2048.0, 4096.0));
        assert_eq!(at(row, "conditions")["request-sizes"], "32B:50,2KiB:50");
        assert_eq!(list(row, "size_classes").len(), 2, "{row:#}");
    }
    let table = place.run(["runs", "show", "traffic"]).expect_code(0).stdout;
    assert!(table.contains("64B to 4KiB answers to 32B to 2KiB requests"), "{table}");
    let refused = place.run(["run", "pipe", "--request-sizes", "32:1,64:1"]).expect_code(2);
    refused.expect_complaint("belongs to -m request");
}

#[test]
fn workers_are_servers_of_one_queue() {
    let place = Place::new();
    let words =
        "pipe -m work --workers 2 --rate 300/s --arrival burst:4 --service-time fixed:300us --budget 400ms";
    let run = measured(&place, words);
    for row in list(&run, "rows") {
        let workers = row.get("parties").and_then(Value::as_f64).unwrap_or(1.0);
        assert!(row.get("timer_late").is_some(), "{row:#}");
        // In each burst, the last of four messages waits for others, and no message takes less than its service.
        let [shortest, longest] = ["min", "max"].map(|figure| number(row, &format!("message_ns.{figure}")));
        assert!(shortest >= 300e3 && longest >= 4.0 / workers * 300e3, "{row:#}");
        assert!(
            number(row, "message_ns.p50") < 100e6 && number(row, "message_ns.samples") >= 270.0,
            "{row:#}"
        );
    }
    assert_eq!(list(&run, "rows").len(), 2, "{run:#}");
    let words = "run eventfd-semaphore -m work --rate 1k/s --no-progress";
    place.run(words.split(' ')).expect_code(2).expect_complaint("have no number");
}

#[test]
fn counts_of_a_rate_that_is_too_high_are_printed() {
    let words = "run pipe -m one-way --rate 10M/s --count --trials 2 --budget 20ms --no-progress --no-save";
    let place = Place::new();
    let printed = place.run(words.split(' ')).expect_code(7).stdout;
    assert!(printed.contains("is saturated") && printed.contains("  a message"), "{printed}");
    let json = place.run(words.split(' ').chain(["--format", "json"])).expect_code(7).json();
    assert!(number(&list(&json, "untimed_counts")[0], "system_calls_per_round_trip.write") > 0.9, "{json:#}");
}

#[test]
fn highest_rate_has_an_interval_and_is_shown_again() {
    let place = Place::new();
    let run = measured(&place, "pipe -m one-way --find-rate p50<20ms --within 3s");
    let [capacity] = list(&run, "capacities") else { panic!("{run:#}") };
    let [low, high] = [0, 1].map(|end| capacity["interval"][end].as_f64().unwrap());
    assert!(low < high && (low..=high).contains(&number(capacity, "per_second")), "{capacity:#}");
    assert!(!list(capacity, "points").is_empty(), "{capacity:#}");
    let table = place.run(["runs", "show", "traffic"]).expect_code(0).stdout;
    assert!(table.contains("Highest rate with p50 below 20.0 ms: 128B messages one way"), "{table}");
    let markdown = place.run(["report", "traffic", "--format", "markdown"]).expect_code(0).stdout;
    assert_eq!(markdown.matches("### Highest rate with p50").count(), 1, "{markdown}");
}

#[test]
fn objective_that_is_never_kept_has_no_rate() {
    let run = measured(&Place::new(), "pipe -m one-way --find-rate p50<1ns --within 2s");
    let [capacity] = list(&run, "capacities") else { panic!("{run:#}") };
    assert_eq!(at(capacity, "edge"), "lowest", "{capacity:#}");
}

#[test]
fn traffic_that_is_impossible_is_rejected_before_anything_is_measured() {
    let place = Place::new();
    for (words, why) in [
        ("pipe --arrival poisson", "--rate"),
        ("pipe --rate 1k/s --arrival random", "choose fixed, poisson, burst:N"),
        ("pipe --rate 1k/s --arrival burst:4096", "repeats every 4.10 s"),
        ("pipe --rate 1k/s --arrival on-off:1ns,1s", "10M/s"),
        ("pipe --sizes 64:1 --size 64", "cannot be used with"),
        ("pipe -m request --sizes 64:1 --response 64", "cannot be used with"),
        ("pipe -m request --request 1 --request-sizes 64:1", "cannot be used with"),
        ("pipe -m request --request-by tcp --request-sizes 64:1", "cannot be used with"),
        ("pipe --sizes 64", "write up to 32 different sizes from 1B to 1GiB with weights from 1 to 1000000"),
        ("pipe --sizes lognormal:1KiB,9", "a sigma up to 3"),
        ("pipe --service-time 5us", "fixed:5us"),
        ("pipe --find-rate p99", "not a service level objective"),
        ("pipe --find-rate p99<1ms --rate 1k/s", "cannot be used with"),
        ("splice --find-rate p99<1ms --window 4", "splice/block cannot"),
        ("pipe -m fan-in --find-rate p99<1ms", "--find-rate needs round trips"),
        ("pipe --find-rate p99<1ms --pairs 2", "--find-rate needs round trips"),
        ("pipe --find-rate p99<1ms -s 64 -s 128", "one size, place and pattern"),
    ] {
        let refused = place.run(["run"].into_iter().chain(words.split(' '))).expect_code(2);
        assert!(refused.stderr.contains(why) && refused.stdout.is_empty(), "{words}: {}", refused.stderr);
    }
    let words = "run pipe --sizes 64:1,128:1 --place one-process --no-progress";
    place.run(words.split(' ')).expect_code(2).expect_complaint("--sizes needs two processes");
    let words = "tune pipe --find-rate p99<1ms";
    assert!(place.run(words.split(' ')).expect_code(2).stderr.contains("tune supports no --find-rate"));
}

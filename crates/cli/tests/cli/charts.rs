//! `run` and `replay` print charts below their tables only if the charts add information.

use crate::common::Place;

const TAIL: &str = "Share of round trips that take at least this long: 4KiB messages on one core";
const PUBLISHED: &str = "Throughput against the size of a message, as published";
const MEASURED: &str = "Throughput against the size of a message, as measured now";

/// Returns the output of `run` with enough samples for a tail. On one core, no host delays a wake-up.
fn ran(words: &[&str]) -> String {
    let usual = "-s 4KiB --trials 1 --budget 100ms --place same-core --no-save --no-progress".split(' ');
    Place::new().run(["run"].into_iter().chain(words.iter().copied()).chain(usual)).expect_code(0).stdout
}

#[test]
fn two_rows_have_a_chart_of_their_tails() {
    let table = ran(&["pipe", "unix-stream"]);
    let (before, chart) = table.split_once(TAIL).unwrap_or_else(|| panic!("no chart in {table}"));
    assert!(before.contains("vs first") && before.contains("CPU/trip"), "the table comes first: {table}");
    let (drawn, _) = chart.split_once("\na ").unwrap_or_else(|| panic!("no legend in {table}"));
    for label in ["all ┤", "p90 ┤", "p99 ┤", "└", "┬", " us"] {
        assert!(drawn.contains(label), "{label} in {table}");
    }
    assert!(
        chart.contains("a pipe/block, b unix-stream/block")
            || chart.contains("a unix-stream/block, b pipe/block")
    );
    assert!(!table.contains('\u{1b}') && table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn who_wants_none_has_none_and_who_wants_one_of_a_row_has_it() {
    assert!(!ran(&["pipe", "unix-stream", "--chart", "never"]).contains(TAIL));
    assert!(!ran(&["pipe"]).contains(TAIL));
    let wanted = ran(&["pipe", "--chart", "always"]);
    let (before, after) = wanted.split_once("\nRanking: 4KiB messages on one core").expect("a ranking");
    assert!(
        before.contains("vs first") && after.contains("pipe/block │") && after.contains(TAIL),
        "{wanted}"
    );
    let text = ran(&["pipe", "unix-stream", "--format", "markdown"]);
    assert!(!text.contains("at least this long") && !text.contains('┤'), "{text}");
}

#[test]
fn a_ranking_of_all_mechanisms_has_none() {
    let place = Place::new();
    let table =
        place.run("run --trials 1 --budget 5ms --no-save --no-progress".split(' ')).expect_code(0).stdout;
    assert!(table.contains("vs first") && !table.contains('┤'), "{table}");
}

/// A sweep of which a part was published.
const SWEEP: &str = r#"name = "blocks"
title = "Which block size?"
[measure]
kind = "request"
sizes = ["4KiB", "16KiB", "64KiB"]
total = "1MiB"
per_trial = "8MiB"
trials = 1
request = "1"
request_by = "pipe"
order_by = "total_ms"

[[row]]
name = "a pipe"
row = "pipe/block"
published = [{ size = "4KiB", total_ms = 20 }, { size = "16KiB", total_ms = 8 }, { size = "64KiB", total_ms = 10 }]

[[row]]
name = "memory"
row = "posix-shm/futex"
"#;

#[test]
fn charts_without_a_table_are_refused() {
    let place = Place::new();
    for words in [
        "run pipe --chart always --format json",
        "run pipe --chart always --self-check",
        "replay racehorse --chart always --format csv",
        "replay racehorse --chart always --style racehorse",
    ] {
        let finished = place.run(words.split(' ')).expect_code(2);
        assert!(
            finished.stderr.contains("charts are a part of --format table"),
            "{words}: {}",
            finished.stderr
        );
    }
    let finished = place.run("run pipe --chart often".split(' ')).expect_code(2);
    assert!(finished.stderr.contains("auto, always, never"), "{}", finished.stderr);
    place.run("replay --list --chart always".split(' ')).expect_code(2);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn a_replay_draws_its_sweep() {
        let place = Place::new();
        std::fs::write(place.path("blocks.toml"), SWEEP).expect("a file");
        let replayed = |words: &[&str]| {
            let words = ["replay", "./blocks.toml", "--no-save", "--no-progress"].iter().chain(words);
            place.run(words.copied()).expect_code(0).stdout
        };
        let text = replayed(&[]);
        let (before, charts) = text.split_once(PUBLISHED).unwrap_or_else(|| panic!("no chart in {text}"));
        let (published, measured) =
            charts.split_once(MEASURED).unwrap_or_else(|| panic!("no chart in {text}"));
        assert!(before.contains("of 256 requests of 4KiB"), "the tables come first: {text}");
        assert!(published.contains("100 MB/s ┤") && published.contains("\na a pipe\n"), "{text}");
        assert!(
            measured.contains("16KiB") && measured.contains("\na pipe/block, b posix-shm/futex\n"),
            "{text}"
        );
        for words in
            [["--chart", "never"], ["--format", "markdown"], ["--format", "csv"], ["--style", "racehorse"]]
        {
            let text = replayed(&words);
            assert!(!text.contains(PUBLISHED) && !text.contains('┤'), "{words:?}: {text}");
        }
    }
}

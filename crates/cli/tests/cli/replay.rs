//! `furlong replay` with small experiments of a user: measured rows, missing rows, and their output.

use crate::common::experiment::{ROUND_TRIPS, row};
use crate::common::value::{at, list, number, text};
use crate::common::{Place, Snapshot};
use furlong_analysis::{ClaimStatus, DecodedRun, Replay, ReplayStatus, Run};
use furlong_model::{Amount, Figure, Placement, Work};
use furlong_render::{claim_reason, replay_verdict};

/// A request for blocks of two sizes; each trial transfers half of the total of 1 MiB.
const REQUESTS: &str = r#"name = "blocks"
title = "Which block size?"
[measure]
kind = "request"
sizes = ["4KiB", "64KiB"]
total = "1MiB"
per_trial = "512KiB"
trials = 3
ask = "1"
request_by = "pipe"
order_by = "total_ms"

[[row]]
name = "pipe"
row = "pipe/block"
published = [{ size = "4KiB", total_ms = 20 }, { size = "64KiB", total_ms = 10 }]

[[row]]
name = "memory"
row = "posix-shm/futex"

[[claim]]
text = "64 KiB is the best block size for a pipe."
best_size = "64KiB"
row = "pipe"
"#;

/// Fails unless two figures differ by less than 5 %.
#[track_caller]
fn expect_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.05, "{found} is not {expected}");
}

/// Returns a measured figure of a row.
#[track_caller]
fn now(replay: &Replay, name: &str, figure: Figure) -> f64 {
    let row = row(replay, name);
    row.measured.get(&figure).unwrap_or_else(|| panic!("no {figure} of {row:#?}")).value
}

#[test]
fn json_has_the_documented_fields() {
    let json = Place::new().replay(ROUND_TRIPS, &["--no-save"]).expect_code(0).json();
    assert_eq!([text(&json, "experiment"), text(&json, "author")], ["mine", "the tests"]);
    assert!(!list(&json, "verdict").is_empty() && list(&json, "faults").len() == 1, "{json:#}");
    let rows = list(&json, "rows");
    let names: Vec<_> = rows.iter().map(|row| text(row, "mechanism")).collect();
    assert_eq!(names, ["the pipe", "the queue", "the driver"]);
    for row in &rows[..2] {
        assert_eq!((text(row, "status"), at(row, "verified")), ("measured", &true.into()), "{row:#}");
        assert!(at(row, "reason").is_null(), "{row:#}");
        for figure in ["mean_us", "messages_per_second"] {
            assert!(number(row, &format!("published.{figure}")) > 0.0, "{row:#}");
            let value = number(row, &format!("measured.{figure}.value"));
            let interval = list(row, &format!("measured.{figure}.ci95"));
            let [low, high] = [0, 1].map(|index| interval[index].as_f64().expect("an end"));
            assert!(0.0 < low && low <= value && value <= high, "{row:#}");
        }
    }
    let driver = &rows[2];
    assert_eq!(
        [text(driver, "status"), text(driver, "reason")],
        ["unavailable", "its module is not loaded here"]
    );
    assert_eq!(number(driver, "published.mean_us"), 15.0);
    assert!(at(driver, "measured").as_object().is_some_and(serde_json::Map::is_empty), "{driver:#}");
}

#[test]
fn figures_agree_and_claims_are_tested() {
    let replay = Place::new().replay(ROUND_TRIPS, &["--no-save"]).expect_code(0).replay();
    for name in ["the pipe", "the queue"] {
        let [mean_us, rate] =
            [Figure::MeanUs, Figure::MessagesPerSecond].map(|figure| now(&replay, name, figure));
        expect_close(rate, 1e6 / mean_us);
        let row = row(&replay, name);
        let durations = row.durations.expect("durations");
        assert_eq!((row.trials, durations.exchanges), (3, 3 * 300), "{row:#?}");
        expect_close(durations.mean_ns, durations.total_ns as f64 / 900.0);
        assert!(durations.min_ns <= durations.mean_ns && durations.mean_ns <= durations.max_ns, "{row:#?}");
    }
    let claims: Vec<_> = replay.claims.iter().map(|claim| claim.status).collect();
    assert_eq!(claims, [ClaimStatus::Falls, ClaimStatus::NotTested], "{:#?}", replay.claims);
    assert!(claim_reason(&replay.claims[1]).contains("the driver"), "{:#?}", replay.claims);
    let verdict = replay_verdict(&replay);
    for claim in &replay.claims {
        assert!(verdict.iter().any(|said| said.contains(&claim.text)), "{verdict:#?}");
    }
}

#[test]
fn trials_and_place_are_as_asked() {
    let place = Place::new();
    let finished = place.replay(ROUND_TRIPS, &["--trials", "2", "--place", "same-core"]).expect_code(0);
    let replay = finished.replay();
    assert_eq!((replay.measure.trials, replay.measure.place), (2, Placement::SameCore));
    assert_eq!(row(&replay, "the pipe").trials, 2);
    // Two trials have no confidence interval, so no claim can be tested.
    let pipe = row(&replay, "the pipe");
    assert!(pipe.measured.values().all(|measured| measured.ci95.is_none()), "{pipe:#?}");
    let [saved] = place.all_saved().try_into().expect("one run");
    let saved = Run::read(saved).unwrap();
    assert!(saved.trials.iter().all(|trial| trial.case.placement == Placement::SameCore), "{saved:#?}");
}

#[test]
fn what_is_missing_is_enough_for_those_who_require_all() {
    let place = Place::new();
    place.replay(ROUND_TRIPS, &["--no-save", "--require"]).expect_code(7);
    let (without_driver, rest) =
        ROUND_TRIPS.split_once("[[row]]\nname = \"the driver\"").expect("the driver");
    let (_, claims) = rest.split_once("[[fault]]").expect("a fault");
    let whole = format!("{}[[fault]]{claims}", without_driver);
    place.replay(&whole, &["--no-save", "--require"]).expect_code(0);
}

#[test]
fn every_format_has_every_row() {
    let place = Place::new();
    place.write_experiment(ROUND_TRIPS);
    let of = |words: &[&str]| {
        let finished = place.run(["replay", "./mine.toml", "--no-save"].iter().chain(words).copied());
        finished.expect_no_panic().stdout
    };
    let csv = of(&["--format", "csv"]);
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().starts_with("experiment,mechanism,row,size_bytes,"), "{csv}");
    for (name, target) in [("the pipe", "pipe/block"), ("the queue", "posix-mq/block")] {
        for figure in ["mean_us", "messages_per_second"] {
            let line = |line: &&str| {
                line.starts_with(&format!("mine,{name},{target},128,128,"))
                    && line.contains(&format!(",{figure},"))
            };
            assert_eq!(csv.lines().filter(line).count(), 1, "{name} {figure} in {csv}");
        }
    }
    let absent = "mine,the driver,telegraph/select-first,128,128,unavailable,0,false,mean_us,15,";
    assert!(csv.lines().any(|line| line.starts_with(absent)), "{csv}");
    for words in [&["--format", "markdown"][..], &["--format", "table"], &[]] {
        let text = of(words);
        for expected in
            ["the pipe", "the queue", "the driver", "an old machine", "Nobody looked at what arrived"]
        {
            assert!(text.contains(expected), "no {expected} in {text}");
        }
        assert!(text.contains("its module is not loaded here") && !text.contains('\x1b'), "{text}");
    }
}

#[test]
fn an_atlas_continues_where_it_ended() {
    let place = Place::new();
    place.write_experiment(ROUND_TRIPS);
    let atlas = |within: &str| {
        let words = ["replay", "--atlas", "--within", within, "./mine.toml", "--format", "json"];
        place.run(words).expect_code(0).json()
    };
    let first = atlas("1ms");
    assert_eq!((number(&first, "measured"), number(&first, "missing") > 1.0), (0.0, true), "{first}");
    let second = atlas("1min");
    assert_eq!((number(&second, "measured"), number(&second, "missing")), (number(&first, "missing"), 0.0));
    let saved = place.all_saved().len();
    let third = atlas("1min");
    assert_eq!(
        (&third["claims"], place.all_saved().len()),
        (&second["claims"], saved),
        "nothing is measured again"
    );
    let table = place.run(["replay", "--atlas", "./mine.toml"]).expect_code(0).stdout;
    assert!(table.starts_with("Atlas of published comparisons") && table.contains("other-place"), "{table}");
    place
        .run(["replay", "--all", "--atlas", "--format", "csv"])
        .expect_code(2)
        .expect_complaint("no CSV format");
    let page = |file| ["replay", "--atlas", "./mine.toml", "-o", file];
    place.run(page("atlas.html")).expect_code(0);
    let text = std::fs::read_to_string(place.path("atlas.html")).expect("the page");
    assert!(text.contains("<section id=\"claims\"") && text.contains("other-place"), "{text}");
    place.run(page("atlas.svg")).expect_code(2).expect_complaint("ends in .html");
}

#[test]
fn the_style_of_the_racehorse_has_a_block_for_each_row() {
    let place = Place::new();
    place.write_experiment(ROUND_TRIPS);
    let words = ["replay", "./mine.toml", "--no-save", "--style", "racehorse"];
    let text = place.run(words).expect_no_panic().stdout;
    let blocks: Vec<_> = text.split("\n\n").filter(|block| block.contains(" results ")).collect();
    assert_eq!(blocks.len(), 2, "{text}");
    for (block, name) in blocks.iter().zip(["the pipe (pipe/block)", "the queue (posix-mq/block)"]) {
        assert!(block.trim_start().starts_with(name), "{block}");
        let figures = [
            ("Message size:", "128 bytes"),
            ("Message count:", "900"),
            ("Total duration:", "s"),
            ("Average duration:", "s"),
            ("Minimum duration:", "s"),
            ("Maximum duration:", "s"),
            ("Standard deviation:", "s"),
            ("Message rate:", " msg/s"),
        ];
        for (what, end) in figures {
            let found = block.lines().find_map(|line| line.strip_prefix(what));
            assert!(found.is_some_and(|value| value.trim().ends_with(end.trim())), "{what} in {block}");
        }
    }
    assert!(text.contains("the driver, 128 bytes, unavailable: its module is not loaded here"), "{text}");
}

#[test]
fn a_request_has_a_best_size_and_a_time_for_its_total() {
    let place = Place::new();
    for (options, per_trial) in [(&[][..], 512 << 10), (&["--total", "256KiB"], 256 << 10)] {
        let options = [options, &["--no-save"]].concat();
        let replay = place.replay(REQUESTS, &options).expect_code(0).replay();
        let Work::Exchange(exchange) = &replay.measure.work else { panic!("{:#?}", replay.measure) };
        assert_eq!(exchange.per_trial, Amount::Bytes(per_trial));
        assert_eq!(exchange.count, Amount::Bytes(1 << 20), "figures are of the published total all the same");
        assert_eq!(replay.rows.len(), 4);
        for row in &replay.rows {
            assert_eq!((row.status, row.verified), (ReplayStatus::Measured, true), "{row:#?}");
            let exchanges = 3 * per_trial / row.size_bytes as u64;
            assert_eq!(row.durations.map(|durations| durations.exchanges), Some(exchanges), "{row:#?}");
            let total_ns = row.measured[&Figure::TotalMs].value * 1e6;
            expect_close(row.measured[&Figure::GigabytesPerSecond].value, f64::from(1 << 20) / total_ns);
        }
        let [pipe, memory] = replay.best_sizes.as_slice() else { panic!("{:#?}", replay.best_sizes) };
        assert_eq!((pipe.then.as_slice(), memory.then.as_slice()), (&[65_536][..], &[][..]));
        for best in [pipe, memory] {
            let now = best.now.as_ref().expect("a best size now");
            let fastest = replay.rows.iter().filter(|row| row.mechanism == best.mechanism);
            let fastest =
                fastest.map(|row| row.measured[&Figure::TotalMs].value).fold(f64::INFINITY, f64::min);
            assert_eq!(now.figure.value, fastest, "{best:#?}");
        }
        assert!(replay.claims[0].status != ClaimStatus::NotTested, "{:#?}", replay.claims);
    }
}

#[test]
fn the_first_start_of_a_process_and_the_later_ones_are_timed() {
    let starts: String = ["fork", "fork-exec", "posix-spawn"]
        .map(|method| format!("[[start]]\nname = \"by {method}\"\nmethod = \"{method}\"\nfirst_ms = 17\n"))
        .concat();
    let absent = "[[start]]\nname = \"by hand\"\nmissing = \"nobody is there\"\nlater_ms = 2\n";
    let replay = Place::alone().replay(&format!("{ROUND_TRIPS}{starts}{absent}"), &["--no-save"]);
    let replay = replay.expect_code(0).replay();
    let [measured @ .., by_hand] = replay.starts.as_slice() else { panic!("no starts") };
    assert_eq!(measured.len(), 3);
    for start in measured {
        let [first, later] = [start.first_ms, start.later_ms].map(|time| time.expect("a time").value);
        // Each start takes more than no time and less than a minute.
        assert!(first > 0.0 && later > 0.0 && first.max(later) < 60_000.0, "{start:#?}");
        assert!(
            start.later_ms.is_some_and(|time| time.ci95.is_some()) && start.reason.is_none(),
            "{start:#?}"
        );
        assert_eq!(start.first_ms_then, Some(17.0));
    }
    let without_exec = measured[0].later_ms.expect("a time").value;
    let with_exec = measured[1].later_ms.expect("a time").value;
    assert!(without_exec < with_exec, "a program that is loaded takes longer: {measured:#?}");
    assert_eq!((by_hand.first_ms, by_hand.reason.as_deref()), (None, Some("nobody is there")));
}

#[test]
fn a_replay_is_saved_and_reads_back_to_the_same() {
    let (before, place) = (Snapshot::take(), Place::new());
    let finished = place.replay(ROUND_TRIPS, &[]).expect_code(0).expect_complaint("saved: ");
    let saved = place.all_saved().into_iter().max().expect("a saved run");
    assert!(finished.stderr.contains(saved.to_str().unwrap()), "{finished:#?} {saved:?}");
    let lines = std::fs::read_to_string(&saved).unwrap();
    assert!(lines.lines().any(|line| line.starts_with("{\"record\":\"experiment\"")), "{lines}");
    let read = furlong_analysis::replay(&DecodedRun::of(&Run::read(&saved).unwrap())).expect("an experiment");
    assert_eq!(read, finished.replay());
    assert!(!replay_verdict(&read).is_empty());
    before.expect_nothing_left(&place);
    // A replay that is not to be saved creates no file.
    let other = Place::new();
    other.replay(ROUND_TRIPS, &["--no-save"]).expect_code(0);
    assert!(other.all_saved().is_empty() && !other.path("data/furlong").exists());
}

#[test]
fn each_of_several_is_told_and_saved() {
    let place = Place::new();
    place.write_experiment(ROUND_TRIPS);
    // All four have the same seed, and usually the same second.
    let files = ["./mine.toml"; 4];
    let options = ["--seed", "7", "--trials", "1", "--format", "csv"];
    let words = ["replay"].iter().chain(&files).chain(&options).copied();
    let finished = place.run(words).expect_no_panic();
    // All replays are in one sheet.
    assert_eq!(finished.stdout.matches("experiment,mechanism,").count(), 1, "{finished:#?}");
    assert_eq!(
        finished.stdout.matches("mine,the pipe,pipe/block,128,128,measured,1,true,mean_us,").count(),
        files.len()
    );
    assert_eq!(finished.stderr.matches("saved: ").count(), files.len(), "{finished:#?}");
    let read = |path| {
        furlong_analysis::replay(&DecodedRun::of(&Run::read(path).unwrap()))
            .expect("an experiment")
            .experiment
    };
    let saved: Vec<_> = place.all_saved().into_iter().map(read).collect();
    assert_eq!(saved, ["mine"; 4]);
}

/// Claims of meaning about two mechanisms, in a replay with too few trials for claims of speed.
#[cfg(target_os = "linux")]
const MEANINGS: &str = r#"name = "meanings"
title = "Does a pipe merge messages?"
[measure]
kind = "round-trip"
sizes = ["128"]
count = 100
trials = 1
order_by = "mean_us"

[[row]]
name = "the pipe"
row = "pipe/block"

[[row]]
name = "datagrams"
row = "unix-dgram/block"

[[row]]
name = "the queue"
row = "sysv-mq/block"

[[claim]]
text = "A pipe merges messages."
meaning = "keeps-boundaries"
of = "the pipe"
holds = false

[[claim]]
text = "A pipe reports death."
meaning = "reports-death"
of = "the pipe"

[[claim]]
text = "Datagrams outlive both processes."
meaning = "persists"
of = "datagrams"

[[claim]]
text = "Queued messages outlive both processes."
meaning = "persists"
of = "the queue"

[[claim]]
text = "Queued messages survive a reboot."
meaning = "survives-reboot"
of = "the queue"
"#;

#[cfg(target_os = "linux")]
#[test]
fn claims_of_meaning_are_probed_and_leave_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    let replay = place.replay(MEANINGS, &["--no-save"]).expect_code(0).replay();
    before.expect_nothing_left(&place);
    let statuses: Vec<_> = replay.claims.iter().map(|claim| claim.status).collect();
    let [holds, falls, untested] = [ClaimStatus::Holds, ClaimStatus::Falls, ClaimStatus::NotTested];
    assert_eq!(statuses, [holds, holds, falls, holds, untested], "{:#?}", replay.claims);
    let said = replay_verdict(&replay).join("\n");
    for words in [
        "\"A pipe merges messages.\" holds (2 messages of 5 bytes arrived as 1 message of 10 bytes).",
        "\"Datagrams outlive both processes.\" is no longer true (a third process found no message",
        "\"Queued messages survive a reboot.\" was not tested: a run cannot reboot the machine.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

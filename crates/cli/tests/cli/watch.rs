//! `run --watch`: trials until Ctrl-C, drawn over time.

use crate::common::{Place, Snapshot, Terminal, look_for};
use furlong_analysis::Run;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

const TITLE: &str = "Each trial over the time of the run";

#[test]
fn ctrl_c_is_the_end_that_was_asked_for() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments = ["run", "pipe", "--watch", "--budget", "2ms", "--save", "run"];
    let running = place.start(&mut place.furlong(arguments));
    look_for(A_WHILE, || (place.records("run", "trial") >= 12).then_some(()))
        .expect("more trials than usual");
    running.signal(libc::SIGINT);
    let finished = running.finish_within(A_WHILE).expect_code(0);
    before.expect_nothing_left(&place);
    for words in ["pipe/block", TITLE, "a median, b 99th percentile"] {
        assert!(finished.stdout.contains(words), "{words} in {finished:#?}");
    }
    assert!(!finished.stdout.contains("partial") && !finished.stderr.contains("partial"), "{finished:#?}");
    let saved = Run::read(place.saved("run")).unwrap();
    assert!(!saved.is_partial());
    let began: Vec<u64> = saved.trials.iter().filter_map(|trial| trial.at_ns).collect();
    assert_eq!(began.len(), saved.trials.len());
    assert!(began.is_sorted_by(|one, next| one < next), "{began:?}");
}

#[test]
fn a_terminal_shows_it_as_it_grows() {
    let (before, place) = (Snapshot::take(), Place::new());
    let line = r#"exec "$FURLONG" run pipe --watch --budget 2ms --no-save"#;
    let mut terminal = Terminal::start(&place, line);
    terminal.at("99th percentile", "");
    terminal.at("Ctrl-C ends the run.", Terminal::INTERRUPT);
    let finished = terminal.finish().expect_code(0);
    before.expect_nothing_left(&place);
    let (_, result) = finished.stdout.rsplit_once("vs first").expect("a table at the end");
    assert!(result.contains(TITLE), "{finished:#?}");
}

#[test]
fn several_rows_take_turns_until_the_time_is_over() {
    let place = Place::new();
    // A busy machine needs longer for the trials of a chart.
    let drawn = ["1s", "4s", "16s"].into_iter().find_map(|time| {
        let arguments =
            ["run", "pipe/block", "fifo/block", "--watch", "--within", time, "--budget", "2ms", "--no-save"];
        let text = place.run(arguments).expect_code(0).stdout;
        text.split_once(TITLE).map(|(_, drawn)| drawn.to_owned())
    });
    let drawn = drawn.expect("a chart");
    assert!(drawn.contains("the median of each"), "{drawn}");
    for row in ["pipe/block 128B", "fifo/block 128B"] {
        assert!(drawn.contains(row), "{row} in {drawn}");
    }
}

#[test]
fn what_cannot_be_watched_is_refused() {
    for (more, words) in [
        (["--format", "json"], "--watch requires --format table"),
        (["--trials", "3"], "cannot be used with"),
        (["--across", "3"], "cannot be used with"),
    ] {
        let arguments = ["run", "pipe", "--watch"].into_iter().chain(more);
        let finished = Place::new().run(arguments).expect_code(2);
        assert!(finished.stderr.contains(words), "{finished:#?}");
    }
}

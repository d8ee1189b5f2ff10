//! `furlong recommend` on a terminal: it asks, repeats the question after an invalid answer, and restores the
//! terminal at any end.

use crate::common::{FinishedCommand, Place, Snapshot, Terminal, look_for};
use std::fs;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// Fails unless the cursor is shown at the end.
#[track_caller]
fn expect_cursor(finished: &FinishedCommand) {
    let (hidden, shown) = (finished.stdout.rfind(HIDE_CURSOR), finished.stdout.rfind(SHOW_CURSOR));
    assert!(shown.is_some() && shown > hidden, "{finished:#?}");
}

#[test]
fn answers_make_a_workload_and_wrong_ones_are_asked_again() {
    let place = Place::new();
    let line = r#"exec "$FURLONG" recommend --emit c --row unix-stream/block > pair.c"#;
    let mut terminal = Terminal::start(&place, line);
    terminal.at("Which pattern do messages follow?", &format!("{DOWN}{DOWN}{ENTER}"));
    terminal.at("How large is a message?", &format!("large{ENTER}"));
    terminal.at("'large' is not a valid size: write whole bytes", "");
    terminal.at("How large is a message?", &format!("0{ENTER}"));
    terminal.at("the size must be at least 1 byte", "");
    terminal.at("How large is a message?", &format!("4KiB{ENTER}"));
    terminal.at("Messages per second", &format!("often{ENTER}"));
    terminal.at("write a number per second, from 1/s to 10M/s", "");
    terminal.at("Messages per second", &format!("500/s{ENTER}"));
    terminal.at("What should be optimized?", ENTER);
    terminal.at("Limit of a latency percentile", &format!("p98<1ms{ENTER}"));
    terminal.at("not a service level objective", "");
    terminal.at("Limit of a latency percentile", &format!("p99<10s{ENTER}"));
    terminal.at("Which boundary separates the processes?", &format!("{DOWN}{DOWN}{ENTER}"));
    terminal.at("Languages of the programs", &format!("klingon{ENTER}"));
    terminal.at("no language is called 'klingon'", "");
    terminal.at("Languages of the programs", &format!("rust,c{ENTER}"));
    terminal.at("Do the processes trust each other?", &format!("{DOWN}{ENTER}"));
    terminal.at("May a waiting process keep a CPU busy?", ENTER);
    let same = "furlong recommend --size 4096 --rate 500/s --pattern request";
    terminal.at(&format!("Equivalent command: {same}"), "");
    let finished = terminal.finish().expect_code(0);
    expect_cursor(&finished);
    let (_, rest) = finished.stdout.split_once(same).expect("the options of these answers");
    let rest = rest.lines().next().unwrap_or_default();
    for option in
        ["--objective latency", "--slo 'p99<10.0s'", "--boundary user", "--languages rust,c", "--trust none"]
    {
        assert!(rest.contains(option), "no {option} in {rest}");
    }
    assert!(fs::read_to_string(place.path("pair.c")).expect("a program").contains("4096"));
}

#[test]
fn an_interrupt_at_any_kind_of_question_ends_it_and_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    for question in ["Which pattern do messages follow?", "How large is a message?"] {
        let mut terminal = Terminal::start(&place, r#"exec "$FURLONG" recommend"#);
        if question != "Which pattern do messages follow?" {
            terminal.at("Which pattern do messages follow?", ENTER);
        }
        terminal.at(question, Terminal::INTERRUPT);
        let finished = terminal.finish().expect_code(130);
        assert!(finished.stdout.contains("furlong: interrupted, so nothing was measured"), "{finished:#?}");
        expect_cursor(&finished);
    }
    assert!(place.all_saved().is_empty(), "{:?}", place.all_saved());
    before.expect_nothing_left(&place);
}

#[test]
fn who_ends_it_from_outside_finds_the_terminal_in_order() {
    let place = Place::new();
    let line = r#"echo $$ > pid; exec "$FURLONG" recommend"#;
    let mut terminal = Terminal::start(&place, line);
    terminal.at("a small request and a response", "");
    let pid = fs::read_to_string(place.path("pid")).expect("a number");
    furlong_os::process::send_signal(pid.trim().parse().expect("a number"), libc::SIGTERM).expect("it lives");
    let finished = terminal.finish().expect_code(143);
    expect_cursor(&finished);
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let (before, place) = (Snapshot::take(), Place::new());
    // The shell outlives the terminal and records the exit status of furlong.
    let line = r#"trap '' HUP; "$FURLONG" recommend; echo $? > code.new; mv code.new code"#;
    let mut terminal = Terminal::start(&place, line);
    terminal.at("Which pattern do messages follow?", ENTER);
    terminal.at("How large is a message?", "12");
    terminal.running.signal(libc::SIGKILL);
    let code = look_for(A_WHILE, || fs::read_to_string(place.path("code")).ok()).expect("an end");
    // furlong may notice either event first: SIGHUP or the end of its input.
    assert!(["129", "1"].contains(&code.trim()), "{code}");
    assert!(place.all_saved().is_empty());
    drop(terminal);
    before.expect_nothing_left(&place);
}

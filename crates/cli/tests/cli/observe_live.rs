//! `furlong observe --live`, in a pseudo-terminal.

use crate::common::value::{at, number, text};
use crate::common::{Place, Snapshot, is_root};
use furlong_testing::skip;
use serde_json::Value;
use std::fs;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(20);

const DRIVER: &str = include_str!("observe_live.py");

/// Writes lines into a pipe until the file `stop` exists. The name of the reader would clear the screen.
const TRAFFIC: &str =
    "while [ ! -e stop ]; do echo line; sleep 0.01; done | ./$(printf '\\033[2Jevil') >/dev/null";

/// Watches traffic until this end, and returns the report of the driver.
fn watch(place: &Place, end: &str) -> Value {
    fs::copy("/bin/cat", place.path("\u{1b}[2Jevil")).expect("a program");
    let _ = fs::remove_file(place.path("stop"));
    let traffic = place.start(&mut place.shell(TRAFFIC));
    let pid = traffic.pid().to_string();
    let words = ["-c", DRIVER, end, env!("CARGO_BIN_EXE_furlong"), "observe", "--live", &pid];
    let found = place.finish(place.program("python3").args(words));
    fs::write(place.path("stop"), "").expect("a file");
    traffic.finish_within(A_WHILE).expect_code(0);
    found.expect_code(0).json()
}

fn can_run() -> bool {
    is_root() && std::process::Command::new("python3").arg("--version").output().is_ok()
}

#[test]
fn live_view_fits_the_terminal_and_obeys_keys() {
    if !can_run() {
        skip!("needs root and python3");
    }
    let place = Place::new();
    let found = watch(&place, "keys");
    assert_eq!(at(&found, "code"), 0, "{found:#}");
    assert!(number(&found, "most_lines") <= 24.0 && number(&found, "most_columns") <= 80.0, "{found:#}");
    // No character of a name commands the terminal.
    assert_eq!(at(&found, "controls"), &Value::Array(Vec::new()), "{found:#}");
    let last = text(&found, "last");
    assert!(last.contains("anonymous pipe") && last.contains("[2Jevil["), "{last}");
    assert!(last.contains("keys: [c] CPU"), "{last}");
}

#[test]
fn terminal_is_restored_however_the_live_view_ends() {
    if !can_run() {
        skip!("needs root and python3");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    for (end, code) in
        [("keys", 0), ("control-c", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGQUIT", -3), ("SIGKILL", -9)]
    {
        let found = watch(&place, end);
        assert_eq!(at(&found, "code"), code, "{end}: {found:#}");
        for restored in ["is_restored", "is_first_screen"] {
            assert_eq!(at(&found, restored), true, "{end}: {found:#}");
        }
    }
    assert_eq!(at(&watch(&place, "close"), "code"), 129);
    before.expect_nothing_left(&place);
}

#[test]
fn live_view_needs_a_terminal() {
    let place = Place::new();
    place.run(["observe", "--all", "--live"]).expect_code(2).expect_complaint("--live needs a terminal");
    place.run(["observe", "1", "--live", "--format", "json"]).expect_code(2);
    place.run(["observe", "1", "--live", "--save-trace", "x.jsonl"]).expect_code(2);
}

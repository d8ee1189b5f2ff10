//! Advice of `furlong observe`: from saved costs of this machine only.

use crate::common::value::{at, list, number, text};
use crate::common::{Place, is_root};
use furlong_testing::skip;
use serde_json::Value;
use std::fs;

/// Returns a command with a pipe whose messages take some percent of a CPU.
fn stream(place: &Place) -> String {
    let program = place.furlong([]).get_program().to_string_lossy().into_owned();
    format!(
        "'{program}' run pipe -m one-way --rate 20k/s -s 4KiB --budget 1s --trials 1 --no-save --no-progress"
    )
}

fn advice(place: &Place) -> (Value, Value) {
    let words = ["observe", "--format", "json", "--command", &stream(place)];
    let found = place.run(words).expect_code(0).json();
    (at(&found, "advice").clone(), found)
}

#[test]
fn advice_needs_costs_of_this_machine() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let (unknown, _) = advice(&place);
    assert!(text(&unknown, "missing").contains("'furlong costs --save costs'"), "{unknown:#}");
    place.run(["costs", "--save", "costs", "--trials", "3", "--no-progress"]).expect_code(0);
    let (advice_now, found) = advice(&place);
    let [link] = list(&advice_now, "links") else { panic!("{found:#}") };
    let observed = &list(&found, "links")[number(link, "link") as usize];
    assert_eq!(text(observed, "means"), "pipe", "{found:#}");
    let share = number(link, "cpu_share");
    let parts: f64 = ["wake_ups", "calls", "copies"].map(|part| number(link, part)).iter().sum();
    assert!(
        0.0 < parts && parts <= share * 1.001 && share <= number(observed, "calls_cpu_share"),
        "{link:#}"
    );
    for gain in ["batching", "ring"] {
        let [low, high] = [0, 1].map(|end| list(link, &format!("{gain}.interval"))[end].as_f64().unwrap());
        let gained = number(link, &format!("{gain}.share"));
        assert!(0.0 <= low && low <= gained && gained <= high && high <= share, "{link:#}");
    }
    let table = place.run(["observe", "--command", &stream(&place)]).expect_code(0).stdout;
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a ring in shared memory"), "{table}");
    // Costs of another kernel are not used.
    let file = place.saved("costs");
    let saved = fs::read_to_string(&file).unwrap();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    fs::write(&file, saved.replace(kernel.trim(), "1.0.0")).unwrap();
    let (other, _) = advice(&place);
    assert!(text(&other, "missing").contains("another machine or kernel"), "{other:#}");
    fs::write(&file, "{}").unwrap();
    let (damaged, _) = advice(&place);
    assert!(text(&damaged, "missing").contains("run costs: line"), "{damaged:#}");
}

//! Tests of the text about a fleet.

use super::*;
use crate::object::assert_has_all;
use crate::{Style, fleet_markdown, fleet_table};
use furlong_analysis::{FleetRun, UnusedReason, UnusedRun, compare_fleet};
use furlong_fixture::fleet::{MadeHost, made};

fn fleet() -> FleetComparison {
    let runs: Vec<FleetRun> = made(0, 120, 6).iter().map(MadeHost::run).collect();
    let unused = |run: &str, reason| UnusedRun { run: run.to_owned(), reason };
    let error = "line 3 (byte 90): this is \u{1b}[2Jno record".to_owned();
    let unused = vec![
        unused("bad\u{202e}.jsonl", UnusedReason::Unreadable { error }),
        unused("empty.jsonl", UnusedReason::NoRows),
    ];
    compare_fleet(runs, unused, FleetBy::Host, 0.05)
}

#[test]
fn a_fleet_for_a_terminal() {
    insta::assert_snapshot!(fleet_table(&fleet(), Style { width: 120, ..Style::default() }));
}

#[test]
fn what_is_read_says_no_more_than_its_words() {
    let found = fleet();
    let style = Style { width: 60, ..Style::default() };
    for text in [fleet_table(&found, style), fleet_markdown(&found), fleet_csv(&found)] {
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text}");
    }
}

#[test]
fn json_has_all_figures_and_the_reasons() {
    let found = fleet();
    let json = fleet_json(&found);
    assert_has_all(&json, &found);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["unused"][1]["reason"], "it has neither benchmarks nor costs");
    let reasons = json["outliers"].as_array().unwrap().iter().map(|host| &host["reasons"]);
    assert!(
        reasons.clone().count() == found.outliers.len() && reasons.clone().all(serde_json::Value::is_array)
    );
}

#[test]
fn a_sheet_has_a_line_for_each_row_and_each_that_stands_out() {
    let found = fleet();
    let lines = fleet_csv(&found);
    let of = |kind: &str| lines.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!((of("fleet,"), of("outlier,")), (6, found.outliers.iter().map(|host| host.apart.len()).sum()));
    assert!(of("outlier,") > 5, "{lines}");
}

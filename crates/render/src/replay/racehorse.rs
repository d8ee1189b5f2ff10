//! A replay in the manner of ipc-bench: a block of results for each row.

use super::figures::{now, thousands};
use furlong_analysis::text::plain;
use furlong_analysis::{Durations, Replay, ReplayRow};
use furlong_model::format_ns;
use std::collections::BTreeSet;

/// Columns of a block.
const WIDTH: usize = 40;

/// Returns a block for each measured benchmark and size, then a line for each that was not measured.
pub fn replay_racehorse(replay: &Replay) -> String {
    let mut printed = BTreeSet::new();
    let mut text = String::new();
    for row in &replay.rows {
        // A notification has one size, whatever was asked.
        let is_new = printed.insert((&row.mechanism, row.carried_bytes));
        match &row.durations {
            Some(durations) if is_new => text += &block(row, durations),
            None if is_new => text += &absent(row),
            _ => {}
        }
    }
    if text.is_empty() { "Nothing was measured.\n".to_owned() } else { text }
}

fn block(row: &ReplayRow, durations: &Durations) -> String {
    let name = row.row.as_deref().map_or_else(String::new, |row| format!(" ({})", plain(row)));
    let rate = durations.exchanges as f64 * 1e9 / durations.total_ns as f64;
    let mut text = format!("{}{name}\n{:=^WIDTH$}\n", plain(&row.mechanism), " results ");
    for (what, value) in [
        ("Message size:", format!("{} bytes", row.carried_bytes)),
        ("Message count:", thousands(durations.exchanges as f64)),
        ("Total duration:", format_ns(durations.total_ns as f64)),
        ("Average duration:", format_ns(durations.mean_ns)),
        ("Minimum duration:", format_ns(durations.min_ns)),
        ("Maximum duration:", format_ns(durations.max_ns)),
        ("Standard deviation:", format_ns(durations.stddev_ns)),
        ("Message rate:", format!("{} msg/s", now(rate))),
    ] {
        text += &format!("{what:<20}{value:>20}\n");
    }
    if durations.exchanges_per_sample > 1 {
        text += &format!("(timed {} at a time)\n", durations.exchanges_per_sample);
    }
    text + &format!("{:=<WIDTH$}\n\n", "")
}

fn absent(row: &ReplayRow) -> String {
    let reason = row.reason.as_deref().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
    format!("{}, {} bytes, {}{reason}\n\n", plain(&row.mechanism), row.carried_bytes, row.status.name())
}

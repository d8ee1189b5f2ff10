//! Laws of exported runs, whose figures are exact.

use crate::{Contradiction, breaks};
use serde_json::Value;

/// Tolerance for clocks that differ, and for a trial that has one exchange more or less at either end.
const OTHER_CLOCK: f64 = 1.06;
/// Tolerance for figures that are rounded to seven digits.
const ROUNDING: f64 = 1e-6;

/// Returns the contradictions of exported runs.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn check_export(text: &str) -> Result<Vec<Contradiction>, serde_json::Error> {
    let runs: Value = serde_json::from_str(text)?;
    let mut found = Vec::new();
    for run in list(&runs) {
        let rows: Vec<_> = list(&run["rows"]).filter(|row| row["status"] == "measured").collect();
        for row in &rows {
            let mut breaks = breaks(&mut found, || in_short(row));
            percentiles(row, &mut breaks);
            processors(row, run, &mut breaks);
            places(row, &rows, &mut breaks);
        }
    }
    Ok(found)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the figures of a row in one line.
fn in_short(row: &Value) -> String {
    let keys = ["mechanism", "wait", "group", "rank", "tied_with", "vs_first", "processors"];
    let texts = keys.map(|key| format!("{key} {}", row[key]));
    let figures = row
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| key.contains("_ns") || key.contains("per_second"));
    format!(
        "{}, {}",
        texts.join(", "),
        figures.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    )
}

/// Returns the figures of an exchange, which may be a round trip, a message or a link.
fn exchange<'a>(row: &'a Value, pattern: &str) -> &'a Value {
    let of = |unit: &&str| row.get(pattern.replace('*', unit));
    ["round_trip", "message", "link"].iter().find_map(of).unwrap_or(&Value::Null)
}

fn percentiles(row: &Value, breaks: &mut impl FnMut(bool, &'static str)) {
    let ns = exchange(row, "*_ns");
    let figure = |key: &str| ns[key].as_f64();
    let rising = |keys: &[&str]| {
        let figures: Vec<_> = keys.iter().filter_map(|key| figure(key)).collect();
        figures.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + ROUNDING))
    };
    breaks(!rising(&["min", "p50", "p90", "p99", "p999", "max"]), "percentiles rise");
    breaks(!rising(&["min", "mean", "max"]), "a mean is between the ends");
    let ends: Vec<_> = list(&ns["median_ci95"]).filter_map(Value::as_f64).collect();
    if let (&[low, high], Some(p50)) = (&ends[..], figure("p50")) {
        breaks(
            !(low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&p50),
            "an interval holds its figure",
        );
        let (min, max) = (figure("min").unwrap_or(0.0), figure("max").unwrap_or(f64::MAX));
        breaks(
            low < min * (1.0 - ROUNDING) || high > max * (1.0 + ROUNDING),
            "an interval is within the samples",
        );
    }
    // This law needs successive exchanges: with a window, some messages are in flight before and after the measured
    // part.
    let is_plain = row["pattern"] == "round-trip"
        && ["arrival", "window"].iter().all(|key| row.get(key).is_none())
        && row["programs"].is_null();
    let in_flight = row["parties"].as_f64().unwrap_or(1.0);
    if let (true, Some(mean), Some(rate)) =
        (is_plain, figure("mean"), exchange(row, "*s_per_second").as_f64())
    {
        let seen = mean * rate / 1e9;
        breaks(
            !(in_flight / OTHER_CLOCK..=in_flight * OTHER_CLOCK).contains(&seen),
            "mean times rate is the number in flight",
        );
    }
}

/// Checks that a row keeps no more CPUs busy than it ran on, or than the machine has if the row was not pinned.
fn processors(row: &Value, run: &Value, breaks: &mut impl FnMut(bool, &'static str)) {
    let cpu = exchange(row, "cpu_ns_per_*");
    let cpu = cpu["user"].as_f64().zip(cpu["system"].as_f64()).map(|(user, system)| user + system);
    let mut ran_on: Vec<_> = list(&row["processors"]).filter_map(Value::as_u64).collect();
    ran_on.sort_unstable();
    ran_on.dedup();
    let is_free = row["placement"] == "free" || !row["programs"].is_null() || !row["adapter"].is_null();
    let all = list(&run["machine"]["processors"]).count();
    let there = if is_free || ran_on.is_empty() { all } else { ran_on.len() };
    if let Some((cpu, rate)) = cpu.zip(exchange(row, "*s_per_second").as_f64()) {
        breaks(cpu * rate / 1e9 > there as f64 * OTHER_CLOCK, "busy CPUs are at most all CPUs");
    }
}

/// Checks that rows with the same place tie with each other, and that the order follows the median, or the rate of a stream.
fn places(row: &Value, rows: &[&Value], breaks: &mut impl FnMut(bool, &'static str)) {
    let name = |row: &Value| {
        format!("{}/{}", row["mechanism"].as_str().unwrap_or(""), row["wait"].as_str().unwrap_or(""))
    };
    let group = rows.iter().filter(|other| other["group"] == row["group"]);
    let is_stream = row["pattern"] == "one-way" && row.get("arrival").is_none();
    let time = |row: &Value| match is_stream {
        true => exchange(row, "*s_per_second").as_f64().map(|rate| 1e9 / rate),
        false => exchange(row, "*_ns")["p50"].as_f64(),
    };
    for other in
        group.filter(|other| !std::ptr::eq(**other, row) && row["rank"].is_u64() && other["rank"].is_u64())
    {
        let ties = list(&row["tied_with"])
            .any(|tied| tied.as_str().is_some_and(|tied| tied.starts_with(&name(other))));
        breaks(other["rank"] == row["rank"] && !ties, "rows of a place tie with each other");
        let is_before = row["rank"].as_u64() < other["rank"].as_u64();
        breaks(is_before && time(row) > time(other), "order follows the figure");
    }
    let interval: Vec<_> = list(&row["vs_first"]["interval"]).filter_map(Value::as_f64).collect();
    if let (&[low, high], Some(times)) = (&interval[..], row["vs_first"]["times"].as_f64()) {
        breaks(
            !(low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&times),
            "the interval of a ratio holds the ratio",
        );
    }
}

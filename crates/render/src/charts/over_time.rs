//! The trials of rows over the time of the run.

use furlong_analysis::text::plain;
use furlong_analysis::{OverTime, TrialTimes};
use furlong_chart::{Axis, Chart, Kind, Look, MOST_BRIGHT, Measure, Point, Series, Side};

/// Returns a chart of the medians of benchmarks. A single benchmark also gets its 99th percentiles. Returns `None` if
/// fewer than two trials can be drawn.
pub fn chart(rows: &[OverTime]) -> Option<Chart> {
    let rows: Vec<&OverTime> = rows.iter().filter(|row| row.trials.len() > 1).take(MOST_BRIGHT).collect();
    let series = match rows[..] {
        [] => return None,
        [row] => vec![
            curve("median", row, |trial| Some(trial.p50_ns)),
            curve("99th percentile", row, |trial| trial.p99_ns),
        ],
        _ => {
            let median =
                |row: &&OverTime| curve(&plain(&row.case.to_string()), row, |trial| Some(trial.p50_ns));
            rows.iter().map(median).collect()
        }
    };
    let what = match rows[..] {
        [row] => plain(&row.case.to_string()),
        _ => "the median of each".to_owned(),
    };
    Chart {
        id: "over-time".to_owned(),
        title: format!("Each trial over the time of the run, {what}"),
        says: String::new(),
        notes: Vec::new(),
        x: Axis::linear("seconds since the run began", Measure::Number),
        y: Axis::log("", Measure::Time),
        kind: Kind::Lines { marks: false, value: Side::Y, columns: Vec::new() },
        series,
        guides: Vec::new(),
    }
    .drawable()
}

/// Returns a curve with its name at its end.
fn curve(name: &str, row: &OverTime, ns: impl Fn(&TrialTimes) -> Option<f64>) -> Series {
    let last = row.trials.len() - 1;
    let point = |(at, trial): (usize, &TrialTimes)| {
        let label = if at == last { name } else { "" };
        Some(Point::new(label, trial.at_ns as f64 / 1e9, ns(trial)?))
    };
    let points = row.trials.iter().enumerate().filter_map(point).collect();
    Series { name: name.to_owned(), look: Look::Filled(None), points }
}

//! Throughput against the size of a message.

use super::sweep::{Curve, Sweep, sweeps};
use super::throughput_interval;
use crate::words::WHISKERS;
use furlong_analysis::text::listed;
use furlong_analysis::{Row, Summary};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side};
use furlong_model::format_bytes;

/// Rows that tie and are named one by one.
const NAMED: usize = 3;

/// Returns one chart for each group of streams or requests that was measured with several sizes.
pub fn charts(summary: &Summary) -> Vec<Chart> {
    let sweeps = sweeps(summary, |pattern| pattern.facts().has_throughput);
    sweeps.iter().filter_map(chart).collect()
}

/// Returns the chart of one sweep.
pub(crate) fn chart(sweep: &Sweep) -> Option<Chart> {
    let series = sweep.curves.iter().enumerate().map(|(number, curve)| Series {
        name: curve.name.clone(),
        look: Series::look(number, curve.rows[0].family),
        points: curve.rows.iter().filter_map(|row| point(row)).collect(),
    });
    let what = if sweep.pattern.has_requests() { "Throughput of answers" } else { "Throughput" };
    let chart = Chart {
        id: format!("throughput-by-size-{}-{}", sweep.pattern, sweep.properties),
        title: format!("{what} against size, {}", sweep.properties),
        says: String::new(),
        notes: vec![format!("{WHISKERS} GB is 10^9 bytes.")],
        x: Axis::log(format!("size of {}", sweep.pattern.facts().sized), Measure::Bytes),
        y: Axis::log("bytes per second", Measure::Throughput),
        kind: Kind::Lines { marks: true, value: Side::Y, columns: sweep.columns() },
        series: series.collect(),
        guides: Vec::new(),
    }
    .drawable()?;
    Some(Chart { says: says(&chart, &sweep.curves), ..chart })
}

/// Returns the rate of a benchmark, with the interval over its trials.
fn point(row: &Row) -> Option<Point> {
    let size = row.case.size_bytes;
    let rate = row.exchange.bytes_per_second?;
    Some(Point { y_ends: throughput_interval(row), ..Point::new(format_bytes(size), size as f64, rate) })
}

/// Names the benchmark with the highest throughput, and those that are tied with it.
fn says(chart: &Chart, curves: &[Curve]) -> String {
    let best_of = |series: &Series| series.points.iter().max_by(|a, b| a.y.total_cmp(&b.y)).cloned();
    let bests: Vec<(&str, Point)> =
        chart.series.iter().filter_map(|series| Some((series.name.as_str(), best_of(series)?))).collect();
    let Some((name, best)) = bests.iter().max_by(|a, b| a.1.y.total_cmp(&b.1.y)) else {
        return String::new();
    };
    let most = format!("{name} has the highest throughput, {} with {}", chart.y.text(best.y), best.label);
    let overlaps = |point: &Point| match (point.y_ends, best.y_ends) {
        (Some(one), Some(other)) => one[1] >= other[0],
        _ => false,
    };
    let ties: Vec<String> = bests
        .iter()
        .filter(|(other, point)| other != name && overlaps(point))
        .map(|(other, _)| (*other).to_owned())
        .collect();
    match (curves.len(), best.y_ends, ties.len()) {
        (1, ..) | (_, Some(_), 0) => format!("{most}."),
        (_, None, _) => {
            format!("{most}, but fewer than three trials cannot show whether others tie.")
        }
        _ => format!("{most}; the intervals of {} overlap with its interval.", listed(&ties, NAMED)),
    }
}

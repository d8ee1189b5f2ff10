//! Latency against the size of a message.

use super::sweep::{Sweep, sweeps};
use crate::words::{WHISKERS, first_of};
use furlong_analysis::{Row, Summary};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side};
use furlong_model::format_bytes;

/// Returns one chart for each group of benchmarks that was measured with several sizes.
pub fn charts(summary: &Summary) -> Vec<Chart> {
    let sweeps = sweeps(summary, |pattern| pattern.is_of_pairs() && !pattern.is_one_way());
    sweeps.iter().filter_map(|sweep| chart(summary, sweep)).collect()
}

/// Returns the chart of one sweep.
pub(crate) fn chart(summary: &Summary, sweep: &Sweep) -> Option<Chart> {
    let point = |row: &&Row| Point {
        y_ends: row.exchange.ns.median_ci95,
        ..Point::new(format_bytes(row.case.size_bytes), row.case.size_bytes as f64, row.exchange.ns.p50)
    };
    let series = sweep.curves.iter().enumerate().map(|(number, curve)| Series {
        name: curve.name.clone(),
        look: Series::look(number, curve.rows[0].family),
        points: curve.rows.iter().map(point).collect(),
    });
    Chart {
        id: format!("latency-by-size-{}-{}", sweep.pattern, sweep.properties),
        title: format!("Latency against size, {}", sweep.properties),
        says: says(summary, sweep),
        notes: vec![WHISKERS.to_owned()],
        x: Axis::log(format!("size of {}", sweep.pattern.facts().sized), Measure::Bytes),
        y: Axis::log("median round trip", Measure::Time),
        kind: Kind::Lines { marks: true, value: Side::Y, columns: sweep.columns() },
        series: series.collect(),
        guides: Vec::new(),
    }
    .drawable()
}

/// Returns a sentence that names the fastest benchmark at the smallest and at the largest size.
fn says(summary: &Summary, sweep: &Sweep) -> String {
    let at = |group: &furlong_analysis::Group| {
        Some(format!("at {} {}", format_bytes(group.size_bytes?), first_of(summary, group)?))
    };
    let [small, large] = sweep.ends.map(|group| group.and_then(at));
    match (small, large) {
        (Some(small), Some(large)) => format!("A{}; {large}.", &small[1..]),
        (Some(one), None) | (None, Some(one)) => format!("A{}.", &one[1..]),
        (None, None) => growth(sweep),
    }
}

/// Reports how the time of a single benchmark grows with the size.
fn growth(sweep: &Sweep) -> String {
    let ends = sweep.curves.first().and_then(|curve| Some((curve, curve.rows.first()?, curve.rows.last()?)));
    ends.map_or_else(String::new, |(curve, first, last)| {
        let [small, large] = [first, last].map(|row| format_bytes(row.case.size_bytes));
        let times = last.exchange.ns.p50 / first.exchange.ns.p50;
        let times = furlong_analysis::text::three_digits(times);
        format!("{} takes {times} times as long with {large} as with {small}.", curve.name)
    })
}

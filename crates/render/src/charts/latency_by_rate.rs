//! Latency against the rate at which messages are sent.

use super::sweep::SweepKey;
use crate::words::WHISKERS;
use furlong_analysis::text::{listed, plain};
use furlong_analysis::{AtRate, Level, RatePoint, RateSweep, Summary, Unit};
use furlong_chart::{Axis, Chart, Guide, Kind, Measure, Point, Series, Side};
use furlong_model::{format_bytes, format_rate};
use furlong_stats::{distinct, sort_by};

/// Rows that are named one by one.
const NAMED: usize = 4;
/// Rows whose knees are marked: more marks hide the curves.
const MARKED: usize = 2;

/// Returns one chart for each group of benchmarks that was measured at `fewest` or more rates.
pub fn charts(summary: &Summary, fewest: usize) -> Vec<Chart> {
    let sweeps = || summary.rate_sweeps.iter().filter(|sweep| sweep.points.len() >= fewest);
    let keys = distinct(sweeps().map(|sweep| SweepKey::but_for_rate(&sweep.case)));
    let of = |key: &SweepKey| {
        sweeps().filter(|sweep| SweepKey::but_for_rate(&sweep.case) == *key).collect::<Vec<_>>()
    };
    keys.iter().filter_map(|key| chart(summary, key, &of(key))).collect()
}

fn chart(summary: &Summary, key: &SweepKey, sweeps: &[&RateSweep]) -> Option<Chart> {
    let case = &sweeps.first()?.case;
    let series = sweeps.iter().enumerate().map(|(number, sweep)| {
        let name = plain(&sweep.case.row());
        let look = Series::look(number, summary.family_of(&sweep.case.mechanism));
        Series { name, look, points: sweep.points.iter().filter_map(point).collect() }
    });
    let mut rates: Vec<f64> =
        sweeps.iter().flat_map(|sweep| &sweep.points).map(|point| point.asked_per_second).collect();
    sort_by(&mut rates, f64::total_cmp);
    rates.dedup();
    let properties = format!("{} {}, {}", format_bytes(case.size_bytes), case.pattern(), key.words());
    let knee = |sweep: &&RateSweep| {
        let at = sweep.knee_per_second.filter(|_| sweep.beyond().is_some())?;
        Some(Guide::Upright(at, format!("{} keeps its latency up to here", plain(&sweep.case.row()))))
    };
    let chart = Chart {
        id: format!("latency-by-rate-{properties}"),
        title: format!("Latency against rate, {properties}"),
        says: sentence(sweeps),
        notes: vec![format!("{WHISKERS} A benchmark has no point at a rate that it cannot carry.")],
        x: Axis::log("messages sent per second", Measure::Number),
        y: Axis::log(format!("median {}", Unit::of(case.pattern()).word()), Measure::Time),
        kind: Kind::Lines {
            marks: true,
            value: Side::Y,
            columns: rates.into_iter().map(format_rate).collect(),
        },
        series: series.collect(),
        guides: sweeps.iter().take(MARKED).filter_map(knee).collect(),
    };
    chart.drawable()
}

fn point(point: &RatePoint) -> Option<Point> {
    let AtRate::Carried { p50_ns, median_ci95 } = point.result else { return None };
    let asked = point.asked_per_second;
    Some(Point { y_ends: median_ci95, ..Point::new(format_rate(asked), asked, p50_ns) })
}

/// Returns one sentence per group: up to which rate each benchmark keeps its latency, and what limits it beyond that
/// rate. Returns none if the machine was unreliable.
pub(crate) fn sentences(summary: &Summary) -> Vec<String> {
    if summary.run.noise.level == Level::Unreliable {
        return Vec::new();
    }
    let keys = distinct(summary.rate_sweeps.iter().map(|sweep| SweepKey::but_for_rate(&sweep.case)));
    let of = |key: &SweepKey| -> Vec<&RateSweep> {
        let alike = |sweep: &&RateSweep| SweepKey::but_for_rate(&sweep.case) == *key;
        summary.rate_sweeps.iter().filter(alike).collect()
    };
    keys.iter().map(|key| sentence(&of(key))).collect()
}

fn sentence(sweeps: &[&RateSweep]) -> String {
    let mut sorted = sweeps.to_vec();
    let knee = |sweep: &RateSweep| sweep.knee_per_second.unwrap_or_default();
    sort_by(&mut sorted, |a, b| knee(b).total_cmp(&knee(a)));
    let named: Vec<_> = sorted.iter().map(|sweep| said(sweep)).collect();
    format!("The median stays below twice its minimum up to these rates: {}.", listed(&named, NAMED))
}

fn said(sweep: &RateSweep) -> String {
    let name = plain(&sweep.case.row());
    let beyond = sweep.beyond().map(|point| match point.result {
        AtRate::Saturated { .. } => format!("saturated at {}", format_rate(point.asked_per_second)),
        AtRate::Disturbed { .. } => {
            format!("unknown at {}, because CPU time was lost", format_rate(point.asked_per_second))
        }
        AtRate::Carried { p50_ns, .. } => {
            format!(
                "{:.1} times as long at {}",
                sweep.times_shortest(p50_ns),
                format_rate(point.asked_per_second)
            )
        }
    });
    match (sweep.knee_per_second, beyond) {
        (Some(knee), Some(beyond)) => format!("{name} {} ({beyond})", format_rate(knee)),
        (Some(knee), None) => format!("{name} {} (the highest requested)", format_rate(knee)),
        (None, beyond) => format!("{name} no rate ({})", beyond.unwrap_or_default()),
    }
}

//! A published comparison, then and now.

use furlong_analysis::{Replay, ReplayRow, Summary};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series, Side};
use furlong_model::{Family, Figure, format_bytes, mechanism_of};
use furlong_render::plain;
use std::collections::BTreeSet;

/// Maximum number of sizes that have separate charts.
const FEW_SIZES: usize = 3;
/// Maximum number of curve pairs, because readers cannot distinguish more.
const MOST_PAIRS: usize = 6;

/// Returns one chart per size, or one chart over all sizes if there are many.
pub fn charts(summary: &Summary, replay: &Replay) -> Vec<Chart> {
    let sizes: BTreeSet<usize> = replay.rows.iter().map(|row| row.size_bytes).collect();
    if sizes.len() > FEW_SIZES {
        return over_sizes(summary, replay).into_iter().collect();
    }
    sizes.into_iter().filter_map(|size| draw_size(summary, replay, size)).collect()
}

/// Returns the figure that the experiment is ordered by, and its axis.
fn axis(replay: &Replay) -> (Figure, Axis) {
    let figure = replay.measure.order_by;
    let faster = if figure.is_rate() { "more is faster" } else { "less is faster" };
    (figure, Axis::log(format!("{}, {faster}", figure.label()), Measure::Number))
}

/// Returns the family of a benchmark (`mechanism/wait`) that replaces a published one.
fn family(summary: &Summary, row: Option<&str>) -> Option<Family> {
    let row = row?;
    summary.family_of(mechanism_of(row))
}

fn draw_size(summary: &Summary, replay: &Replay, size: usize) -> Option<Chart> {
    let (figure, x) = axis(replay);
    let rows: Vec<&ReplayRow> = replay.rows_of(size).collect();
    let numbered = || (0..).map(f64::from).zip(&rows);
    let family = |row: &ReplayRow| family(summary, row.row.as_deref());
    let then = numbered().filter_map(|(at, row)| {
        Some(Point {
            look: Some(Look::Hollow(family(row))),
            ..Point::new("then", *row.published.get(&figure)?, at)
        })
    });
    let now = numbered().filter_map(|(at, row)| {
        let measured = row.measured.get(&figure)?;
        let look = Some(Look::Filled(family(row)));
        Some(Point { x_ends: measured.ci95, look, ..Point::new("now", measured.value, at) })
    });
    Chart {
        id: format!("then-and-now-{}-{size}", replay.experiment),
        title: format!("Then and now: {}, {}", plain(&replay.experiment), format_bytes(size)),
        says: String::new(),
        notes: notes(replay),
        x,
        y: Axis::named(rows.iter().map(|row| plain(&row.mechanism)).collect()),
        kind: Kind::Intervals,
        series: vec![
            Series {
                name: "then, as published".to_owned(),
                look: Look::Hollow(None),
                points: then.collect(),
            },
            Series {
                name: "now, on this machine".to_owned(),
                look: Look::Filled(None),
                points: now.collect(),
            },
        ],
        guides: Vec::new(),
    }
    .drawable()
}

fn over_sizes(summary: &Summary, replay: &Replay) -> Option<Chart> {
    let (figure, y) = axis(replay);
    let mut names: Vec<&str> = Vec::new();
    for row in &replay.rows {
        if !names.contains(&row.mechanism.as_str()) {
            names.push(&row.mechanism);
        }
    }
    let series = names.iter().enumerate().flat_map(|(number, name)| {
        let rows: Vec<&ReplayRow> = replay.rows.iter().filter(|row| row.mechanism == *name).collect();
        let family = family(summary, rows.iter().find_map(|row| row.row.as_deref()));
        let size = |row: &ReplayRow| (format_bytes(row.size_bytes), row.size_bytes as f64);
        let then = rows.iter().filter_map(|row| {
            let (label, size) = size(row);
            Some(Point::new(label, size, *row.published.get(&figure)?))
        });
        let now = rows.iter().filter_map(|row| {
            let (label, size) = size(row);
            let measured = row.measured.get(&figure)?;
            Some(Point { y_ends: measured.ci95, ..Point::new(label, size, measured.value) })
        });
        let (past, present) = match number < MOST_PAIRS {
            true => (Look::Hollow(family), Look::Filled(family)),
            false => (Look::Muted, Look::Muted),
        };
        [
            Series { name: format!("{}, now", plain(name)), look: present, points: now.collect() },
            Series { name: format!("{}, then", plain(name)), look: past, points: then.collect() },
        ]
    });
    let sizes: BTreeSet<usize> = replay.rows.iter().map(|row| row.size_bytes).collect();
    Chart {
        id: format!("then-and-now-{}", replay.experiment),
        title: format!("Then and now: {}", plain(&replay.experiment)),
        says: String::new(),
        notes: notes(replay),
        x: Axis::log("block size", Measure::Bytes),
        y,
        kind: Kind::Lines {
            marks: true,
            value: Side::Y,
            columns: sizes.into_iter().map(format_bytes).collect(),
        },
        series: series.collect(),
        guides: Vec::new(),
    }
    .drawable()
}

fn notes(replay: &Replay) -> Vec<String> {
    let then = replay
        .machine_then
        .as_ref()
        .map(|machine| format!("Then: {}.", plain(machine).trim_end_matches('.')));
    let machines =
        "The two machines are years apart: compare the order of benchmarks, not the times of one benchmark."
            .to_owned();
    [Some(machines), then].into_iter().flatten().collect()
}

//! The ranking itself: a line for each row with its median, the interval of that, and its p99.

use super::charted_groups;
use crate::words::{first_of, name, timed};
use furlong_analysis::{Group, Row, Summary};
use furlong_chart::{Axis, Chart, Kind, Look, Looks, Measure, Point, Series};

/// A chart for each group of rows that are ranked, but of a sweep over sizes three, and how many are left out.
pub fn charts(summary: &Summary, looks: &Looks) -> (Vec<Chart>, usize) {
    let (groups, left_out) = charted_groups(summary);
    (groups.into_iter().filter_map(|group| chart(summary, group, looks)).collect(), left_out)
}

fn chart(summary: &Summary, group: &Group, looks: &Looks) -> Option<Chart> {
    let rows: Vec<&Row> = summary.rows_of(group).collect();
    let series = |name: &str, hollow: bool, point: fn(&Row, f64) -> Point| {
        let point =
            |(at, row): (f64, &&Row)| Point { look: Some(looks.of(&row.case.row())), ..point(row, at) };
        let points = (0..).map(f64::from).zip(&rows).map(point).collect();
        Series { name: name.to_owned(), look: Look::Sample { hollow }, points }
    };
    let median = |row: &Row, at: f64| Point {
        x_ends: row.exchange.ns.median_ci95,
        ..Point::new("median", row.exchange.ns.p50, at)
    };
    let of = timed(rows.first()?.exchange.unit);
    Chart {
        id: format!("ranking-{}", group.name),
        title: format!("Ranking: {}", group.title),
        says: first_of(summary, group).map(|first| first + ".").unwrap_or_default(),
        notes: vec![
            "The filled mark is the median, with a line for its 95 % interval; the hollow mark is p99. Rows are in the \
             order of the table, which says which of them cannot be told apart. A mechanism has the same colour in all charts."
                .to_owned(),
        ],
        x: Axis::log(of, Measure::Time),
        y: Axis::named(rows.iter().map(|row| name(row)).collect()),
        kind: Kind::Intervals,
        series: vec![
            series("median", false, median),
            series("p99", true, |row, at| Point::new("p99", row.exchange.ns.p99, at)),
        ],
        guides: Vec::new(),
    }
    .drawable()
}

//! Chart of the ranking: a line for each benchmark with its median, its interval and its p99. One-way patterns show
//! the throughput per second instead.

use super::{charted_groups, throughput_interval};
use crate::words::{WHISKERS, deciding_name, first_of, name, timed};
use furlong_analysis::{Group, PayloadKind, Row, Summary, describe_placement};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series};
use furlong_model::{Family, format_bytes};
use std::collections::BTreeSet;

/// Returns one chart for each ranked group, and the number of charts left out. A sweep over sizes gets three charts.
pub fn charts(summary: &Summary) -> (Vec<Chart>, usize) {
    let (groups, left_out) = charted_groups(summary);
    (groups.into_iter().filter_map(|group| chart(summary, group)).collect(), left_out)
}

fn chart(summary: &Summary, group: &Group) -> Option<Chart> {
    let rows: Vec<&Row> = summary.rows_of(group).collect();
    let shown = ShownAxis::of(group, &rows)?;
    Chart {
        id: format!("ranking-{}", group.name),
        title: format!("Ranking: {}", group.title),
        says: first_of(summary, group).map(|first| first + ".").unwrap_or_default(),
        notes: vec![WHISKERS.to_owned()],
        x: shown.x,
        y: Axis::named(rows.iter().map(|row| name(row)).collect()),
        kind: Kind::Intervals,
        series: shown.series,
        guides: Vec::new(),
    }
    .drawable()
}

/// Returns a chart of the fastest benchmark of each family in each ranking of the first size and pattern, or `None` if
/// that is a single ranking.
pub fn overview(summary: &Summary) -> Option<Chart> {
    let mut groups = summary.groups.iter().filter(|group| group.carries == PayloadKind::Data);
    let first = groups.next()?;
    let alike = |group: &&Group| {
        let of = |group: &Group| (group.pattern, group.size_bytes, group.arrival, group.parties);
        of(group) == of(first)
    };
    let groups: Vec<&Group> = [first].into_iter().chain(groups.filter(alike)).collect();
    let mut seen = BTreeSet::new();
    let rows = groups.iter().flat_map(|group| summary.rows_of(group));
    let rows: Vec<&Row> = rows.filter(|row| seen.insert((&row.group, row.family))).collect();
    let shown = ShownAxis::of(first, &rows).filter(|_| groups.len() > 1 && rows.len() > groups.len())?;
    let is_apart = groups.iter().any(|group| group.placement != first.placement);
    let named = |row: &&Row| match is_apart {
        true => format!("{}, {}", name(row), describe_placement(row.case.placement)),
        false => name(row),
    };
    let place = if is_apart { String::new() } else { format!(" on {}", describe_placement(first.placement)) };
    let size = format_bytes(first.size_bytes.unwrap_or_default());
    Chart {
        id: "overview".to_owned(),
        title: format!("The fastest of each family and wait strategy, {size} messages{place}"),
        says: String::new(),
        notes: vec![WHISKERS.to_owned()],
        x: shown.x,
        y: Axis::named(rows.iter().map(named).collect()),
        kind: Kind::Intervals,
        series: shown.series,
        guides: Vec::new(),
    }
    .drawable()
}

/// Axis and values shown for each benchmark.
struct ShownAxis {
    x: Axis,
    series: Vec<Series>,
}

impl ShownAxis {
    /// Chooses throughput if messages follow each other as fast as they are received, and times otherwise.
    fn of(group: &Group, rows: &[&Row]) -> Option<ShownAxis> {
        let is_stream = group.pattern.is_one_way() && group.arrival.is_closed_loop();
        if is_stream && rows.iter().all(|row| row.exchange.bytes_per_second.is_some()) {
            return Some(ShownAxis {
                x: Axis::log("bytes per second", Measure::Throughput),
                series: vec![series("bytes per second", Look::Filled, rows, throughput)],
            });
        }
        Some(ShownAxis {
            x: Axis::log(timed(rows.first()?.exchange.unit), Measure::Time),
            series: vec![
                series(deciding_name(rows.first()?), Look::Filled, rows, deciding),
                series("p99", Look::Hollow, rows, |row| Point::new("p99", row.exchange.ns.p99, 0.0)),
            ],
        })
    }
}

/// Returns one point for each benchmark, in the colour of its family.
fn series(
    name: &str,
    look: fn(Option<Family>) -> Look,
    rows: &[&Row],
    point: impl Fn(&Row) -> Point,
) -> Series {
    let placed = |(y, row): (f64, &&Row)| Point { y, look: Some(look(row.family)), ..point(row) };
    let points = (0..).map(f64::from).zip(rows).map(placed).collect();
    Series { name: name.to_owned(), look: look(None), points }
}

fn deciding(row: &Row) -> Point {
    let time = row.exchange.deciding();
    Point { x_ends: time.ci95, ..Point::new(deciding_name(row), time.ns, 0.0) }
}

fn throughput(row: &Row) -> Point {
    let median = row.exchange.bytes_per_second.unwrap_or_default();
    Point { x_ends: throughput_interval(row), ..Point::new("bytes per second", median, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_fixture as fixture;
    use furlong_fixture::comparison::{STEADY, TrialBuilder};
    use furlong_model::{Pattern, Placement, Wait};

    #[test]
    fn messages_one_way_are_shown_by_what_goes_through() {
        let of = |pattern: Pattern| {
            let case = |name| fixture::case(name, Wait::Block, Placement::OtherCore).with_pattern(pattern);
            let times = [("pipe", 2_000.0), ("posix-mq", 5_000.0)];
            let run = TrialBuilder::default().run(&times.map(|(name, ns)| (case(name), ns)), &STEADY);
            let run = furlong_analysis::DecodedRun::of(&run);
            charts(&run.summary).0.remove(0)
        };
        let stream = of(Pattern::OneWay);
        assert_eq!((stream.x.measure, stream.series.len()), (Measure::Throughput, 1));
        assert_eq!(stream.y.categories, ["pipe/block", "posix-mq/block"]);
        let [fast, slow] = &stream.series[0].points[..] else { panic!("{stream:?}") };
        assert!(fast.x > 2.0 * slow.x && (30e6..70e6).contains(&fast.x), "{stream:?}");
        let [low, high] = fast.x_ends.unwrap();
        assert!(low <= fast.x && fast.x <= high, "{fast:?}");
        assert_eq!(fast.look, Some(Look::Filled(Some(Family::Pipe))));
        let trips = of(Pattern::RoundTrip);
        assert_eq!((trips.x.measure, trips.series.len()), (Measure::Time, 2));
    }
}

//! Chart of busy CPUs against latency: the gain and the cost of busy-waiting.

use furlong_analysis::{Group, PayloadKind, Row, Summary, Unit, describe_placement};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series};
use furlong_model::{Arrival, Case, Pattern, Placement, Request, WaitKind, format_bytes, format_ns};
use furlong_render::charts::ends_and_middle;
use furlong_render::words::{deciding_name, name, timed};
use furlong_render::{plain, three_digits};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Fewest rows in one way of waiting that are worth a chart.
const FEWEST_ALIKE: usize = 4;

/// Properties that the benchmarks of one chart share.
type ChartKey<'a> = (usize, Placement, Pattern, Option<&'a Request>, Arrival, NonZeroU32);

/// Returns one chart for each size, pattern and pace, and the number of charts left out. A sweep over sizes gets
/// three charts.
pub fn charts(summary: &Summary) -> (Vec<Chart>, usize) {
    let rows = data_rows(summary);
    let keys: BTreeSet<ChartKey> = rows.iter().map(|(_, row)| chart_key(row)).collect();
    let charts = keys.into_iter().filter_map(|of| Some((of, chart(&rows, of)?)));
    let (charts, left_out) = ends_and_middle(
        charts.collect(),
        |((_, placement, pattern, request, arrival, parties), _): &(ChartKey, Chart)| {
            (*placement, *pattern, *request, *arrival, *parties)
        },
    );
    (charts.into_iter().map(|(_, chart)| chart).collect(), left_out)
}

/// Returns the benchmarks that carry data, with their groups.
fn data_rows(summary: &Summary) -> Vec<(&Group, &Row)> {
    let groups = summary.groups.iter().filter(|group| group.carries == PayloadKind::Data);
    groups.flat_map(|group| summary.rows_of(group).map(move |row| (group, row))).collect()
}

fn chart_key(row: &Row) -> ChartKey<'_> {
    let Case { size_bytes, placement, exchange, arrival, .. } = &row.case;
    let (request, arrival) = (exchange.request(), arrival.without_think_time().at_fixed_times());
    (*size_bytes, *placement, exchange.pattern(), request, arrival, exchange.parties())
}

fn chart(rows: &[(&Group, &Row)], of: ChartKey) -> Option<Chart> {
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).filter(|row| chart_key(row) == of).collect();
    // A few rows that wait alike trade nothing.
    let waits: BTreeSet<WaitKind> = rows.iter().map(|row| row.case.wait.kind()).collect();
    if waits.len() < 2 && rows.len() < FEWEST_ALIKE {
        return None;
    }
    let point = |row: &&Row| Point {
        x_ends: row.exchange.deciding().ci95,
        look: Some(Look::Filled(row.family)),
        ..Point::new(name(row), row.exchange.deciding().ns, row.processors_busy())
    };
    let (size, placement, pattern, request, arrival, parties) = of;
    let mut properties =
        format!("{} {}", format_bytes(size), if pattern.is_one_way() { "one way" } else { "messages" });
    if let Some(request) = request {
        let by = request.by.as_ref().map(|by| format!(" by {}", plain(by))).unwrap_or_default();
        properties =
            format!("{} answers to {} requests{by}", format_bytes(size), format_bytes(request.size_bytes));
    }
    if !arrival.is_closed_loop() {
        properties += &format!(", {arrival}");
    }
    if parties.get() > 1 {
        properties += &format!(", {parties} {}", pattern.several());
    }
    properties += &format!(", {}", describe_placement(placement));
    let x = format!("{} {}", deciding_name(rows.first()?), timed(Unit::of(pattern)));
    Chart {
        id: format!("cpu-and-latency-{pattern}-{properties}"),
        title: format!("CPU use against latency: {properties}"),
        says: says(&rows),
        notes: vec![
            "Processors busy is processor time of both roles by elapsed time: 2 is two processors that do nothing else. \
             Left is faster, down is cheaper."
                .to_owned(),
        ],
        x: Axis::log(x, Measure::Time),
        y: Axis::linear("busy CPUs", Measure::Number),
        kind: Kind::Scatter,
        series: vec![Series {
            name: deciding_name(rows.first()?).to_owned(),
            look: Look::Filled(None),
            points: rows.iter().map(point).collect(),
        }],
        guides: Vec::new(),
    }
    .drawable()
}

/// Compares the fastest busy-waiting benchmark on two cores with the fastest blocking one, and reports its CPU cost.
fn says(rows: &[&Row]) -> String {
    let on_two = |row: &&&Row| row.case.placement.has_two_processors() == Some(true);
    let fastest = |kind: WaitKind| {
        let of_kind = rows.iter().filter(|row| row.case.wait.kind() == kind).filter(on_two);
        // The first of the ranking, as in the findings: two answers on one page would contradict each other.
        of_kind.min_by_key(|row| row.rank.unwrap_or(usize::MAX)).copied()
    };
    let (spins, sleeps) = match (fastest(WaitKind::Spinning), fastest(WaitKind::Sleeping)) {
        (Some(spins), Some(sleeps)) => (spins, sleeps),
        _ => return String::new(),
    };
    let named = |row: &Row| format!("{} ({})", name(row), format_ns(row.exchange.deciding().ns));
    let ratio = sleeps.exchange.deciding().ns / spins.exchange.deciding().ns;
    let busy = format!("{:.1} CPUs busy instead of {:.1}", spins.processors_busy(), sleeps.processors_busy());
    if !spins.differs_from(sleeps) {
        return format!(
            "Spinning on two cores is not measurably faster: {} is tied with {}, and keeps {busy}.",
            named(spins),
            named(sleeps)
        );
    }
    if ratio > 1.0 {
        format!(
            "Spinning on two cores pays: {} is {} times as fast as {}, and keeps {busy}.",
            named(spins),
            three_digits(ratio),
            named(sleeps)
        )
    } else {
        format!(
            "Spinning on two cores does not pay: {} is slower than {}, and keeps {busy}.",
            named(spins),
            named(sleeps)
        )
    }
}

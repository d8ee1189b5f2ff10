//! Chart of busy CPUs against latency: the gain and the cost of busy-waiting.

use furlong_analysis::{Carries, Group, Row, Summary, Unit, describe_placement};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series, look_of};
use furlong_model::{Arrival, Case, Pattern, Placement, Request, WaitKind, format_bytes, format_ns};
use furlong_render::charts::ends_and_middle;
use furlong_render::words::{count, name, timed, waiting};
use furlong_render::{plain, three_digits};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Fewest rows in one way of waiting that are worth a chart.
const FEWEST_ALIKE: usize = 4;

/// Properties that the benchmarks of one chart share.
type Manner<'a> = (usize, Pattern, Option<&'a Request>, Arrival, NonZeroU32, NonZeroU32);

/// Returns one chart for each size, pattern and pace, and the number of charts left out. A sweep over sizes gets
/// three charts.
pub fn charts(summary: &Summary) -> (Vec<Chart>, usize) {
    let rows = data_rows(summary);
    let manners: BTreeSet<Manner> = rows.iter().map(|(_, row)| manner(row)).collect();
    let charts = manners.into_iter().filter_map(|of| Some((of, chart(&rows, of)?)));
    let (charts, left_out) = ends_and_middle(
        charts.collect(),
        |((_, pattern, request, arrival, window, parties), _): &(Manner, Chart)| {
            (*pattern, *request, *arrival, *window, *parties)
        },
    );
    (charts.into_iter().map(|(_, chart)| chart).collect(), left_out)
}

/// Returns the benchmarks that carry data, with their groups.
fn data_rows(summary: &Summary) -> Vec<(&Group, &Row)> {
    let groups = summary.groups.iter().filter(|group| group.carries == Carries::Data);
    groups.flat_map(|group| summary.rows_of(group).map(move |row| (group, row))).collect()
}

fn manner(row: &Row) -> Manner<'_> {
    let Case { size_bytes, exchange, arrival, .. } = &row.case;
    (*size_bytes, exchange.pattern(), exchange.request(), *arrival, exchange.window(), exchange.parties())
}

fn chart(rows: &[(&Group, &Row)], of: Manner) -> Option<Chart> {
    let rows: Vec<&Row> = rows.iter().map(|(_, row)| *row).filter(|row| manner(row) == of).collect();
    let kinds: BTreeSet<(Placement, WaitKind)> =
        rows.iter().map(|row| (row.case.placement, row.case.wait.kind())).collect();
    // A few rows that wait alike trade nothing.
    let waits: BTreeSet<WaitKind> = kinds.iter().map(|(_, wait)| *wait).collect();
    if waits.len() < 2 && rows.len() < FEWEST_ALIKE {
        return None;
    }
    let series = kinds.iter().enumerate().map(|(number, kind)| {
        let is_of = |row: &&&Row| (row.case.placement, row.case.wait.kind()) == *kind;
        let point = |row: &&Row| Point {
            x_ends: row.exchange.ns.median_ci95,
            look: Some(look_of(&row.case.row())),
            ..Point::new(name(row), row.exchange.ns.p50, row.processors_busy())
        };
        Series {
            name: format!("{}, {}", describe_placement(kind.0), waiting(kind.1)),
            look: Look::Sample { mark: Some(number), hollow: false },
            points: rows.iter().filter(is_of).map(point).collect(),
        }
    });
    let (size, pattern, request, arrival, window, parties) = of;
    let mut manner =
        format!("{} {}", format_bytes(size), if pattern.is_one_way() { "one way" } else { "messages" });
    if let Some(request) = request {
        let by = request.by.as_ref().map(|by| format!(" by {}", plain(by))).unwrap_or_default();
        manner =
            format!("{} answers to {} requests{by}", format_bytes(size), format_bytes(request.size_bytes));
    }
    if !arrival.is_closed_loop() {
        manner += &format!(", {arrival}");
    }
    if window.get() > 1 {
        manner += &format!(", {window} outstanding");
    }
    if parties.get() > 1 {
        manner += &format!(", {parties} {}", pattern.several());
    }
    let x = format!("median {}", timed(Unit::of(pattern)));
    Chart {
        id: format!("cpu-and-latency-{pattern}-{manner}"),
        title: format!("Processors busy against latency: {manner}"),
        says: says(&rows),
        notes: vec![
            "Processors busy is processor time of both roles by elapsed time: 2 is two processors that do nothing else. \
             Left is faster, down is cheaper. A mechanism has the same colour in all charts; the form of a mark says how and where \
             it waits."
                .to_owned(),
        ],
        x: Axis::log(x, Measure::Time),
        y: Axis::linear("processors busy", Measure::Number),
        kind: Kind::Scatter,
        series: series.collect(),
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
        of_kind.min_by_key(|row| row.rank).copied()
    };
    let (spins, sleeps) = match (fastest(WaitKind::Spinning), fastest(WaitKind::Sleeping)) {
        (Some(spins), Some(sleeps)) => (spins, sleeps),
        _ => {
            return format!(
                "Of {}, none spins on two cores beside one that sleeps there: whether spinning pays does not show here.",
                count(rows.len(), "row")
            );
        }
    };
    let named = |row: &Row| format!("{} ({})", name(row), format_ns(row.exchange.ns.p50));
    let ratio = sleeps.exchange.ns.p50 / spins.exchange.ns.p50;
    let busy =
        format!("{:.1} processors busy instead of {:.1}", spins.processors_busy(), sleeps.processors_busy());
    if !spins.differs_from(sleeps) {
        return format!(
            "Spinning gains nothing that shows on two cores: {} cannot be told apart from {}, and keeps {busy}.",
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

//! Charts of explained benchmarks: the parts of the cost model, stacked, with the measured time as a mark.

use furlong_analysis::{ExplainedRow, Explanation, Part, describe_placement};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series};
use furlong_model::{Placement, WaitKind, format_bytes};
use furlong_render::plain;
use furlong_render::words::{count, waiting};
use furlong_stats::sort_by;
use std::collections::BTreeSet;

/// All parts, in the order in which they are stacked.
pub const PARTS: [Part; 11] = [
    Part::SystemCalls,
    Part::Copying,
    Part::OwnPath,
    Part::ContextSwitches,
    Part::WakeUps,
    Part::CacheLinesAcross,
    Part::PageFaults,
    Part::LibraryThreads,
    Part::Program,
    Part::Server,
    Part::Waiting,
];

/// Name of the series that is drawn as a mark and not as a part.
pub const MEASURED: &str = "measured";

/// Properties that the benchmarks of one chart share, so that their times have one order of magnitude.
type ChartKey = (Placement, WaitKind, usize);

/// Returns one chart for each placement, wait strategy and size.
pub fn charts(explanation: &Explanation) -> Vec<Chart> {
    let keys: BTreeSet<ChartKey> = explanation.rows.iter().map(chart_key).collect();
    keys.into_iter().filter_map(|key| chart(explanation, key)).collect()
}

fn chart_key(row: &ExplainedRow) -> ChartKey {
    (row.case.placement, row.case.wait.kind(), row.case.size_bytes)
}

fn chart(explanation: &Explanation, of: ChartKey) -> Option<Chart> {
    let mut rows: Vec<&ExplainedRow> = explanation.rows.iter().filter(|row| chart_key(row) == of).collect();
    sort_by(&mut rows, |a, b| a.measured_ns.total_cmp(&b.measured_ns));
    let part = |(number, part): (usize, Part)| {
        let of_row = |(at, row): (f64, &&ExplainedRow)| {
            let terms: Vec<_> = row.terms.iter().filter(|term| term.name == part).collect();
            let ns = terms.iter().map(|term| term.ns).sum();
            (!terms.is_empty()).then(|| Point::new(part.name(), ns, at))
        };
        let points = (0..).map(f64::from).zip(&rows).filter_map(of_row).collect();
        Series { name: part.name().to_owned(), look: Look::Part(number), points }
    };
    let measured = (0..)
        .map(f64::from)
        .zip(&rows)
        .map(|(at, row)| Point { x_ends: row.measured_ci95, ..Point::new(MEASURED, row.measured_ns, at) });
    let mut series: Vec<Series> = PARTS.into_iter().enumerate().map(part).collect();
    series.push(Series { name: MEASURED.to_owned(), look: Look::Muted, points: measured.collect() });
    let (placement, wait, size) = of;
    let properties =
        format!("{} on {}, {}", format_bytes(size), describe_placement(placement), waiting(wait));
    Chart {
        id: format!("cost-parts-{placement}-{}-{size}", waiting(wait)),
        title: format!("Where the time goes: {properties}"),
        says: says(&rows),
        notes: vec![
            "The parts of a bar add up to the prediction; the mark is the measured median, with its interval in this run. \
             Nothing is fitted to that benchmark."
                .to_owned(),
        ],
        x: Axis::linear("round-trip time", Measure::Time),
        y: Axis::named(rows.iter().map(|row| plain(&row.case.row())).collect()),
        kind: Kind::Bars,
        series,
        guides: Vec::new(),
    }
    .drawable()
}

fn says(rows: &[&ExplainedRow]) -> String {
    let largest = |part: &Part| rows.iter().filter(|row| row.dominant == Some(*part)).count();
    let Some(most) = PARTS.into_iter().max_by_key(largest).filter(|part| largest(part) > 0) else {
        return String::new();
    };
    match (largest(&most), rows.len()) {
        (_, 1) => format!("The largest part is {}.", most.name()),
        (all, rows) if all == rows => format!("The largest part of every benchmark is {}.", most.name()),
        (some, rows) => {
            format!("The largest part is {} in {some} of {}.", most.name(), count(rows, "benchmark"))
        }
    }
}

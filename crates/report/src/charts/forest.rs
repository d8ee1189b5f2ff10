//! Chart of a comparison: the ratio of each benchmark with its interval, and the margin within which results are
//! equal.

use furlong_analysis::{Change, ComparedRow, Comparison};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series, look_of, without_zeros};
use furlong_render::plain;

/// Returns one chart for each run that is compared with the baseline.
pub fn charts(comparison: &Comparison) -> Vec<Chart> {
    comparison.others().enumerate().filter_map(|(number, run)| chart(comparison, &run.name, number)).collect()
}

/// Returns the look of a verdict's marks, whose colours are those of mechanisms.
fn look(change: Change) -> Look {
    let mark = match change {
        Change::Same => 0,
        Change::Inconclusive => 1,
        Change::Worse => 2,
        Change::Better => 3,
    };
    Look::Sample { mark: Some(mark), hollow: change == Change::Inconclusive }
}

fn chart(comparison: &Comparison, run: &str, number: usize) -> Option<Chart> {
    let rows: Vec<&ComparedRow> = comparison.rows_of(run).collect();
    let series = Change::ALL.map(|change| {
        let of_change = (0..).map(f64::from).zip(&rows).filter(|(_, row)| row.verdict == change);
        let point = |(at, row): (f64, &&ComparedRow)| Point {
            x_ends: row.ci95,
            look: Some(look_of(&row.case.row())),
            ..Point::new(change.name(), row.ratio, at)
        };
        Series { name: change.name().to_owned(), look: look(change), points: of_change.map(point).collect() }
    });
    let margin = comparison.margin;
    let (run, baseline) = (plain(run), plain(&comparison.baseline));
    let named = |change: Change| {
        let count = rows.iter().filter(|row| row.verdict == change).count();
        (count > 0).then(|| format!("{count} {}", change.name()))
    };
    let counts: Vec<_> = Change::ALL.into_iter().filter_map(named).collect();
    Chart {
        id: format!("forest-{number}-{run}"),
        title: format!("{run} against {baseline}"),
        says: format!("Of {} that both have: {}.", furlong_render::words::count(rows.len(), "row"), counts.join(", ")),
        notes: vec![format!(
            "How many times as long a row takes in {run} as in {baseline}, with the 95 % interval of that ratio for these two runs: right of 1 is slower. The \
             band is the margin of {} % within which a row counts as the same.",
            without_zeros(format!("{:.4}", margin * 100.0))
        )],
        x: Axis::log("times as long", Measure::Times),
        y: Axis::named(rows.iter().map(|row| plain(&row.case.to_string())).collect()),
        kind: Kind::Intervals,
        series: series.into(),
        guides: vec![
            Guide::Band([1.0 / (1.0 + margin), 1.0 + margin], "the margin".to_owned()),
            Guide::Upright(1.0, "as long".to_owned()),
        ],
    }
    .drawable()
}

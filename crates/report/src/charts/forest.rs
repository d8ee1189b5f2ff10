//! Chart of a comparison: the ratio of each benchmark with its interval, and the margin within which results are
//! equal.

use furlong_analysis::{ComparedRow, Comparison, Summary};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series, without_zeros};
use furlong_render::plain;

/// Returns one chart for each run that is compared with the baseline.
pub fn charts(comparison: &Comparison, baseline: &Summary) -> Vec<Chart> {
    let runs = comparison.others().enumerate();
    runs.filter_map(|(number, run)| chart(comparison, baseline, &run.name, number)).collect()
}

fn chart(comparison: &Comparison, summary: &Summary, run: &str, number: usize) -> Option<Chart> {
    let rows: Vec<&ComparedRow> = comparison.rows_of(run).filter(|row| row.ratio.is_some()).collect();
    let point = |(at, row): (f64, &&ComparedRow)| Point {
        x_ends: row.ci95,
        look: Some(Look::Filled(summary.family_of(&row.case.mechanism))),
        ..Point::new("ratio", row.ratio.unwrap_or(1.0), at)
    };
    let named = |row: &&ComparedRow| format!("{}: {}", row.verdict.name(), plain(&row.case.to_string()));
    let margin = comparison.margin;
    let (run, baseline) = (plain(run), plain(&comparison.baseline));
    Chart {
        id: format!("forest-{number}-{run}"),
        title: format!("{run} against {baseline}"),
        says: String::new(),
        notes: vec![format!(
            "Time of each benchmark in {run} relative to {baseline}, with the 95 % confidence interval of that ratio \
             for these two runs: right of 1 is slower. The band is the margin of {} %, within which a benchmark \
             counts as the same.",
            without_zeros(format!("{:.4}", margin * 100.0))
        )],
        x: Axis::log("times as long", Measure::Times),
        y: Axis::named(rows.iter().map(named).collect()),
        kind: Kind::Intervals,
        series: vec![Series {
            name: "ratio".to_owned(),
            look: Look::Filled(None),
            points: (0..).map(f64::from).zip(&rows).map(point).collect(),
        }],
        guides: vec![
            Guide::Band([1.0 / (1.0 + margin), 1.0 + margin], "the margin".to_owned()),
            Guide::Upright(1.0, "as long".to_owned()),
        ],
    }
    .drawable()
}

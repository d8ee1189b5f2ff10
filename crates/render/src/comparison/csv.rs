//! A comparison as CSV: a line for each benchmark of each run, then for each count, then for each benchmark that was
//! not compared.

use super::super::csv::{sheet, words};
use super::prose::inconclusive_because;
use furlong_analysis::{ComparedCapacity, ComparedCount, ComparedRow, Comparison, OnlyIn};
use furlong_model::Case;

/// A line: a benchmark or a count of both runs, or a benchmark of only one run.
struct Line<'a> {
    run: &'a str,
    case: &'a Case,
    row: Option<&'a ComparedRow>,
    capacity: Option<&'a ComparedCapacity>,
    count: Option<&'a ComparedCount>,
    only: Option<&'a OnlyIn>,
}

impl Line<'_> {
    fn text(&self, cell: impl Fn(&ComparedRow) -> String) -> String {
        self.row.map(cell).unwrap_or_default()
    }

    /// Returns a figure that not every row has.
    fn figure(&self, figure: impl Fn(&ComparedRow) -> Option<f64>) -> String {
        self.row.and_then(figure).map(|figure| figure.to_string()).unwrap_or_default()
    }

    /// Returns a figure of the highest rates.
    fn rate(&self, figure: impl Fn(&ComparedCapacity) -> Option<f64>) -> String {
        self.capacity.and_then(figure).map(|figure| figure.to_string()).unwrap_or_default()
    }
}

/// Name of a column and the function that fills its cells, which are empty without a value.
type Column = (&'static str, fn(&Line) -> String);

/// All columns; their names contain the units.
const COLUMNS: [Column; 38] = [
    ("run", |line| words(line.run)),
    ("mechanism", |line| words(&line.case.mechanism)),
    ("wait", |line| line.case.wait.to_string()),
    ("pattern", |line| line.case.pattern().to_string()),
    ("size_bytes", |line| line.case.size_bytes.to_string()),
    ("placement", |line| line.case.placement.to_string()),
    ("arrival", |line| line.case.arrival.to_string()),
    ("request_bytes", |line| {
        line.case.exchange.request().map(|request| request.size_bytes.to_string()).unwrap_or_default()
    }),
    ("request_by", |line| {
        words(line.case.exchange.request().and_then(|request| request.by.as_deref()).unwrap_or_default())
    }),
    ("buffer_bytes", |line| line.case.buffer_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()),
    ("access", |line| line.case.access.to_string()),
    ("window", |line| line.case.window().to_string()),
    ("parties", |line| line.case.parties().to_string()),
    ("conditions", |line| line.case.conditions.to_string()),
    ("verdict", |line| {
        let of_count = || line.count.map(|count| count.verdict.name());
        let verdict =
            line.row.map(|row| row.verdict.name()).or_else(|| line.capacity.map(|one| one.verdict.name()));
        verdict.or_else(of_count).unwrap_or("not-compared").to_owned()
    }),
    ("ratio", |line| line.figure(|row| row.ratio)),
    ("ci95_low", |line| line.figure(|row| row.ci95.map(|ends| ends[0]))),
    ("ci95_high", |line| line.figure(|row| row.ci95.map(|ends| ends[1]))),
    ("p", |line| line.figure(|row| row.p)),
    ("p_adjusted", |line| line.figure(|row| row.p_adjusted)),
    ("exchange", |line| line.text(|row| row.unit.word().to_owned())),
    ("baseline_ns", |line| line.figure(|row| Some(row.baseline_ns))),
    ("new_ns", |line| line.figure(|row| Some(row.new_ns))),
    ("baseline_trials", |line| line.text(|row| row.baseline_trials.to_string())),
    ("new_trials", |line| line.text(|row| row.new_trials.to_string())),
    ("doubtful", |line| line.text(|row| row.doubtful.to_string())),
    ("identical", |line| line.text(|row| row.identical.to_string())),
    ("counted", |line| line.count.map(|count| count.counted.name().to_owned()).unwrap_or_default()),
    ("baseline_count", |line| line.count.map(|count| count.baseline.to_string()).unwrap_or_default()),
    ("new_count", |line| line.count.map(|count| count.new.to_string()).unwrap_or_default()),
    ("missing_in", |line| line.only.map(|only| words(&only.missing_in)).unwrap_or_default()),
    ("reason", |line| {
        let inconclusive = line.row.and_then(|row| row.reason.as_ref()).map(inconclusive_because);
        let reason = inconclusive.or_else(|| line.only.and_then(|only| only.reason.clone()));
        reason.as_deref().map(words).unwrap_or_default()
    }),
    ("objective", |line| line.capacity.map(|one| one.objective.to_string()).unwrap_or_default()),
    ("baseline_per_second", |line| line.rate(|one| one.baseline.per_second)),
    ("new_per_second", |line| line.rate(|one| one.new.per_second)),
    ("rate_ratio", |line| line.rate(|one| one.ratio)),
    ("rate_ratio_low", |line| line.rate(|one| one.ci95.map(|ends| ends[0]))),
    ("rate_ratio_high", |line| line.rate(|one| one.ci95.map(|ends| ends[1]))),
];

/// Returns a header, then the lines.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let line = |run, case| Line { run, case, row: None, capacity: None, count: None, only: None };
    let rows = comparison.rows.iter().map(|row| Line { row: Some(row), ..line(&row.run, &row.case) });
    let rates = comparison.capacities.iter();
    let rates = rates.map(|one| Line { capacity: Some(one), ..line(&one.run, &one.case) });
    let counts =
        comparison.counts.iter().map(|count| Line { count: Some(count), ..line(&count.run, &count.case) });
    let only = comparison.only_in.iter().map(|only| Line { only: Some(only), ..line(&only.run, &only.case) });
    let header = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = |line: Line| COLUMNS.iter().map(|(_, cell)| cell(&line)).collect();
    sheet([header].into_iter().chain(rows.chain(rates).chain(counts).chain(only).map(cells)))
}

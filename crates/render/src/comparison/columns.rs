//! The columns of a comparison, the same for a terminal and for Markdown.

use super::super::document::{Column, Row, Tone};
use furlong_analysis::text::plain;
use furlong_analysis::{Change, ComparedRow};
use furlong_model::format_ns;

/// A column header with the function that fills its cells.
type FilledColumn = (Column, fn(&ComparedRow) -> String);

/// Columns of the comparison. Expendable columns are dropped on a narrow terminal, because other
/// output repeats them.
pub(crate) const COLUMNS: [FilledColumn; 7] = [
    (Column::words("verdict"), |row| row.verdict.name().to_owned()),
    (Column::words("row"), |row| plain(&row.case.to_string()) + if row.doubtful { " ^" } else { "" }),
    (Column::figures("then").expendable(2), |row| format_ns(row.baseline_ns)),
    (Column::figures("now").expendable(2), |row| format_ns(row.new_ns)),
    (Column::figures("ratio"), |row| {
        row.ratio.map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.3}x"))
    }),
    (Column::figures("95 %").expendable(1), interval),
    (Column::figures("p").expendable(3), chance),
];

/// Formats the interval: `1.24 to 1.38`.
fn interval(row: &ComparedRow) -> String {
    row.ci95.map_or_else(|| "?".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"))
}

/// Formats the corrected p-value; empty if nothing was tested.
fn chance(row: &ComparedRow) -> String {
    match row.p_adjusted {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Returns the line of a benchmark in the tone of its verdict.
pub(crate) fn line(row: &ComparedRow) -> Row {
    let tone = match row.verdict {
        Change::Worse => Tone::Bad,
        Change::Better => Tone::Good,
        Change::Inconclusive => Tone::Warning,
        Change::Same => Tone::Neutral,
    };
    Row { tone, ..Row::neutral(COLUMNS.iter().map(|(_, cell)| cell(row))) }
}

//! The columns of a summary for programs that read tables: those of the case, and those of its figures.

use super::cells::{Cell, Key, Line};
use super::figures::FIGURES;
use furlong_analysis::Summary;
use furlong_model::Boundary;
use furlong_stats::sort_by_key;

pub(crate) use super::cells::{Kind, Value};

/// Columns of the case and of its result.
static CASE: [Key; 21] = [
    Key::One(0, "mechanism", Cell::Text(|line| line.case.mechanism.clone())),
    Key::One(1, "wait", Cell::Text(|line| line.case.wait.to_string())),
    Key::One(2, "pattern", Cell::Text(|line| line.case.pattern().to_string())),
    Key::One(3, "size_bytes", Cell::Whole(|line| Some(line.case.size_bytes as u64))),
    Key::One(4, "placement", Cell::Text(|line| line.case.placement.to_string())),
    Key::One(
        5,
        "status",
        Cell::Text(|line| line.skipped.map_or("measured", |skipped| skipped.status.name()).to_owned()),
    ),
    Key::One(6, "group", Cell::RowText(|row| row.group.clone())),
    Key::One(31, "verified", Cell::RowTruth(|row| row.verified)),
    Key::One(
        32,
        "processors",
        Cell::RowText(|row| row.processors.iter().map(usize::to_string).collect::<Vec<_>>().join(":")),
    ),
    Key::One(33, "arrival", Cell::Text(|line| line.case.arrival.to_string())),
    Key::One(
        52,
        "request_bytes",
        Cell::Whole(|line| line.case.exchange.request().map(|request| request.size_bytes as u64)),
    ),
    Key::One(
        53,
        "request_by",
        Cell::Text(|line| {
            line.case.exchange.request().and_then(|request| request.by.clone()).unwrap_or_default()
        }),
    ),
    Key::One(54, "buffer_bytes", Cell::Whole(|line| line.case.buffer_bytes.map(|bytes| bytes as u64))),
    Key::One(55, "access", Cell::Text(|line| line.case.access.to_string())),
    Key::One(
        56,
        "boundary",
        Cell::Text(|line| {
            line.case.conditions.boundary().map_or_else(|| "process".to_owned(), Boundary::to_string)
        }),
    ),
    Key::One(57, "window", Cell::Whole(|line| Some(line.case.window().get().into()))),
    Key::One(58, "parties", Cell::Whole(|line| Some(line.case.parties().get().into()))),
    Key::One(86, "conditions", Cell::Text(|line| line.case.conditions.to_string())),
    Key::One(72, "law", Cell::SkippedText(|skipped| skipped.law.map_or("", |law| law.name()))),
    Key::One(73, "reason", Cell::SkippedText(|skipped| &skipped.reason)),
    Key::One(74, "remedy", Cell::SkippedText(|skipped| &skipped.remedy)),
];

/// Returns all columns: number, name and cell.
fn all() -> Vec<(u8, String, Cell)> {
    let keys = CASE.iter().chain(FIGURES.iter().flat_map(|figure| figure.keys));
    let mut columns: Vec<_> = keys.flat_map(Key::columns).collect();
    sort_by_key(&mut columns, |(at, ..)| *at);
    columns
}

/// Returns the names and kinds of all columns.
pub(crate) fn columns() -> impl Iterator<Item = (String, Kind)> {
    all().into_iter().map(|(_, name, cell)| (name, cell.kind()))
}

/// Returns the cells of every line: a row by group and rank, then each skipped case.
///
/// A case that lost some of its trials is in both parts: once with its figures, once with the reason.
pub(crate) fn lines(summary: &Summary) -> impl Iterator<Item = Vec<Option<Value>>> {
    let rows = summary.rows.iter().map(|row| Line { case: &row.case, row: Some(row), skipped: None });
    let skipped =
        summary.skipped.iter().map(|entry| Line { case: &entry.case, row: None, skipped: Some(entry) });
    let columns = all();
    rows.chain(skipped).map(move |line| columns.iter().map(|(.., cell)| cell.value(&line)).collect())
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn columns_are_numbered_without_gaps() {
        let numbers: Vec<_> = all().iter().map(|(at, ..)| usize::from(*at)).collect();
        assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    }
}

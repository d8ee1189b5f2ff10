//! The columns of a ranking, shared by every format that shows tables.

use super::document::Column as Head;
use super::figures::{Entry, FIGURES, Figure, INTERVAL, TRIALS, interval_head};
use furlong_analysis::{Group, Row, Summary};

/// Order in which columns go in a table of messages at a rate, because p99 is the question there. The rate was asked for. The
/// interval goes last, because no benchmark is judged by the far tail.
const BEFORE_TAIL: [(&str, u8); 10] = [
    ("switches", 9),
    ("calls", 9),
    ("trips/s", 8),
    ("messages/s", 8),
    ("from-to", 7),
    ("trials", 6),
    ("max", 5),
    ("p99.99", 4),
    ("p99.9", 3),
    (INTERVAL, 2),
];

/// Returns the columns of a table with these entries.
pub(crate) fn columns(entries: &[Entry]) -> Vec<&'static Figure> {
    let is_there =
        |column: &&Figure| !column.name.is_empty() && entries.iter().any(|entry| (column.has)(entry.row));
    // The number of trials is shown only if it differs between benchmarks.
    let trials_differ = entries.windows(2).any(|pair| pair[0].row.trials != pair[1].row.trials);
    let is_needed = |column: &&Figure| column.name != TRIALS || trials_differ;
    let mut columns: Vec<&Figure> = Vec::new();
    for column in FIGURES.iter().filter(is_there).filter(is_needed) {
        // A column may have two places: for streams and for messages at a rate.
        if !columns.iter().any(|other| other.name == column.name) {
            columns.push(column);
        }
    }
    columns
}

/// Returns the heads of the columns of one or more tables with these entries.
pub(crate) fn heads(columns: &[&Figure], entries: &[Entry], across: u32) -> Vec<Head> {
    let (interval, _) = interval_head(entries.iter().map(|entry| entry.row), across);
    let is_paced = entries.iter().all(|entry| entry.row.case.arrival.interval_ns().is_some());
    let head = |column: &&Figure| {
        let Figure { name, words, expendable, .. } = **column;
        let head = if words { Head::words(name) } else { Head::figures(name) };
        let mut head = head.expendable(expendable);
        if let Some((_, expendable)) = BEFORE_TAIL.iter().find(|(name, _)| is_paced && head.name == *name) {
            head.expendable = *expendable;
        }
        if head.name == INTERVAL {
            head.name = interval.clone().into();
        }
        head
    };
    columns.iter().map(head).collect()
}

/// Returns the entries of a group, by rank.
pub(crate) fn entries<'a>(summary: &'a Summary, group: &'a Group) -> Vec<Entry<'a>> {
    let rows: Vec<_> = summary.rows_of(group).collect();
    let shares = |row: &Row| rows.iter().filter(|other| other.rank == row.rank).count() > 1;
    rows.iter().map(|row| Entry { row, shares_place: shares(row) }).collect()
}

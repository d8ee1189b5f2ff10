//! The columns of a ranking, shared by every format that shows tables.

use super::text::{format_count, plain};
use crate::{Group, Row, Summary};
use furlong_model::format_ns;

/// A row with what its cells need to know about its group.
pub(super) struct Entry<'a> {
    /// The row.
    pub row: &'a Row,
    /// The first of its group.
    first: &'a Row,
    /// Whether other rows are in the same place.
    shares_place: bool,
}

/// One column of a ranking.
pub(super) struct Column {
    /// What stands above it.
    pub header: &'static str,
    /// What stands in it.
    pub cell: fn(&Entry) -> String,
    /// Whether it holds words, not figures.
    pub words: bool,
    /// On a narrow terminal the highest go first; 0 stays.
    pub expendable: u8,
}

/// All columns, in order.
pub(super) const COLUMNS: [Column; 10] = [
    Column { header: "#", cell: place, words: false, expendable: 0 },
    Column { header: "row", cell: name, words: true, expendable: 0 },
    Column {
        header: "p50",
        cell: |entry| format_ns(entry.row.round_trip_ns.p50),
        words: false,
        expendable: 0,
    },
    Column { header: "95 %", cell: uncertainty, words: false, expendable: 1 },
    Column {
        header: "p99",
        cell: |entry| format_ns(entry.row.round_trip_ns.p99),
        words: false,
        expendable: 2,
    },
    Column {
        header: "p99.9",
        cell: |entry| format_ns(entry.row.round_trip_ns.p999),
        words: false,
        expendable: 5,
    },
    Column {
        header: "trips/s",
        cell: |entry| format_count(entry.row.round_trips_per_second),
        words: false,
        expendable: 4,
    },
    Column { header: "CPU/trip", cell: |entry| format_ns(entry.row.cpu_ns()), words: false, expendable: 0 },
    Column { header: "switches", cell: switches, words: false, expendable: 3 },
    Column { header: "vs first", cell: ratio, words: false, expendable: 0 },
];

/// The entries of a group, by rank.
pub(super) fn entries<'a>(summary: &'a Summary, group: &'a Group) -> Vec<Entry<'a>> {
    let rows: Vec<_> = summary.rows_of(group).collect();
    let shares = |row: &Row| rows.iter().filter(|other| other.rank == row.rank).count() > 1;
    rows.iter().map(|row| Entry { row, first: rows[0], shares_place: shares(row) }).collect()
}

fn place(entry: &Entry) -> String {
    let tie = if entry.shares_place { "=" } else { "" };
    format!("{tie}{}", entry.row.rank)
}

/// The row's name, and marks that footnotes explain.
fn name(entry: &Entry) -> String {
    marked_name(entry.row)
}

/// A row's name with its marks.
pub(super) fn marked_name(row: &Row) -> String {
    let marks = [is_batched, has_no_interval, has_failed_trials, has_shape].map(|mark| mark(row));
    let marks = marks.iter().zip(["*", "?", "!", "^"]).filter(|(applies, _)| **applies).map(|(_, sign)| sign);
    let marks: String = marks.collect();
    let name = plain(&row.case.row());
    if marks.is_empty() { name } else { format!("{name} {marks}") }
}

/// `*`: its percentiles are of means.
pub(super) fn is_batched(row: &Row) -> bool {
    row.round_trips_per_sample > 1
}

/// `?`: nobody knows how sure its place is.
pub(super) fn has_no_interval(row: &Row) -> bool {
    row.round_trip_ns.median_ci95.is_none()
}

/// `!`: some of its trials did not end well.
pub(super) fn has_failed_trials(row: &Row) -> bool {
    row.failed_trials > 0
}

/// `^`: its trials or round trips are not of one kind.
pub(super) fn has_shape(row: &Row) -> bool {
    !row.shape.is_plain()
}

fn uncertainty(entry: &Entry) -> String {
    let percent = |share: f64| format!("±{:.1} %", share * 100.0);
    entry.row.round_trip_ns.uncertainty().map_or_else(|| "?".to_owned(), percent)
}

fn switches(entry: &Entry) -> String {
    let switches = entry.row.switches_per_round_trip;
    format!("{:.2}", switches.voluntary + switches.involuntary)
}

/// How many times the median of the first; `~` where the two cannot be told apart.
fn ratio(entry: &Entry) -> String {
    let Entry { row, first, .. } = entry;
    let ratio = row.round_trip_ns.p50 / first.round_trip_ns.p50;
    match ratio {
        _ if row.case == first.case => "1.00x".to_owned(),
        _ if row.tied_with.contains(&first.case.row()) => "~".to_owned(),
        ratio if ratio < 9.995 => format!("{ratio:.2}x"),
        ratio if ratio < 99.95 => format!("{ratio:.1}x"),
        ratio => format!("{ratio:.0}x"),
    }
}

//! The table of latencies per message size, for messages of several sizes.

use super::document::{Column, Row, Section, Table};
use super::words::name;
use furlong_analysis::{Group, SizeClassTimes, Summary};
use furlong_model::{format_bytes, format_ns};

/// Returns a table for each group with messages of several sizes.
pub fn tables(summary: &Summary) -> impl Iterator<Item = Section> {
    summary.groups.iter().filter_map(|group| size_classes(summary, group))
}

/// Returns the section with the latency of each size; `None` if all messages of the group have the same size.
pub(crate) fn size_classes(summary: &Summary, group: &Group) -> Option<Section> {
    let rows: Vec<Row> = summary
        .rows_of(group)
        .flat_map(|row| {
            let cells = |(at, class): (usize, &SizeClassTimes)| {
                let SizeClassTimes { size_bytes, ns } = class;
                let [p99, p999, _] = ns.tail().map(|ns| ns.map_or_else(|| "–".to_owned(), format_ns));
                let name = if at == 0 { name(row) } else { String::new() };
                let [size, samples] = [format_bytes(*size_bytes), ns.samples.to_string()];
                Row::neutral([name, size, samples, format_ns(ns.p50), p99, p999, format_ns(ns.max)])
            };
            row.size_classes.iter().enumerate().map(cells).collect::<Vec<_>>()
        })
        .collect();
    let figures = ["size", "messages", "p50", "p99", "p99.9", "max"].map(Column::figures);
    let heads: Vec<Column> = [Column::words("row")].into_iter().chain(figures).collect();
    (!rows.is_empty()).then(|| {
        Section::titled(format!("Latency by size: {}", group.subject)).table(Table::new(heads, rows))
    })
}

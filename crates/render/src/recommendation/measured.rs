//! The table of a recommendation: the rows that were measured at the workload.

use super::super::document::{Column, Row, Table};
use super::prose;
use furlong_analysis::text::{plain, three_digits, times_between};
use furlong_analysis::{Ranked, Recommendation};
use furlong_model::format_ns;

const COLUMNS: [Column; 8] = [
    Column::figures("#"),
    Column::words("row"),
    Column::figures("p50"),
    Column::figures("95 %").expendable(1),
    Column::figures("p99"),
    Column::figures("CPU share"),
    Column::figures("effort").expendable(2),
    Column::figures("vs first").expendable(3),
];

/// The table; `None` where nothing was measured.
pub(crate) fn measured(recommendation: &Recommendation) -> Option<Table> {
    let first = recommendation.ranked.first()?;
    let line = |(index, row): (usize, &Ranked)| {
        let tie = recommendation.ties.contains(&row.name());
        let shares_first = tie || (index == 0 && !recommendation.ties.is_empty());
        let place = if shares_first { "=1".to_owned() } else { (index + 1).to_string() };
        let fails = if row.meets() { "" } else { " !" };
        let times = match index {
            0 => "1.00x".to_owned(),
            _ if tie => "~".to_owned(),
            _ => three_digits(row.figure / first.figure) + "x",
        };
        let interval = row.p50_ci95.map_or_else(|| "?".to_owned(), times_between);
        Row::neutral(vec![
            place,
            format!("{}{fails}", plain(&row.name())),
            format_ns(row.p50_ns),
            interval,
            format_ns(row.p99_ns),
            prose::share(row.cpu_share),
            row.effort.to_string(),
            times,
        ])
    };
    let rows = recommendation.ranked.iter().enumerate().map(line).collect();
    Some(Table { notes: prose::footnotes(recommendation), ..Table::new(COLUMNS, rows) })
}

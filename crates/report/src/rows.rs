//! Every row of a run as a table, and every case without one.

use furlong_analysis::{Row, SkippedCase, Unit};
use furlong_model::{DecidingFigure, Depth, format_bytes, format_ns};
use furlong_render::document::{Cell, Column, Row as Line, Table};
use furlong_render::{format_count, format_digits, marked_name, plain, plain_sentence};

/// Returns the cell of a column, or `None` if the row has no such figure.
type Figure = fn(&Row) -> Option<Cell>;

/// The columns of the table of rows; one that no row has is left out.
static COLUMNS: [(Column, Figure); 21] = [
    (Column::words("row"), |row| Some(Cell::Text(marked_name(row)))),
    (Column::words("ranked among"), |row| Some(Cell::Text(plain(&row.group)))),
    (Column::figures("size"), |row| Some(size(row.case.size_bytes))),
    (Column::figures("place"), |row| row.rank.map(whole)),
    (Column::figures("mean"), |row| row.exchange.mean.map(|mean| time(mean.ns))),
    (Column::figures("p50"), |row| median(row, DecidingFigure::Median)),
    (Column::figures("95 % in run from"), |row| Some(time(row.exchange.deciding().ci95?[0]))),
    (Column::figures("to"), |row| Some(time(row.exchange.deciding().ci95?[1]))),
    (Column::figures("p50"), |row| median(row, DecidingFigure::Mean)),
    (Column::figures("p99"), |row| row.exchange.ns.tail()[0].map(time)),
    (Column::figures("p99.9"), |row| row.exchange.ns.tail()[1].map(time)),
    (Column::figures("p99.99"), |row| row.exchange.ns.tail()[2].map(time)),
    (Column::figures("longest"), |row| Some(time(row.exchange.ns.max))),
    (Column::figures("per second"), |row| {
        Some(Cell::figure(format_count(row.exchange.per_second), row.exchange.per_second))
    }),
    (Column::figures("GB/s"), |row| {
        let gigabytes = row.exchange.bytes_per_second? / 1e9;
        Some(Cell::figure(format_digits(gigabytes), gigabytes))
    }),
    (Column::figures("depth"), depth),
    (Column::figures("CPU time"), |row| Some(time(row.cpu_ns()))),
    (Column::figures("busy"), |row| Some(decimals(row.processors_busy()))),
    (Column::figures("switches"), |row| Some(decimals(row.exchange.switches.all()))),
    (Column::figures("calls"), |row| Some(decimals(row.system_calls()?))),
    (Column::figures("trials"), trials),
];

/// Returns a table of all benchmarks, by group and rank; `None` without any.
pub fn measured(rows: &[Row]) -> Option<Table> {
    let is_there = |(_, figure): &&(Column, Figure)| rows.iter().any(|row| figure(row).is_some());
    let kept: Vec<_> = COLUMNS.iter().filter(is_there).collect();
    let line = |row: &Row| {
        let cells = kept.iter().map(|(_, figure)| figure(row).unwrap_or_else(Cell::none));
        Line::neutral(cells.chain([ties(row)]))
    };
    let ties = Column::words("ties with");
    let columns: Vec<_> = kept.iter().map(|(column, _)| column.clone()).chain([ties]).collect();
    (!rows.is_empty()).then(|| Table::new(columns, rows.iter().map(line).collect()))
}

/// Returns the median of benchmarks with this deciding figure: if the mean decides, the median is behind the interval of the mean.
fn median(row: &Row, deciding: DecidingFigure) -> Option<Cell> {
    (row.case.deciding_figure() == deciding).then(|| time(row.exchange.ns.p50))
}

fn time(ns: f64) -> Cell {
    Cell::figure(format_ns(ns), ns)
}

fn whole(number: usize) -> Cell {
    Cell::figure(number.to_string(), number as f64)
}

fn decimals(number: f64) -> Cell {
    Cell::figure(format!("{number:.2}"), number)
}

/// Returns the cell of a message size.
pub fn size(bytes: usize) -> Cell {
    Cell::figure(format_bytes(bytes), bytes as f64)
}

/// Messages that a row one way holds on the way there.
fn depth(row: &Row) -> Option<Cell> {
    let [there, _]: [Depth; 2] = row.depth.filter(|_| row.exchange.unit == Unit::Message)?;
    let sorted_by = there.messages().map_or(f64::INFINITY, |messages| messages as f64);
    Some(Cell::figure(there.to_string(), sorted_by))
}

fn trials(row: &Row) -> Option<Cell> {
    let text = match row.failed_trials {
        0 => row.trials.to_string(),
        failed => format!("{} ({failed} failed)", row.trials),
    };
    Some(Cell::figure(text, row.trials as f64))
}

fn ties(row: &Row) -> Cell {
    match &row.tied_with[..] {
        [] => Cell::none(),
        [one] => Cell::figure(plain(one), 1.0),
        several => Cell::figure(format!("{} benchmarks", several.len()), several.len() as f64),
    }
}

/// Returns the requested cases that were not measured in every trial, the worst first. Returns `None` if there are
/// none.
pub fn skipped(skipped: &[SkippedCase]) -> Option<Table> {
    let columns = [
        Column::words("row"),
        Column::words("status"),
        Column::figures("trials"),
        Column::words("why"),
        Column::words("remedy"),
    ];
    let line = |entry: &SkippedCase| {
        let became = if entry.is_corruption() { "corrupted" } else { entry.status.name() };
        Line::neutral([
            Cell::Text(plain(&entry.case.to_string())),
            Cell::Text(became.to_owned()),
            whole(entry.trials),
            Cell::Text(plain_sentence(&entry.reason)),
            Cell::Text(plain(&entry.remedy)),
        ])
    };
    (!skipped.is_empty()).then(|| Table::new(columns, skipped.iter().map(line).collect()))
}

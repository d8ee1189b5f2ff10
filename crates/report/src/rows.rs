//! Every row of a run as a table, and every case without one.

use crate::table::{Cell, Head, Table};
use furlong_analysis::{Row, Skipped, Summary, Unit};
use furlong_model::{Depth, format_bytes, format_ns};
use furlong_render::{format_count, format_digits, marked_name, plain, plain_sentence};

/// All rows, by group and rank.
pub fn measured(summary: &Summary) -> Table {
    let has_throughput = summary.rows.iter().any(|row| row.exchange.bytes_per_second.is_some());
    let has_depth = summary.rows.iter().any(|row| depth(row).is_some());
    let has_calls = summary.rows.iter().any(|row| row.exchange.system_calls.is_some());
    let mut heads = vec![
        Head::words("row"),
        Head::words("ranked among"),
        Head::figures("size"),
        Head::figures("place"),
        Head::figures("p50"),
        Head::figures("95 % from"),
        Head::figures("to"),
        Head::figures("p99"),
        Head::figures("p99.9"),
        Head::figures("longest"),
        Head::figures("a second"),
    ];
    if has_throughput {
        heads.push(Head::figures("GB/s"));
    }
    if has_depth {
        heads.push(Head::figures("depth"));
    }
    heads.extend([Head::figures("processor time"), Head::figures("busy"), Head::figures("switches")]);
    if has_calls {
        heads.push(Head::figures("calls"));
    }
    heads.extend([Head::figures("trials"), Head::words("ties with")]);
    let lines = summary.rows.iter().map(|row| line(row, has_throughput, has_depth, has_calls));
    Table { lines: lines.collect(), heads }
}

/// Messages that a row one way holds on the way there.
fn depth(row: &Row) -> Option<Depth> {
    row.depth.filter(|_| row.exchange.unit == Unit::Message).map(|[there, _]| there)
}

fn line(row: &Row, has_throughput: bool, has_depth: bool, has_calls: bool) -> Vec<Cell> {
    let exchange = &row.exchange;
    let time = |ns: f64| Cell::figure(format_ns(ns), ns);
    let number = |value: f64, text: String| Cell::figure(text, value);
    let end = |at: usize| exchange.ns.median_ci95.map_or_else(Cell::none, |ends| time(ends[at]));
    let mut cells = vec![
        Cell::words(marked_name(row)),
        Cell::words(plain(&row.group)),
        number(row.case.size_bytes as f64, format_bytes(row.case.size_bytes)),
        number(row.rank as f64, row.rank.to_string()),
        time(exchange.ns.p50),
        end(0),
        end(1),
        time(exchange.ns.p99),
        time(exchange.ns.p999),
        time(exchange.ns.max),
        number(exchange.per_second, format_count(exchange.per_second)),
    ];
    if has_throughput {
        let gigabytes = exchange.bytes_per_second.map(|bytes| bytes / 1e9);
        cells.push(gigabytes.map_or_else(Cell::none, |value| number(value, format_digits(value))));
    }
    if has_depth {
        cells.push(depth(row).map_or_else(Cell::none, |depth| {
            number(depth.messages().map_or(f64::INFINITY, |messages| messages as f64), depth.to_string())
        }));
    }
    cells.push(time(row.cpu_ns()));
    cells.push(number(row.processors_busy(), format!("{:.2}", row.processors_busy())));
    cells.push(number(exchange.switches.all(), format!("{:.2}", exchange.switches.all())));
    if has_calls {
        cells.push(row.system_calls().map_or_else(Cell::none, |calls| number(calls, format!("{calls:.2}"))));
    }
    let trials = match row.failed_trials {
        0 => row.trials.to_string(),
        failed => format!("{} ({failed} failed)", row.trials),
    };
    cells.push(number(row.trials as f64, trials));
    cells.push(match row.tied_with.len() {
        0 => Cell::none(),
        ties => Cell::figure(
            if ties == 1 { plain(&row.tied_with[0]) } else { format!("{ties} rows") },
            ties as f64,
        ),
    });
    cells
}

/// What was asked for and has no speed, or not in every trial; the worst first.
pub fn skipped(skipped: &[Skipped]) -> Table {
    let heads = ["row", "what became of it"].map(Head::words).into_iter();
    let heads = heads.chain([Head::figures("trials")]).chain(["why", "what would help"].map(Head::words));
    let line = |entry: &Skipped| {
        vec![
            Cell::words(plain(&entry.case.to_string())),
            Cell::words(if entry.is_corruption() {
                "corrupted".to_owned()
            } else {
                entry.status.name().to_owned()
            }),
            Cell::figure(entry.trials.to_string(), entry.trials as f64),
            Cell::words(plain_sentence(&entry.reason)),
            Cell::words(plain(&entry.remedy)),
        ]
    };
    Table { heads: heads.collect(), lines: skipped.iter().map(line).collect() }
}

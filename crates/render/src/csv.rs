//! A summary for a spreadsheet: a line a case, with or without a speed.

use furlong_analysis::text::plain;
use furlong_analysis::{ExchangeFigures, Row, Shares, Skipped, Summary, Unit};
use furlong_model::Case;

/// One line: a case with its figures or with the reason why it has none.
struct Line<'a> {
    case: &'a Case,
    row: Option<&'a Row>,
    skipped: Option<&'a Skipped>,
}

impl Line<'_> {
    fn of_row(&self, cell: impl Fn(&Row) -> String) -> String {
        self.row.map_or_else(String::new, cell)
    }

    fn figure(&self, figure: impl Fn(&Row) -> f64) -> String {
        self.of_row(|row| figure(row).to_string())
    }

    /// A figure that not every row has.
    fn figure_if_any(&self, figure: impl Fn(&Row) -> Option<f64>) -> String {
        self.of_row(|row| figure(row).map_or_else(String::new, |figure| figure.to_string()))
    }

    /// What each of several pairs had.
    fn share(&self, figure: impl Fn(&Shares) -> f64) -> String {
        self.figure_if_any(|row| row.shares.as_ref().map(&figure))
    }

    fn of_skipped(&self, cell: impl Fn(&Skipped) -> String) -> String {
        self.skipped.map_or_else(String::new, cell)
    }
}

/// What fills a column. Empty where a case has no such figure.
#[derive(Clone, Copy)]
enum Cell {
    Of(fn(&Line) -> String),
    /// A figure of rows whose exchange is this.
    Per(Unit, Figure),
}

impl Cell {
    fn text(self, line: &Line) -> String {
        match self {
            Cell::Of(cell) => cell(line),
            Cell::Per(unit, figure) => {
                line.figure_if_any(|row| (row.exchange.unit == unit).then(|| figure(&row.exchange)))
            }
        }
    }
}

/// The name of a column and how to fill it.
type Column = (&'static str, fn(&Line) -> String);

/// A figure of one exchange.
type Figure = fn(&ExchangeFigures) -> f64;

/// Figures of one exchange over both roles; its key stands for `*` in their names.
const PER_EXCHANGE: [(&str, Figure); 7] = [
    ("*s_per_second", |exchange| exchange.per_second),
    ("user_cpu_ns_per_*", |exchange| exchange.cpu_ns.user),
    ("system_cpu_ns_per_*", |exchange| exchange.cpu_ns.system),
    ("voluntary_switches_per_*", |exchange| exchange.switches.voluntary),
    ("involuntary_switches_per_*", |exchange| exchange.switches.involuntary),
    ("minor_faults_per_*", |exchange| exchange.page_faults.minor),
    ("major_faults_per_*", |exchange| exchange.page_faults.major),
];

/// All columns. Units are in their names.
fn columns() -> impl Iterator<Item = (String, Cell)> {
    let of =
        |columns: &'static [Column]| columns.iter().map(|(name, cell)| ((*name).to_owned(), Cell::Of(*cell)));
    let per = |unit: Unit| {
        PER_EXCHANGE
            .into_iter()
            .map(move |(name, figure)| (name.replace('*', unit.key()), Cell::Per(unit, figure)))
    };
    of(&FIRST)
        .chain(per(Unit::RoundTrip))
        .chain(of(&SECOND))
        .chain(per(Unit::Message))
        .chain(of(&THIRD))
        .chain(per(Unit::Link))
}

/// The columns before the figures of round trips.
static FIRST: [Column; 24] = [
    ("mechanism", |line| words(&line.case.mechanism)),
    ("wait", |line| line.case.wait.to_string()),
    ("pattern", |line| line.case.pattern.to_string()),
    ("size_bytes", |line| line.case.size_bytes.to_string()),
    ("placement", |line| line.case.placement.to_string()),
    ("status", |line| line.skipped.map_or("measured", |skipped| skipped.status.name()).to_owned()),
    ("group", |line| line.of_row(|row| row.group.clone())),
    ("rank", |line| line.of_row(|row| row.rank.to_string())),
    ("tied_with", |line| line.of_row(|row| words(&row.tied_with.join(" ")))),
    ("comparable_median_ns", |line| line.figure_if_any(|row| row.comparable.map(|found| found.median_ns))),
    ("comparable_low_ns", |line| line.figure_if_any(|row| row.comparable.map(|found| found.interval_ns[0]))),
    ("comparable_high_ns", |line| line.figure_if_any(|row| row.comparable.map(|found| found.interval_ns[1]))),
    ("trials", |line| {
        line.of_row(|row| row.trials.to_string()) + &line.of_skipped(|skipped| skipped.trials.to_string())
    }),
    ("failed_trials", |line| line.of_row(|row| row.failed_trials.to_string())),
    ("round_trips_per_sample", |line| line.of_row(|row| row.exchange.per_sample.to_string())),
    ("p50_ns", |line| line.figure(|row| row.exchange.ns.p50)),
    ("p90_ns", |line| line.figure(|row| row.exchange.ns.p90)),
    ("p99_ns", |line| line.figure(|row| row.exchange.ns.p99)),
    ("p999_ns", |line| line.figure(|row| row.exchange.ns.p999)),
    ("max_ns", |line| line.figure(|row| row.exchange.ns.max)),
    ("mean_ns", |line| line.figure(|row| row.exchange.ns.mean)),
    ("stddev_ns", |line| line.figure(|row| row.exchange.ns.stddev)),
    ("median_ci95_low_ns", |line| line.figure_if_any(|row| row.exchange.ns.median_ci95.map(|ends| ends[0]))),
    ("median_ci95_high_ns", |line| line.figure_if_any(|row| row.exchange.ns.median_ci95.map(|ends| ends[1]))),
];

/// Those behind them.
static SECOND: [Column; 12] = [
    ("verified", |line| line.of_row(|row| row.verified.to_string())),
    ("processors", |line| {
        line.of_row(|row| row.processors.iter().map(usize::to_string).collect::<Vec<_>>().join(":"))
    }),
    ("arrival", |line| line.case.arrival.to_string()),
    ("trials_drift", |line| line.of_row(|row| row.shape.trials_drift.to_string())),
    ("trials_autocorrelation", |line| line.figure_if_any(|row| row.shape.trials_autocorrelation)),
    ("trials_low_mode_ns", |line| line.figure_if_any(|row| row.shape.trials_bimodal.map(|modes| modes[0]))),
    ("trials_high_mode_ns", |line| line.figure_if_any(|row| row.shape.trials_bimodal.map(|modes| modes[1]))),
    ("samples_low_mode_ns", |line| line.figure_if_any(|row| row.shape.samples_bimodal.map(|modes| modes[0]))),
    ("samples_high_mode_ns", |line| {
        line.figure_if_any(|row| row.shape.samples_bimodal.map(|modes| modes[1]))
    }),
    ("late_sends_share", |line| line.figure_if_any(|row| row.late_sends_share)),
    ("system_calls", |line| line.figure_if_any(Row::system_calls)),
    ("count_method", |line| {
        line.of_row(|row| row.count_method.map_or_else(String::new, |method| method.to_string()))
    }),
];

/// Those behind the figures of messages.
static THIRD: [Column; 24] = [
    ("bytes_per_second", |line| line.figure_if_any(|row| row.exchange.bytes_per_second)),
    ("min_ns", |line| line.figure(|row| row.exchange.ns.min)),
    ("request_bytes", |line| {
        line.case.request.as_ref().map_or_else(String::new, |request| request.size_bytes.to_string())
    }),
    ("request_by", |line| {
        words(line.case.request.as_ref().and_then(|request| request.by.as_deref()).unwrap_or_default())
    }),
    ("buffer_bytes", |line| line.case.buffer_bytes.map_or_else(String::new, |bytes| bytes.to_string())),
    ("access", |line| line.case.access.to_string()),
    ("window", |line| line.case.window.to_string()),
    ("parties", |line| line.case.parties.to_string()),
    ("first_p50_ns", |line| line.figure_if_any(|row| row.reached.map(|reached| reached.first_ns))),
    ("half_p50_ns", |line| line.figure_if_any(|row| row.reached.map(|reached| reached.median_ns))),
    ("lost_share", |line| line.figure_if_any(|row| row.lost_share)),
    ("stalled_receiver", |line| line.case.stall.map_or_else(String::new, |receiver| receiver.to_string())),
    ("others_share_while_asleep", |line| {
        line.figure_if_any(|row| row.stalled.map(|stalled| stalled.others_share))
    }),
    ("fairness", |line| line.share(|shares| shares.fairness)),
    ("least_share", |line| line.share(|shares| shares.least)),
    ("most_share", |line| line.share(|shares| shares.most)),
    ("slowest_per_second", |line| line.share(|shares| shares.slowest_per_second)),
    ("sum_against_one", |line| line.figure_if_any(|row| Some(row.shares?.against_one?.sum))),
    ("slowest_against_one", |line| line.figure_if_any(|row| Some(row.shares?.against_one?.slowest))),
    ("depth_messages", |line| line.of_row(|row| depth(row, 0))),
    ("depth_back_messages", |line| line.of_row(|row| depth(row, 1))),
    ("law", |line| {
        line.of_skipped(|skipped| skipped.law.map_or_else(String::new, |law| law.name().to_owned()))
    }),
    ("reason", |line| line.of_skipped(|skipped| words(&skipped.reason))),
    ("remedy", |line| line.of_skipped(|skipped| words(&skipped.remedy))),
];

/// Messages that it holds in one direction, there or back.
fn depth(row: &Row, way: usize) -> String {
    row.depth.map_or_else(String::new, |depth| depth[way].to_string())
}

/// A header, then a line a row by group and rank, then a line for each skipped case.
///
/// A case that lost some of its trials is in both parts: once with its figures, once with the reason.
pub fn csv(summary: &Summary) -> String {
    sheet([header().collect()].into_iter().chain(lines(summary)))
}

/// The names of all columns.
pub(crate) fn header() -> impl Iterator<Item = String> {
    columns().map(|(name, _)| name)
}

/// The cells of every line.
pub(crate) fn lines(summary: &Summary) -> impl Iterator<Item = Vec<String>> {
    let rows = summary.rows.iter().map(|row| Line { case: &row.case, row: Some(row), skipped: None });
    let skipped =
        summary.skipped.iter().map(|entry| Line { case: &entry.case, row: None, skipped: Some(entry) });
    rows.chain(skipped).map(|line| columns().map(|(_, cell)| cell.text(&line)).collect())
}

/// Lines of equally many cells, quoted where they must be.
pub(crate) fn sheet(lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in lines {
        writer.write_record(cells).expect("every record has the header's length, and memory takes them all");
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Text of a record; a spreadsheet must not take it for a formula.
pub(crate) fn words(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

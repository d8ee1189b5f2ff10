//! What is told of a case, by column, for programs that read tables: a name with its unit, a kind, and a value where there is
//! one.

use furlong_analysis::{ExchangeFigures, Row, Shares, Skipped, Summary, Unit};
use furlong_model::Case;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Truth,
    Whole,
    Figure,
}

/// What stands in a cell that is not empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Truth(bool),
    Whole(u64),
    Figure(f64),
}

impl Value {
    /// Text, of which nothing is said where it is empty.
    pub(crate) fn text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Value::Text(text.to_owned()))
    }
}

/// A case with its figures or with the reason why it has none.
struct Line<'a> {
    case: &'a Case,
    row: Option<&'a Row>,
    skipped: Option<&'a Skipped>,
}

/// What fills a column; nothing where a case has no such figure.
#[derive(Clone, Copy)]
enum Cell {
    /// Of every line.
    Text(fn(&Line) -> String),
    Whole(fn(&Line) -> Option<u64>),
    /// Of lines with figures.
    RowText(fn(&Row) -> String),
    RowTruth(fn(&Row) -> bool),
    RowWhole(fn(&Row) -> Option<u64>),
    Figure(fn(&Row) -> f64),
    FigureIfAny(fn(&Row) -> Option<f64>),
    /// What each of several pairs had.
    Share(fn(&Shares) -> f64),
    /// A figure of rows whose exchange is this.
    Per(Unit, PerExchange),
    /// Of lines without figures.
    SkippedText(fn(&Skipped) -> &str),
}

impl Cell {
    fn kind(self) -> Kind {
        match self {
            Cell::Text(_) | Cell::RowText(_) | Cell::SkippedText(_) => Kind::Text,
            Cell::RowTruth(_) => Kind::Truth,
            Cell::Whole(_) | Cell::RowWhole(_) => Kind::Whole,
            Cell::Figure(_) | Cell::FigureIfAny(_) | Cell::Share(_) | Cell::Per(..) => Kind::Figure,
        }
    }

    fn value(self, line: &Line) -> Option<Value> {
        let &Line { row, skipped, .. } = line;
        match self {
            Cell::Text(cell) => Value::text(&cell(line)),
            Cell::Whole(cell) => cell(line).map(Value::Whole),
            Cell::RowText(cell) => Value::text(&cell(row?)),
            Cell::RowTruth(cell) => Some(Value::Truth(cell(row?))),
            Cell::RowWhole(cell) => cell(row?).map(Value::Whole),
            Cell::Figure(cell) => Some(Value::Figure(cell(row?))),
            Cell::FigureIfAny(cell) => cell(row?).map(Value::Figure),
            Cell::Share(cell) => row?.shares.as_ref().map(cell).map(Value::Figure),
            Cell::Per(unit, figure) => {
                row.filter(|row| row.exchange.unit == unit).map(|row| Value::Figure(figure(&row.exchange)))
            }
            Cell::SkippedText(cell) => Value::text(cell(skipped?)),
        }
    }
}

/// A figure of one exchange.
type PerExchange = fn(&ExchangeFigures) -> f64;

/// Figures of one exchange over both roles; its key stands for `*` in their names.
const PER_EXCHANGE: [(&str, PerExchange); 7] = [
    ("*s_per_second", |exchange| exchange.per_second),
    ("user_cpu_ns_per_*", |exchange| exchange.cpu_ns.user),
    ("system_cpu_ns_per_*", |exchange| exchange.cpu_ns.system),
    ("voluntary_switches_per_*", |exchange| exchange.switches.voluntary),
    ("involuntary_switches_per_*", |exchange| exchange.switches.involuntary),
    ("minor_faults_per_*", |exchange| exchange.page_faults.minor),
    ("major_faults_per_*", |exchange| exchange.page_faults.major),
];

/// All columns. Units are in their names.
fn all() -> impl Iterator<Item = (String, Cell)> {
    let of =
        |columns: &'static [(&str, Cell)]| columns.iter().map(|(name, cell)| ((*name).to_owned(), *cell));
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
        .chain(of(&LAST))
}

/// The columns before the figures of round trips.
static FIRST: [(&str, Cell); 24] = [
    ("mechanism", Cell::Text(|line| line.case.mechanism.clone())),
    ("wait", Cell::Text(|line| line.case.wait.to_string())),
    ("pattern", Cell::Text(|line| line.case.pattern().to_string())),
    ("size_bytes", Cell::Whole(|line| Some(line.case.size_bytes as u64))),
    ("placement", Cell::Text(|line| line.case.placement.to_string())),
    (
        "status",
        Cell::Text(|line| line.skipped.map_or("measured", |skipped| skipped.status.name()).to_owned()),
    ),
    ("group", Cell::RowText(|row| row.group.clone())),
    ("rank", Cell::RowWhole(|row| Some(row.rank as u64))),
    ("tied_with", Cell::RowText(|row| row.tied_with.join(" "))),
    ("comparable_median_ns", Cell::FigureIfAny(|row| row.comparable.map(|found| found.median_ns))),
    ("comparable_low_ns", Cell::FigureIfAny(|row| row.comparable.map(|found| found.interval_ns[0]))),
    ("comparable_high_ns", Cell::FigureIfAny(|row| row.comparable.map(|found| found.interval_ns[1]))),
    (
        "trials",
        Cell::Whole(|line| {
            let of_row = line.row.map(|row| row.trials);
            of_row.or(line.skipped.map(|skipped| skipped.trials)).map(|trials| trials as u64)
        }),
    ),
    ("failed_trials", Cell::RowWhole(|row| Some(row.failed_trials as u64))),
    ("round_trips_per_sample", Cell::RowWhole(|row| Some(row.exchange.per_sample.into()))),
    ("p50_ns", Cell::Figure(|row| row.exchange.ns.p50)),
    ("p90_ns", Cell::Figure(|row| row.exchange.ns.p90)),
    ("p99_ns", Cell::Figure(|row| row.exchange.ns.p99)),
    ("p999_ns", Cell::Figure(|row| row.exchange.ns.p999)),
    ("max_ns", Cell::Figure(|row| row.exchange.ns.max)),
    ("mean_ns", Cell::Figure(|row| row.exchange.ns.mean)),
    ("stddev_ns", Cell::Figure(|row| row.exchange.ns.stddev)),
    ("median_ci95_low_ns", Cell::FigureIfAny(|row| row.exchange.ns.median_ci95.map(|ends| ends[0]))),
    ("median_ci95_high_ns", Cell::FigureIfAny(|row| row.exchange.ns.median_ci95.map(|ends| ends[1]))),
];

/// Those behind them.
static SECOND: [(&str, Cell); 12] = [
    ("verified", Cell::RowTruth(|row| row.verified)),
    (
        "processors",
        Cell::RowText(|row| row.processors.iter().map(usize::to_string).collect::<Vec<_>>().join(":")),
    ),
    ("arrival", Cell::Text(|line| line.case.arrival.to_string())),
    ("trials_drift", Cell::RowTruth(|row| row.shape.trials_drift)),
    ("trials_autocorrelation", Cell::FigureIfAny(|row| row.shape.trials_autocorrelation)),
    ("trials_low_mode_ns", Cell::FigureIfAny(|row| row.shape.trials_bimodal.map(|modes| modes[0]))),
    ("trials_high_mode_ns", Cell::FigureIfAny(|row| row.shape.trials_bimodal.map(|modes| modes[1]))),
    ("samples_low_mode_ns", Cell::FigureIfAny(|row| row.shape.samples_bimodal.map(|modes| modes[0]))),
    ("samples_high_mode_ns", Cell::FigureIfAny(|row| row.shape.samples_bimodal.map(|modes| modes[1]))),
    ("late_sends_share", Cell::FigureIfAny(|row| row.late_sends_share)),
    ("system_calls", Cell::FigureIfAny(Row::system_calls)),
    (
        "count_method",
        Cell::RowText(|row| row.count_method.map_or_else(String::new, |method| method.to_string())),
    ),
];

/// Those behind the figures of messages.
static THIRD: [(&str, Cell); 25] = [
    ("bytes_per_second", Cell::FigureIfAny(|row| row.exchange.bytes_per_second)),
    ("min_ns", Cell::Figure(|row| row.exchange.ns.min)),
    (
        "request_bytes",
        Cell::Whole(|line| line.case.exchange.request().map(|request| request.size_bytes as u64)),
    ),
    (
        "request_by",
        Cell::Text(|line| {
            line.case.exchange.request().and_then(|request| request.by.clone()).unwrap_or_default()
        }),
    ),
    ("buffer_bytes", Cell::Whole(|line| line.case.buffer_bytes.map(|bytes| bytes as u64))),
    ("access", Cell::Text(|line| line.case.access.to_string())),
    ("boundary", Cell::Text(|line| line.case.boundary.to_string())),
    ("window", Cell::Whole(|line| Some(line.case.window().get().into()))),
    ("parties", Cell::Whole(|line| Some(line.case.parties().get().into()))),
    ("first_p50_ns", Cell::FigureIfAny(|row| row.reached.map(|reached| reached.first_ns))),
    ("half_p50_ns", Cell::FigureIfAny(|row| row.reached.map(|reached| reached.median_ns))),
    ("lost_share", Cell::FigureIfAny(|row| row.lost_share)),
    (
        "stalled_receiver",
        Cell::Whole(|line| line.case.exchange.stall().map(|receiver| receiver.get().into())),
    ),
    ("others_share_while_asleep", Cell::FigureIfAny(|row| row.stalled.map(|stalled| stalled.others_share))),
    ("fairness", Cell::Share(|shares| shares.fairness)),
    ("least_share", Cell::Share(|shares| shares.least)),
    ("most_share", Cell::Share(|shares| shares.most)),
    ("slowest_per_second", Cell::Share(|shares| shares.slowest_per_second)),
    ("sum_against_one", Cell::FigureIfAny(|row| Some(row.shares?.against_one?.sum))),
    ("slowest_against_one", Cell::FigureIfAny(|row| Some(row.shares?.against_one?.slowest))),
    ("depth_messages", Cell::RowText(|row| depth(row, 0))),
    ("depth_back_messages", Cell::RowText(|row| depth(row, 1))),
    ("law", Cell::SkippedText(|skipped| skipped.law.map_or("", |law| law.name()))),
    ("reason", Cell::SkippedText(|skipped| &skipped.reason)),
    ("remedy", Cell::SkippedText(|skipped| &skipped.remedy)),
];

/// Columns behind the figures of links.
static LAST: [(&str, Cell); 4] = [
    ("p9999_ns", Cell::FigureIfAny(|row| row.exchange.ns.p9999)),
    ("samples", Cell::RowWhole(|row| Some(row.exchange.ns.samples))),
    ("cpu_ci95_low_ns", Cell::FigureIfAny(|row| row.exchange.cpu_ns.ci95.map(|ends| ends[0]))),
    ("cpu_ci95_high_ns", Cell::FigureIfAny(|row| row.exchange.cpu_ns.ci95.map(|ends| ends[1]))),
];

/// Messages that it holds in one direction, there or back.
fn depth(row: &Row, way: usize) -> String {
    row.depth.map_or_else(String::new, |depth| depth[way].to_string())
}

/// The names and kinds of all columns.
pub(crate) fn columns() -> impl Iterator<Item = (String, Kind)> {
    all().map(|(name, cell)| (name, cell.kind()))
}

/// The cells of every line: a row by group and rank, then each skipped case.
///
/// A case that lost some of its trials is in both parts: once with its figures, once with the reason.
pub(crate) fn lines(summary: &Summary) -> impl Iterator<Item = Vec<Option<Value>>> {
    let rows = summary.rows.iter().map(|row| Line { case: &row.case, row: Some(row), skipped: None });
    let skipped =
        summary.skipped.iter().map(|entry| Line { case: &entry.case, row: None, skipped: Some(entry) });
    rows.chain(skipped).map(|line| all().map(|(_, cell)| cell.value(&line)).collect())
}

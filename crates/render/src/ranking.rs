//! The columns of a ranking, shared by every format that shows tables.

use super::document::Column as Head;
use super::words::{IN_RUN, in_run};
use furlong_analysis::text::{decimals, format_count, format_digits, format_ratio, plain, times_between};
use furlong_analysis::{AgainstOne, Group, Reached, Row, Shares, Summary, Unit};
use furlong_model::{Arrival, format_ns};
use furlong_stats::coverage;

/// A row with what its cells need to know about its group.
pub(crate) struct Entry<'a> {
    /// The row.
    pub row: &'a Row,
    /// Whether other rows are in the same place.
    shares_place: bool,
}

/// One column of a ranking.
pub(crate) struct Column {
    /// What stands above it.
    pub head: Head,
    /// What stands in it.
    pub cell: fn(&Entry) -> String,
    /// Whether a row has such a figure: a column that no row has is left out of its table.
    has: fn(&Row) -> bool,
}

/// The column of the interval, whose name is that of [`interval_head`] when it is printed.
const INTERVAL: &str = IN_RUN;

/// The column of the number of trials.
const TRIALS: &str = "trials";

/// The columns of the tail.
pub(crate) const TAIL: [&str; 3] = ["p99", "p99.9", "p99.99"];

/// The cell of a percentile for which there are too few samples.
pub(crate) const UNKNOWN: &str = "–";

/// Columns that go first in a table of messages at a rate, because the tail is the question there. The rate was asked for.
const BEFORE_TAIL: [(&str, u8); 10] = [
    ("switches", 9),
    ("calls", 9),
    ("trips/s", 8),
    ("messages/s", 8),
    ("from-to", 7),
    ("trials", 6),
    (INTERVAL, 5),
    ("p99.99", 4),
    ("p99.9", 3),
    ("max", 2),
];

/// All columns, in order.
static COLUMNS: [Column; 33] = [
    column(Head::figures("#"), place),
    column(Head::words("row"), |entry| marked_name(entry.row)),
    column_if(|row| has_throughput(row) && is_stream(row), Head::figures("GB/s"), throughput),
    column_if(has_depth, Head::figures("depth"), depth),
    column_if(is_fan_out, Head::figures("first"), |entry| reached(entry, |reached| reached.first_ns)),
    column_if(is_fan_out, Head::figures("half").expendable(4), |entry| {
        reached(entry, |reached| reached.median_ns)
    }),
    column(Head::figures("p50"), |entry| format_ns(entry.row.exchange.ns.p50)),
    column(Head::figures(INTERVAL).expendable(2), |entry| {
        entry.row.exchange.ns.median_ci95.map_or_else(|| "?".to_owned(), times_between)
    }),
    column(Head::figures(TRIALS).expendable(3), |entry| entry.row.trials.to_string()),
    column_if(has_percentiles, Head::figures(TAIL[0]).expendable(1), |entry| in_tail(entry, 0)),
    column_if(has_percentiles, Head::figures(TAIL[1]).expendable(6), |entry| in_tail(entry, 1)),
    column_if(has_far_tail, Head::figures(TAIL[2]).expendable(7), |entry| in_tail(entry, 2)),
    column_if(has_percentiles, Head::figures("max").expendable(8), |entry| {
        format_ns(entry.row.exchange.ns.max)
    }),
    // At a rate, bytes per second are what was asked.
    column_if(|row| has_throughput(row) && !is_stream(row), Head::figures("GB/s").expendable(7), throughput),
    column_if(is_one_trip, Head::figures("trips/s").expendable(5), rate),
    column_if(is_one_message, Head::figures("messages/s").expendable(5), rate),
    column_if(is_link, Head::figures("links/s").expendable(5), rate),
    column_if(has_shares, Head::figures("all/s"), rate),
    column_if(is_against_one, Head::figures("all"), |entry| against_one(entry, |against| against.sum)),
    column_if(is_against_one, Head::figures("slowest"), |entry| {
        against_one(entry, |against| against.slowest)
    }),
    column_if(has_shares, Head::figures("fairness"), |entry| {
        shared(entry, |shares| format!("{:.3}", shares.fairness))
    }),
    column_if(has_shares, Head::figures("shares").expendable(4), |entry| {
        shared(entry, |shares| format!("{:.1}-{:.1} %", 100.0 * shares.least, 100.0 * shares.most))
    }),
    column_if(has_losses, Head::figures("lost"), |entry| {
        entry.row.lost_share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share))
    }),
    column_if(sends_again, Head::figures("sent again"), |entry| {
        entry.row.sent_again_share.map_or_else(String::new, |share| format!("{:.2} %", 100.0 * share))
    }),
    column_if(has_stall, Head::figures("others"), |entry| {
        entry.row.stalled.map_or_else(String::new, |stalled| format!("{:.1} %", 100.0 * stalled.others_share))
    }),
    column_if(is_round_trip, Head::figures("CPU/trip"), processor_time),
    column_if(is_message, Head::figures("CPU/message"), processor_time),
    column_if(is_whole_run, Head::figures("CPU/run"), processor_time),
    column_if(is_link, Head::figures("CPU/link"), processor_time),
    column(Head::figures("switches").expendable(4), |entry| {
        decimals(Some(entry.row.exchange.switches.all()))
    }),
    column_if(is_counted, Head::figures("calls").expendable(4), calls),
    column(Head::figures("vs first"), ratio),
    column_if(is_compared, Head::figures("from-to").expendable(3), ratio_between),
];

/// A column that every row has.
const fn column(head: Head, cell: fn(&Entry) -> String) -> Column {
    column_if(|_| true, head, cell)
}

/// A column of the rows that have such a figure.
const fn column_if(has: fn(&Row) -> bool, head: Head, cell: fn(&Entry) -> String) -> Column {
    Column { head, cell, has }
}

fn is_round_trip(row: &Row) -> bool {
    row.exchange.unit == Unit::RoundTrip && !is_whole_run(row)
}

/// Of programs that do not say how many exchanges they do.
fn is_whole_run(row: &Row) -> bool {
    row.programs.as_ref().is_some_and(|programs| !programs.counts)
}

/// Programs of somebody else's are timed once in a trial.
fn has_percentiles(row: &Row) -> bool {
    row.programs.is_none()
}

/// Whether there are enough samples for the farthest percentile.
fn has_far_tail(row: &Row) -> bool {
    has_percentiles(row) && row.exchange.ns.p9999.is_some()
}

/// Formats a percentile of the tail.
fn in_tail(entry: &Entry, at: usize) -> String {
    entry.row.exchange.ns.tail()[at].map_or_else(|| UNKNOWN.to_owned(), format_ns)
}

/// Returns the columns of the tail in which some row has too few samples.
pub(crate) fn unknown_in_tail(summary: &Summary) -> Vec<&'static str> {
    let rows = || summary.rows.iter().filter(|row| has_percentiles(row));
    let any_far = rows().any(has_far_tail);
    let lacks = |at: &usize| rows().any(|row| row.exchange.ns.tail()[*at].is_none()) && (*at < 2 || any_far);
    (0..TAIL.len()).filter(lacks).map(|at| TAIL[at]).collect()
}

fn is_message(row: &Row) -> bool {
    row.exchange.unit == Unit::Message
}

/// Whether messages follow each other at once, so that their number is a result.
fn is_stream(row: &Row) -> bool {
    row.case.arrival.is_closed_loop()
}

/// Whether each message went to every receiver.
pub(crate) fn is_fan_out(row: &Row) -> bool {
    row.reached.is_some()
}

fn reached(entry: &Entry, figure: fn(&Reached) -> f64) -> String {
    entry.row.reached.as_ref().map_or_else(String::new, |reached| format_ns(figure(reached)))
}

fn is_one_trip(row: &Row) -> bool {
    is_round_trip(row) && !has_shares(row)
}

fn is_one_message(row: &Row) -> bool {
    is_message(row) && !has_shares(row)
}

/// Whether there were several pairs.
pub(crate) fn has_shares(row: &Row) -> bool {
    row.shares.is_some()
}

/// Whether one alone was measured too.
pub(crate) fn is_against_one(row: &Row) -> bool {
    row.shares.as_ref().is_some_and(|shares| shares.against_one.is_some())
}

/// Whether receivers may have lost messages.
pub(crate) fn has_losses(row: &Row) -> bool {
    row.lost_share.is_some()
}

/// Whether what was lost on the way was sent again.
pub(crate) fn sends_again(row: &Row) -> bool {
    row.sent_again_share.is_some()
}

/// Whether one of several receivers slept for a while.
pub(crate) fn has_stall(row: &Row) -> bool {
    row.stalled.is_some()
}

/// A figure of what each of several had.
fn shared(entry: &Entry, figure: fn(&Shares) -> String) -> String {
    entry.row.shares.as_ref().map_or_else(String::new, figure)
}

/// In multiples of one pair alone; `?` where that was not measured.
fn against_one(entry: &Entry, figure: fn(&AgainstOne) -> f64) -> String {
    let Some(shares) = &entry.row.shares else { return String::new() };
    shares.against_one.as_ref().map_or_else(|| "?".to_owned(), |against| format_digits(figure(against)) + "x")
}

fn is_link(row: &Row) -> bool {
    row.exchange.unit == Unit::Link
}

fn has_throughput(row: &Row) -> bool {
    row.exchange.bytes_per_second.is_some()
}

/// What holds a sender back that nobody answers. In a round trip one message is under way.
pub(crate) fn has_depth(row: &Row) -> bool {
    is_message(row) && is_stream(row) && row.depth.is_some()
}

/// Messages that it holds on the way there; `?` where a run of before did not say.
fn depth(entry: &Entry) -> String {
    entry.row.depth.map_or_else(|| "?".to_owned(), |[there, _]| there.to_string())
}

/// Bytes that arrive in a second, in 10^9.
fn throughput(entry: &Entry) -> String {
    entry.row.exchange.bytes_per_second.map_or_else(|| "?".to_owned(), |bytes| format_digits(bytes / 1e9))
}

fn rate(entry: &Entry) -> String {
    format_count(entry.row.exchange.per_second)
}

fn processor_time(entry: &Entry) -> String {
    format_ns(entry.row.cpu_ns())
}

/// The columns of a table with these entries.
pub(crate) fn columns(entries: &[Entry]) -> Vec<&'static Column> {
    let is_there = |column: &&Column| entries.iter().any(|entry| (column.has)(entry.row));
    // Where all rows have the same number, it says nothing.
    let trials_differ = entries.windows(2).any(|pair| pair[0].row.trials != pair[1].row.trials);
    let is_needed = |column: &&Column| column.head.name != TRIALS || trials_differ;
    let mut columns: Vec<&Column> = Vec::new();
    for column in COLUMNS.iter().filter(is_there).filter(is_needed) {
        // A column may have two places: for streams and for messages at a rate.
        if !columns.iter().any(|other| other.head.name == column.head.name) {
            columns.push(column);
        }
    }
    columns
}

/// Returns the heading of the interval, and the fewest trials of rows that have one: few trials have a lower coverage, and the
/// lowest is printed.
pub(crate) fn interval_head<'a>(rows: impl Iterator<Item = &'a Row>, across: u32) -> (String, Option<usize>) {
    let fewest = rows.filter(|row| !has_no_interval(row)).map(|row| row.trials).min();
    let name = match fewest {
        None => "interval".to_owned(),
        Some(_) if across > 1 => format!("{across} times"),
        Some(fewest) => in_run(coverage(fewest)),
    };
    (name, fewest)
}

/// Returns the heads of the columns of one or more tables with these entries.
pub(crate) fn heads(columns: &[&Column], entries: &[Entry], across: u32) -> Vec<Head> {
    let (interval, _) = interval_head(entries.iter().map(|entry| entry.row), across);
    let is_paced = entries.iter().all(|entry| matches!(entry.row.case.arrival, Arrival::Interval(_)));
    let head = |column: &&Column| {
        let mut head = column.head.clone();
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

/// The entries of a group, by rank.
pub(crate) fn entries<'a>(summary: &'a Summary, group: &'a Group) -> Vec<Entry<'a>> {
    let rows: Vec<_> = summary.rows_of(group).collect();
    let shares = |row: &Row| rows.iter().filter(|other| other.rank == row.rank).count() > 1;
    rows.iter().map(|row| Entry { row, shares_place: shares(row) }).collect()
}

fn place(entry: &Entry) -> String {
    let tie = if entry.shares_place { "=" } else { "" };
    format!("{tie}{}", entry.row.rank)
}

/// A row's name, and marks that footnotes explain.
pub fn marked_name(row: &Row) -> String {
    let marks = [is_batched, has_no_interval, has_failed_trials, is_doubtful].map(|mark| mark(row));
    let marks = marks.iter().zip(["*", "?", "!", "^"]).filter(|(applies, _)| **applies).map(|(_, sign)| sign);
    let marks: String = marks.collect();
    let name = plain(&row.case.row());
    if marks.is_empty() { name } else { format!("{name} {marks}") }
}

/// `*`: its percentiles are of means.
pub(crate) fn is_batched(row: &Row) -> bool {
    is_round_trip(row) && has_percentiles(row) && row.exchange.per_sample > 1
}

/// `?`: nobody knows how sure its place is.
pub(crate) fn has_no_interval(row: &Row) -> bool {
    row.exchange.ns.median_ci95.is_none()
}

/// `!`: some of its trials did not end well.
pub(crate) fn has_failed_trials(row: &Row) -> bool {
    row.failed_trials > 0
}

/// `^`: its median or its interval is doubtful.
pub(crate) fn is_doubtful(row: &Row) -> bool {
    row.shape.is_doubtful()
}

fn is_counted(row: &Row) -> bool {
    row.exchange.system_calls.is_some()
}

/// `?` was not counted, where others were.
fn calls(entry: &Entry) -> String {
    decimals(entry.row.system_calls())
}

pub(crate) fn is_compared(row: &Row) -> bool {
    row.vs_first.is_some_and(|ratio| ratio.interval.is_some() && !ratio.is_tie())
}

/// Formats the ratio to the first row; `~` for a tie.
fn ratio(entry: &Entry) -> String {
    match entry.row.vs_first {
        None => "1.00x".to_owned(),
        Some(ratio) if ratio.is_tie() => "~".to_owned(),
        Some(ratio) => format_ratio(ratio.times) + "x",
    }
}

/// Formats the interval of that ratio.
fn ratio_between(entry: &Entry) -> String {
    let interval = entry.row.vs_first.and_then(|ratio| ratio.interval);
    interval.map_or_else(String::new, |ends| ends.map(format_ratio).join("-"))
}

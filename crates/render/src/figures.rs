//! The figures of a row, declared once for all formats: tables, their notes, CSV, Parquet, JSON keys aside, and OpenMetrics.
//!
//! The order of the list is the order of columns in tables.

use super::cells::{Cell, Key};
use super::counting::counted;
use super::document::Block;
use super::marks::{has_no_interval, has_percentiles, is_batched, is_round_trip, is_whole_run, marked_name};
use super::words::{IN_RUN, count, in_run};
use furlong_analysis::text::{
    decimals, format_count, format_digits, format_ratio, ratios_between, times_between,
};
use furlong_analysis::{
    AgainstOne, BatchFigures, HighestRate, PayloadKind, ReachMedians, Row, Shares, Summary, Unit,
};
use furlong_model::{DecidingFigure, format_ns};
use furlong_stats::{coverage, sort_by_key, trials_of_comparison};

/// A row with what its cells need to know about its group.
pub(crate) struct Entry<'a> {
    /// The row.
    pub row: &'a Row,
    /// Whether other rows are in the same place.
    pub shares_place: bool,
}

/// A figure of a row, or several with one note.
pub(crate) struct Figure {
    /// The heading in tables; empty for figures that tables omit.
    pub name: &'static str,
    /// Whether the column has words, and not numbers.
    pub words: bool,
    /// Narrow tables omit the columns with the highest numbers first, and those with 0 never.
    pub expendable: u8,
    /// The text in tables.
    pub cell: fn(&Entry) -> String,
    /// Whether a row has the figure. A table omits a column that no row has.
    pub has: fn(&Row) -> bool,
    /// Columns of CSV and Parquet.
    pub keys: &'static [Key],
    /// Notes below tables.
    pub notes: &'static [Note],
    /// Metrics of OpenMetrics.
    pub metrics: &'static [Metric],
}

/// A note below tables. Notes are printed by ascending number.
pub(crate) enum Note {
    /// A text that is printed if some row has the figure.
    Always(u8, &'static str),
    /// A text that is printed with tables that have the column.
    WithColumn(u8, &'static str),
    /// Blocks that depend on the rows.
    Made(u8, fn(&Summary) -> Vec<Block>),
}

/// A metric of OpenMetrics.
pub(crate) struct Metric {
    /// The name without `furlong_`, with the unit.
    pub name: &'static str,
    /// The text of `HELP`.
    pub help: &'static str,
    /// Returns the values of a row.
    pub series: fn(&Row) -> Vec<Sample>,
}

/// A value of a metric, with the name and the value of its label if it needs one.
pub(crate) type Sample = (Option<[&'static str; 2]>, f64);

/// Returns the notes of all figures that rows have.
pub(crate) fn notes(summary: &Summary) -> Vec<Block> {
    let mut numbered: Vec<(u8, Block)> = Vec::new();
    for figure in &FIGURES {
        let has = summary.rows.iter().any(figure.has);
        for note in figure.notes {
            match note {
                Note::Always(at, text) if has => {
                    numbered.push((*at, Block::Footnotes(vec![(*text).to_owned()])))
                }
                Note::WithColumn(at, text) if has => {
                    let legend = Block::Legend(vec![figure.name.to_owned()], None, vec![(*text).to_owned()]);
                    numbered.push((*at, legend));
                }
                Note::Always(..) | Note::WithColumn(..) => {}
                Note::Made(at, make) => numbered.extend(make(summary).into_iter().map(|block| (*at, block))),
            }
        }
    }
    sort_by_key(&mut numbered, |(at, _)| *at);
    numbered.into_iter().map(|(_, block)| block).collect()
}

/// Returns a footnote if there is a text.
fn footnote(text: Option<String>) -> Vec<Block> {
    text.into_iter().map(|text| Block::Footnotes(vec![text])).collect()
}

/// The column of the interval. Its heading is that of [`interval_head`].
pub(crate) const INTERVAL: &str = IN_RUN;

/// The column of the number of trials.
pub(crate) const TRIALS: &str = "trials";

/// The columns of the tail.
pub(crate) const TAIL: [&str; 3] = ["p99", "p99.9", "p99.99"];

/// Cell of a percentile with too few samples.
pub(crate) const UNKNOWN: &str = "–";

/// Figures of all rows that tables omit.
const UNSEEN: Figure = figure("", |_| String::new());

/// Returns a figure of all rows with its heading and its text in tables.
const fn figure(name: &'static str, cell: fn(&Entry) -> String) -> Figure {
    Figure { name, words: false, expendable: 0, cell, has: |_| true, keys: &[], notes: &[], metrics: &[] }
}

impl Figure {
    const fn words(mut self) -> Self {
        self.words = true;
        self
    }

    const fn expendable(mut self, expendable: u8) -> Self {
        self.expendable = expendable;
        self
    }

    const fn when(mut self, has: fn(&Row) -> bool) -> Self {
        self.has = has;
        self
    }

    const fn keys(mut self, keys: &'static [Key]) -> Self {
        self.keys = keys;
        self
    }

    const fn notes(mut self, notes: &'static [Note]) -> Self {
        self.notes = notes;
        self
    }

    const fn metrics(mut self, metrics: &'static [Metric]) -> Self {
        self.metrics = metrics;
        self
    }
}

/// The column of bytes per second, which has two places: for streams and for messages at a rate.
const GB_PER_SECOND: &str = "GB/s";

const DEPTH: &str = "depth: minimum number of messages in flight before the sender waits for the receiver. With a \
                     depth of 1, both sides take turns.";

const TO_ALL: &str = "Each message goes to every receiver, over separate links or one broadcast link. p50, p99 and so \
                      on: time until the last receiver has it; first: until the first receiver has it. One message is \
                      in flight.";

const SHARED_END: &str = "Senders or workers share one end of a link, and all receivers together got exactly the sent \
                          messages. p50 and so on: time from message to message at one receiver or, with workers, at \
                          the single sender.";

const ALL: &str = "all/s: total rate; a message to several receivers counts once for each.";

const FAIRNESS: &str = "fairness: Jain's index, 1 if all have the same rate, 1/n if one has the whole rate.";

const LOST: &str = "lost: share of the messages that a receiver did not get, because the sender never waits: they \
                    were overwritten before they were read, or dropped because there was no room. All received \
                    messages are complete and in order; all/s counts them.";

const SENT_AGAIN: &str = "sent again: messages that were lost, or whose answers were lost, per 100 answered round \
                          trips. They are sent again after 200 ms, as with TCP, or after three round-trip times. \
                          Such a round trip includes that delay: p50 hardly shows it, but higher percentiles do.";

const OTHERS: &str = "others: rate of all other receivers while one receiver sleeps, relative to their rate before. \
                      It is measured in a separate part of the trial; in all other parts, no receiver is put to sleep.";

/// All figures.
pub(crate) static FIGURES: [Figure; 41] = [
    figure("#", place)
        .keys(&[
            Key::One(7, "rank", Cell::RowWhole(|row| row.rank.map(|rank| rank as u64))),
            Key::One(8, "tied_with", Cell::RowText(|row| row.tied_with.join(" "))),
        ])
        .notes(&[Note::Made(10, tied)]),
    figure("row", |entry| marked_name(entry.row)).words(),
    figure(GB_PER_SECOND, throughput)
        .when(|row| has_throughput(row) && is_stream(row))
        .keys(&[Key::One(50, "bytes_per_second", Cell::FigureIfAny(|row| row.exchange.bytes_per_second))])
        .metrics(&[Metric {
            name: "bytes_per_second",
            help: "Bytes of one-way messages or answers per second",
            series: |row| row.exchange.bytes_per_second.map(|bytes| (None, bytes)).into_iter().collect(),
        }]),
    figure("depth", |entry| entry.row.depth.map_or_else(|| "?".to_owned(), |[there, _]| there.to_string()))
        .when(has_depth)
        .keys(&[
            Key::One(70, "depth_messages", Cell::RowText(|row| depth(row, 0))),
            Key::One(71, "depth_back_messages", Cell::RowText(|row| depth(row, 1))),
        ])
        .expendable(4)
        .notes(&[Note::WithColumn(13, DEPTH)]),
    figure("first", |entry| reached(entry, |reached| reached.first_ns))
        .when(is_fan_out)
        .keys(&[Key::One(59, "first_p50_ns", Cell::FigureIfAny(|row| Some(row.reached?.first_ns)))])
        .notes(&[Note::Always(15, TO_ALL)]),
    figure("half", |entry| reached(entry, |reached| reached.median_ns))
        .expendable(4)
        .when(is_fan_out)
        .keys(&[Key::One(60, "half_p50_ns", Cell::FigureIfAny(|row| Some(row.reached?.median_ns)))])
        .notes(&[Note::WithColumn(2, "half: until half of the receivers have it.")]),
    figure("mean", |entry| entry.row.exchange.mean.map_or_else(String::new, |mean| format_ns(mean.ns)))
        .when(|row| row.exchange.mean.is_some())
        .notes(&[Note::Made(1, means)]),
    figure("p50", p50)
        .when(|row| row.exchange.mean.is_none())
        .keys(&[
            Key::One(
                14,
                "round_trips_per_sample",
                Cell::RowWhole(|row| Some(row.exchange.per_sample.into())),
            ),
            Key::One(15, "p50_ns", Cell::Figure(|row| row.exchange.ns.p50)),
        ])
        .notes(&[Note::Made(11, batched), Note::Made(12, streamed)])
        .metrics(&[
            Metric {
                name: "round_trip_seconds",
                help: "Time of a round trip",
                series: |row| quantiles(row, Unit::RoundTrip),
            },
            Metric {
                name: "message_seconds",
                help: "Time of a one-way message",
                series: |row| quantiles(row, Unit::Message),
            },
            Metric {
                name: "link_seconds",
                help: "Lifetime of a link that carries one message",
                series: |row| quantiles(row, Unit::Link),
            },
        ]),
    figure(INTERVAL, |entry| {
        entry.row.exchange.deciding().ci95.map_or_else(|| "?".to_owned(), times_between)
    })
    .expendable(2)
    .keys(&[
        Key::One(22, "median_ci95_low_ns", Cell::FigureIfAny(|row| Some(row.exchange.ns.median_ci95?[0]))),
        Key::One(23, "median_ci95_high_ns", Cell::FigureIfAny(|row| Some(row.exchange.ns.median_ci95?[1]))),
    ])
    .notes(&[Note::Made(0, intervals)]),
    figure("p50", p50).expendable(2).when(|row| row.case.deciding_figure() == DecidingFigure::Mean),
    figure(TRIALS, |entry| entry.row.trials.to_string()).expendable(3).keys(&[
        Key::One(
            12,
            "trials",
            Cell::Whole(|line| {
                let of_row = line.row.map(|row| row.trials);
                of_row.or(line.skipped.map(|skipped| skipped.trials)).map(|trials| trials as u64)
            }),
        ),
        Key::One(13, "failed_trials", Cell::RowWhole(|row| Some(row.failed_trials as u64))),
    ]),
    figure(TAIL[0], |entry| in_tail(entry, 0))
        .expendable(1)
        .when(has_percentiles)
        .keys(&[
            Key::One(16, "p90_ns", Cell::Figure(|row| row.exchange.ns.p90)),
            Key::One(17, "p99_ns", Cell::Figure(|row| row.exchange.ns.p99)),
        ])
        .notes(&[Note::Made(4, few_samples)]),
    figure(TAIL[1], |entry| in_tail(entry, 1)).expendable(6).when(has_percentiles).keys(&[Key::One(
        18,
        "p999_ns",
        Cell::Figure(|row| row.exchange.ns.p999),
    )]),
    figure(TAIL[2], |entry| in_tail(entry, 2)).expendable(7).when(has_far_tail).keys(&[
        Key::One(82, "p9999_ns", Cell::FigureIfAny(|row| row.exchange.ns.p9999)),
        Key::One(83, "samples", Cell::RowWhole(|row| Some(row.exchange.ns.samples))),
    ]),
    figure("max", |entry| format_ns(entry.row.exchange.ns.max)).expendable(8).when(has_percentiles).keys(&[
        Key::One(19, "max_ns", Cell::Figure(|row| row.exchange.ns.max)),
        Key::One(20, "mean_ns", Cell::Figure(|row| row.exchange.ns.mean)),
        Key::One(21, "stddev_ns", Cell::Figure(|row| row.exchange.ns.stddev)),
        Key::One(51, "min_ns", Cell::Figure(|row| row.exchange.ns.min)),
    ]),
    // At a fixed rate, bytes per second only repeat the requested rate.
    figure(GB_PER_SECOND, throughput).expendable(7).when(|row| has_throughput(row) && !is_stream(row)),
    figure("trips/s", rate)
        .expendable(5)
        .when(is_one_trip)
        .keys(&[Key::PerExchange(0, "*s_per_second", |exchange| exchange.per_second)])
        .metrics(&[Metric {
            name: "exchanges_per_second",
            help: "Round trips, messages or links per second",
            series: |row| vec![(None, row.exchange.per_second)],
        }]),
    figure("messages/s", rate).expendable(5).when(is_one_message).notes(&[Note::Made(14, delivered)]),
    figure("links/s", rate).expendable(5).when(is_link),
    UNSEEN
        .when(|row| row.case.pattern().shares_an_end() && is_stream(row))
        .notes(&[Note::Always(16, SHARED_END)]),
    figure("all/s", rate).when(has_shares).notes(&[Note::Always(17, ALL)]),
    figure("all", |entry| against_one(entry, |against| against.sum))
        .when(is_against_one)
        .keys(&[Key::One(68, "sum_against_one", Cell::FigureIfAny(|row| Some(row.shares?.against_one?.sum)))])
        .notes(&[Note::Made(18, compared_with_one)]),
    figure("slowest", |entry| against_one(entry, |against| against.slowest))
        .expendable(4)
        .when(is_against_one)
        .notes(&[Note::WithColumn(5, "slowest: rate of the slowest relative to one alone.")])
        .keys(&[
            Key::One(67, "slowest_per_second", Cell::Share(|shares| shares.slowest_per_second)),
            Key::One(
                69,
                "slowest_against_one",
                Cell::FigureIfAny(|row| Some(row.shares?.against_one?.slowest)),
            ),
        ]),
    figure("fairness", |entry| shared(entry, |shares| format!("{:.3}", shares.fairness)))
        .expendable(4)
        .when(has_shares)
        .notes(&[Note::WithColumn(17, FAIRNESS)])
        .keys(&[Key::One(64, "fairness", Cell::Share(|shares| shares.fairness))]),
    figure("shares", |entry| {
        let percent = |share: f64| format_digits(100.0 * share);
        entry.row.shares.map_or_else(String::new, |shares| {
            format!("{}-{} %", percent(shares.least), percent(shares.most))
        })
    })
    .expendable(3)
    .when(has_shares)
    .keys(&[
        Key::One(65, "least_share", Cell::Share(|shares| shares.least)),
        Key::One(66, "most_share", Cell::Share(|shares| shares.most)),
    ])
    .notes(&[Note::WithColumn(3, "shares: the smallest and the largest share of one in the total.")]),
    figure("per call", messages_per_call)
        .when(|row| row.batches.is_some())
        .notes(&[Note::WithColumn(4, "per call: messages per call of the sender / of the receiver.")]),
    UNSEEN
        .keys(&[
            Key::One(87, "objective", Cell::RowText(objective)),
            Key::One(88, "highest_per_second", Cell::FigureIfAny(|row| highest_rate(row).per_second)),
            Key::One(89, "highest_low_per_second", Cell::FigureIfAny(|row| highest_rate(row).low)),
            Key::One(90, "highest_high_per_second", Cell::FigureIfAny(|row| highest_rate(row).high)),
        ])
        .metrics(&[Metric {
            name: "highest_rate_per_second",
            help: "Highest rate that keeps the objective of the run, with its 95 % interval",
            series: |row| {
                let HighestRate { per_second, low, high } = highest_rate(row);
                let bounds = [("estimate", per_second), ("low", low), ("high", high)];
                bounds.into_iter().filter_map(|(name, rate)| Some((Some(["bound", name]), rate?))).collect()
            },
        }]),
    figure("lost", |entry| percent(entry.row.lost_share, 1))
        .when(|row| row.lost_share.is_some())
        .keys(&[Key::One(61, "lost_share", Cell::FigureIfAny(|row| row.lost_share))])
        .notes(&[Note::Always(19, LOST)]),
    figure("sent again", |entry| percent(entry.row.sent_again_share, 2))
        .when(|row| row.sent_again_share.is_some())
        .notes(&[Note::Always(20, SENT_AGAIN)]),
    figure("others", |entry| percent(entry.row.stalled.map(|stalled| stalled.others_share), 1))
        .when(|row| row.stalled.is_some())
        .keys(&[
            Key::One(
                62,
                "stalled_receiver",
                Cell::Whole(|line| line.case.exchange.stall().map(|receiver| receiver.get().into())),
            ),
            Key::One(
                63,
                "others_share_while_asleep",
                Cell::FigureIfAny(|row| row.stalled.map(|stalled| stalled.others_share)),
            ),
        ])
        .notes(&[Note::Always(21, OTHERS)]),
    figure("CPU/trip", processor_time)
        .when(is_round_trip)
        .keys(&[
            Key::PerExchange(1, "user_cpu_ns_per_*", |exchange| exchange.cpu_ns.user),
            Key::PerExchange(2, "system_cpu_ns_per_*", |exchange| exchange.cpu_ns.system),
            Key::One(84, "cpu_ci95_low_ns", Cell::FigureIfAny(|row| Some(row.exchange.cpu_ns.ci95?[0]))),
            Key::One(85, "cpu_ci95_high_ns", Cell::FigureIfAny(|row| Some(row.exchange.cpu_ns.ci95?[1]))),
        ])
        .metrics(&[Metric {
            name: "processor_time_seconds",
            help: "CPU time of both processes per round trip, message or link",
            series: |row| {
                let cpu_ns = row.exchange.cpu_ns;
                labelled("mode", [("user", cpu_ns.user / 1e9), ("system", cpu_ns.system / 1e9)])
            },
        }]),
    figure("CPU/message", processor_time).when(is_message),
    figure("CPU/run", processor_time).when(is_whole_run),
    figure("CPU/link", processor_time).when(is_link),
    figure("switches", |entry| decimals(Some(entry.row.exchange.switches.all())))
        .expendable(4)
        .keys(&[
            Key::PerExchange(3, "voluntary_switches_per_*", |exchange| exchange.switches.voluntary),
            Key::PerExchange(4, "involuntary_switches_per_*", |exchange| exchange.switches.involuntary),
        ])
        .metrics(&[Metric {
            name: "context_switches",
            help: "Context switches of both processes per round trip, message or link",
            series: |row| {
                let switches = row.exchange.switches;
                labelled("kind", [("voluntary", switches.voluntary), ("involuntary", switches.involuntary)])
            },
        }]),
    UNSEEN.keys(&[
        Key::PerExchange(5, "minor_faults_per_*", |exchange| exchange.page_faults.minor),
        Key::PerExchange(6, "major_faults_per_*", |exchange| exchange.page_faults.major),
    ]),
    // Empty if calls were not counted, because a question mark would need a separate legend.
    figure("calls", |entry| entry.row.system_calls().map_or_else(String::new, |calls| decimals(Some(calls))))
        .when(|row| row.exchange.system_calls.is_some())
        .keys(&[
            Key::One(41, "system_calls", Cell::FigureIfAny(Row::system_calls)),
            Key::One(
                42,
                "count_method",
                Cell::RowText(|row| row.count_method.map_or_else(String::new, |method| method.to_string())),
            ),
        ])
        .notes(&[Note::Made(5, calls_counted)]),
    figure("vs first", |entry| ratio(entry.row)).keys(&[
        Key::One(
            9,
            "comparable_median_ns",
            Cell::FigureIfAny(|row| row.comparable.map(|found| found.median_ns)),
        ),
        Key::One(
            10,
            "comparable_low_ns",
            Cell::FigureIfAny(|row| row.comparable.map(|found| found.interval_ns[0])),
        ),
        Key::One(
            11,
            "comparable_high_ns",
            Cell::FigureIfAny(|row| row.comparable.map(|found| found.interval_ns[1])),
        ),
    ]),
    figure("from-to", ratio_between).expendable(3).when(is_compared).notes(&[Note::Made(1, ratio_intervals)]),
    UNSEEN.keys(&[Key::One(40, "late_sends_share", Cell::FigureIfAny(|row| row.late_sends_share))]),
    UNSEEN.keys(&[
        Key::One(34, "trials_drift", Cell::RowTruth(|row| row.shape.trials_drift)),
        Key::One(35, "trials_autocorrelation", Cell::FigureIfAny(|row| row.shape.trials_autocorrelation)),
        Key::One(36, "trials_low_mode_ns", Cell::FigureIfAny(|row| Some(row.shape.trials_bimodal?[0]))),
        Key::One(37, "trials_high_mode_ns", Cell::FigureIfAny(|row| Some(row.shape.trials_bimodal?[1]))),
        Key::One(38, "samples_low_mode_ns", Cell::FigureIfAny(|row| Some(row.shape.samples_bimodal?[0]))),
        Key::One(39, "samples_high_mode_ns", Cell::FigureIfAny(|row| Some(row.shape.samples_bimodal?[1]))),
    ]),
];

fn place(entry: &Entry) -> String {
    let tie = if entry.shares_place { "=" } else { "" };
    entry.row.rank.map_or_else(|| "?".to_owned(), |rank| format!("{tie}{rank}"))
}

/// Returns whether the samples suffice for the highest percentile.
fn has_far_tail(row: &Row) -> bool {
    has_percentiles(row) && row.exchange.ns.p9999.is_some()
}

/// Formats a percentile of the tail.
fn in_tail(entry: &Entry, at: usize) -> String {
    entry.row.exchange.ns.tail()[at].map_or_else(|| UNKNOWN.to_owned(), format_ns)
}

/// Returns the columns of the tail for which some benchmark has too few samples.
fn unknown_in_tail(summary: &Summary) -> Vec<&'static str> {
    let rows = || summary.rows.iter().filter(|row| has_percentiles(row));
    let any_far = rows().any(has_far_tail);
    let lacks = |at: &usize| rows().any(|row| row.exchange.ns.tail()[*at].is_none()) && (*at < 2 || any_far);
    (0..TAIL.len()).filter(lacks).map(|at| TAIL[at]).collect()
}

fn is_message(row: &Row) -> bool {
    row.exchange.unit == Unit::Message
}

/// Returns whether messages follow each other immediately, so that their number is a result.
fn is_stream(row: &Row) -> bool {
    row.case.arrival.is_closed_loop()
}

/// Returns whether each message went to every receiver.
fn is_fan_out(row: &Row) -> bool {
    row.reached.is_some()
}

fn reached(entry: &Entry, figure: fn(&ReachMedians) -> f64) -> String {
    entry.row.reached.as_ref().map_or_else(String::new, |reached| format_ns(figure(reached)))
}

fn is_one_trip(row: &Row) -> bool {
    is_round_trip(row) && !has_shares(row)
}

fn is_one_message(row: &Row) -> bool {
    is_message(row) && !has_shares(row)
}

/// Returns whether several pairs were measured.
fn has_shares(row: &Row) -> bool {
    row.shares.is_some()
}

/// Returns whether a single pair was measured too.
fn is_against_one(row: &Row) -> bool {
    row.shares.as_ref().is_some_and(|shares| shares.against_one.is_some())
}

/// Formats a figure of each of several parties.
fn shared(entry: &Entry, figure: fn(&Shares) -> String) -> String {
    entry.row.shares.as_ref().map_or_else(String::new, figure)
}

/// Formats a figure as a multiple of a single pair; `?` if a single pair was not measured.
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

/// Returns whether the depth applies to the row. Depth limits a sender whose messages are not answered; a round trip
/// has one message in flight.
fn has_depth(row: &Row) -> bool {
    is_message(row) && is_stream(row) && row.depth.is_some()
}

/// Bytes that arrive in a second, in 10^9.
fn throughput(entry: &Entry) -> String {
    entry.row.exchange.bytes_per_second.map_or_else(|| "?".to_owned(), |bytes| format_digits(bytes / 1e9))
}

fn rate(entry: &Entry) -> String {
    format_count(entry.row.exchange.per_second)
}

/// Returns the objective of a search for the highest rate; empty without one.
fn objective(row: &Row) -> String {
    row.capacity.as_ref().map_or_else(String::new, |capacity| capacity.objective.to_string())
}

fn highest_rate(row: &Row) -> HighestRate {
    row.capacity.as_ref().map(|capacity| capacity.highest_rate()).unwrap_or_default()
}

/// Returns the messages per call of the sender and the receiver.
fn messages_per_call(entry: &Entry) -> String {
    let text = |batches: &[BatchFigures; 2]| {
        let [sent, received] = batches.each_ref().map(|each| format_digits(each.messages_per_call));
        format!("{sent}/{received}")
    };
    entry.row.batches.as_ref().map_or_else(String::new, text)
}

fn processor_time(entry: &Entry) -> String {
    format_ns(entry.row.cpu_ns())
}

/// Returns the messages that the link holds in one direction, there or back.
fn depth(row: &Row, way: usize) -> String {
    row.depth.map_or_else(String::new, |depth| depth[way].to_string())
}

/// Returns a share in percent with this number of decimals.
fn percent(share: Option<f64>, decimals: usize) -> String {
    share.map_or_else(String::new, |share| format!("{:.decimals$} %", 100.0 * share))
}

/// Returns quantiles in seconds, if the exchange of the row has this unit.
fn quantiles(row: &Row, unit: Unit) -> Vec<Sample> {
    if row.exchange.unit != unit {
        return Vec::new();
    }
    let ns = &row.exchange.ns;
    let quantiles = [("0.5", ns.p50), ("0.9", ns.p90), ("0.99", ns.p99), ("0.999", ns.p999)];
    let quantiles = quantiles.into_iter().chain(ns.p9999.map(|ns| ("0.9999", ns)));
    quantiles.map(|(quantile, ns)| (Some(["quantile", quantile]), ns / 1e9)).collect()
}

/// Returns two values of a metric, with a label each.
fn labelled(label: &'static str, values: [(&'static str, f64); 2]) -> Vec<Sample> {
    values.map(|(name, value)| (Some([label, name]), value)).into()
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

/// Returns what the headings of intervals mean, one for each coverage that a table has.
fn intervals(summary: &Summary) -> Vec<Block> {
    /// Minimum number of trials for an interval with 95 % coverage.
    const FULL_COVERAGE: usize = 6;
    let across = summary.run.across;
    let mut meanings: Vec<(String, String)> = Vec::new();
    for groups in summary.groups.chunk_by(|a, b| a.carries == b.carries) {
        let rows: Vec<&Row> = groups.iter().flat_map(|group| summary.rows_of(group)).collect();
        let (head, Some(fewest)) = interval_head(rows.iter().copied(), across) else { continue };
        let figure = if rows.iter().any(|row| row.exchange.mean.is_none()) { "p50" } else { "the mean" };
        if groups[0].carries == PayloadKind::Nothing || meanings.iter().any(|(known, _)| *known == head) {
            continue;
        }
        let meaning = if across > 1 {
            format!(
                "{head}: interval of {figure} over {across} repetitions, some time apart, from the lowest to the highest end of \
                 their intervals."
            )
        } else if fewest < FULL_COVERAGE {
            let trials = count(fewest, "trial");
            format!(
                "{head}: interval of {figure} in this run; {trials} cannot cover more than that, and {FULL_COVERAGE} cover 95 %."
            )
        } else {
            format!(
                "{head}: interval of {figure} in this run; {figure} of another run can be outside it (--across 3 shows how far)."
            )
        };
        meanings.push((head, meaning));
    }
    let legend = |(head, meaning)| Block::Legend(vec![head], None, vec![meaning]);
    meanings.into_iter().map(legend).collect()
}

/// Returns the note that explains `*`.
fn batched(summary: &Summary) -> Vec<Block> {
    let batches = summary.rows.iter().filter(|row| is_batched(row)).map(|row| row.exchange.per_sample);
    footnote(batches.clone().min().zip(batches.max()).map(|(fewest, most)| {
        let count = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        format!(
            "* timed {count} round trips at a time, since one reading of the clock takes {}: its percentiles \
             are of means.",
            format_ns(summary.run.harness.clock_read_ns)
        )
    }))
}

/// Returns a note about one-way messages, if any are sent back to back (`is_closed_loop`) or at fixed times.
fn one_way(summary: &Summary, is_closed_loop: bool, text: &str) -> Vec<Block> {
    let mut rows = summary.rows.iter().filter(|row| is_message(row) && !is_fan_out(row));
    footnote(rows.any(|row| is_stream(row) == is_closed_loop).then(|| text.to_owned()))
}

fn streamed(summary: &Summary) -> Vec<Block> {
    one_way(
        summary,
        true,
        "One-way messages arrive in bursts, so they are timed in windows of a millisecond or more. Their percentiles \
         are of the means of such windows, and the clock stops when the last message has arrived.",
    )
}

fn delivered(summary: &Summary) -> Vec<Block> {
    one_way(
        summary,
        false,
        "One-way messages at a rate are timed one by one, from when each was due (from its send if furlong's \
         timer was late) until its receiver had it.",
    )
}

fn compared_with_one(summary: &Summary) -> Vec<Block> {
    let mut rows = summary.rows.iter();
    let is_unknown = rows.clone().any(|row| has_shares(row) && !is_against_one(row));
    let unknown = if is_unknown { " (? if one alone was not measured)" } else { "" };
    footnote(rows.any(is_against_one).then(|| format!("all: total rate relative to one alone{unknown}.")))
}

fn p50(entry: &Entry) -> String {
    format_ns(entry.row.exchange.ns.p50)
}

/// Returns what the means of a run are, if they decide.
fn means(summary: &Summary) -> Vec<Block> {
    let text = match summary.rows.iter().find(|row| row.exchange.mean.is_some()) {
        None => return Vec::new(),
        Some(row) if row.case.deciding_figure() == DecidingFigure::Throughput => {
            "mean: elapsed time per message, the median over trials."
        }
        Some(_) => {
            "mean: mean time of a trial, the median over trials. It has the pauses by quotas and neighbours, which p50 hides, so \
             order, ties and vs first follow it."
        }
    };
    vec![Block::Legend(vec!["mean".to_owned()], None, vec![text.to_owned()])]
}

/// Returns the note that explains `=` and `~`.
fn tied(summary: &Summary) -> Vec<Block> {
    let rows = &summary.rows;
    let shares_place = |row: &Row| {
        rows.iter().filter(|other| other.group == row.group && other.rank == row.rank).count() > 1
    };
    let has_tie = |row: &Row| {
        row.vs_first.is_some_and(|ratio| ratio.is_tie()) || row.rank.is_some() && shares_place(row)
    };
    footnote(rows.iter().any(has_tie).then(|| {
        "= no two benchmarks with the same number differ significantly; ~ not significantly slower than the first, although perhaps than \
         another benchmark of its place."
            .to_owned()
    }))
}

/// Returns the note about percentiles that are not printed.
fn few_samples(summary: &Summary) -> Vec<Block> {
    const FEW_SAMPLES: &str =
        "–: too few samples: p99 needs 100, p99.9 10,000 and p99.99 100,000 (a longer --budget gives more).";
    let unknown: Vec<String> = unknown_in_tail(summary).into_iter().map(str::to_owned).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    vec![Block::Legend(unknown, Some(UNKNOWN), vec![FEW_SAMPLES.to_owned()])]
}

fn calls_counted(summary: &Summary) -> Vec<Block> {
    let text = summary.counting.iter().map(counted);
    text.map(|text| Block::Legend(vec!["calls".to_owned()], None, vec![text])).collect()
}

fn is_compared(row: &Row) -> bool {
    row.vs_first.is_some_and(|ratio| ratio.interval.is_some() && !ratio.is_tie())
}

/// Returns the note on the intervals of ratios. It names a table in which a benchmark has too few trials for 95 %
/// coverage.
fn ratio_intervals(summary: &Summary) -> Vec<Block> {
    if !summary.rows.iter().any(is_compared) {
        return Vec::new();
    }
    let few = summary.groups.iter().find_map(|group| {
        let trials: Vec<usize> = summary.rows_of(group).map(|row| row.trials).collect();
        let needed = trials_of_comparison(trials.len());
        let fewest = trials.iter().copied().min().filter(|fewest| *fewest < needed as usize)?;
        (trials.len() > 1).then_some((fewest, needed, trials.len()))
    });
    let (percent, few) = match few {
        Some((trials, needed, rows)) => {
            let trials = count(trials, "trial");
            (
                "",
                format!("; {trials} cannot cover 95 %, and {needed} do where {rows} benchmarks are compared"),
            )
        }
        None => ("95 % ", String::new()),
    };
    let text = format!(
        "from-to: {percent}interval of 'vs first', for all benchmarks of a table together, from the rounds in which all of them ran{few}."
    );
    vec![Block::Legend(vec!["from-to".to_owned()], None, vec![text])]
}

/// Formats the ratio to the first row; `~` for a tie, and `?` if too few trials leave it open.
pub(crate) fn ratio(row: &Row) -> String {
    match row.vs_first {
        None if row.rank.is_none() => "?".to_owned(),
        None => "1.00x".to_owned(),
        Some(ratio) if ratio.is_tie() => "~".to_owned(),
        Some(ratio) => format_ratio(ratio.times) + "x",
    }
}

/// Formats the interval of that ratio.
fn ratio_between(entry: &Entry) -> String {
    let interval = entry.row.vs_first.and_then(|ratio| ratio.interval);
    interval.map_or_else(String::new, ratios_between)
}

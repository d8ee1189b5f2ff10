//! Sentences that several parts of a report share. None states more than ranks and intervals show.

use super::document::{Line, Tone};
use furlong_analysis::text::plain;
use furlong_analysis::{CommonProperties, Group, Level, PayloadKind, Row, Summary, Unit, describe_placement};
use furlong_model::{WaitKind, format_bytes, format_ns};

/// Groups whose first rows are named in the verdict: the charts and tables have all.
const MOST_GROUPS: usize = 6;

/// Describes whether the machine was fit for measuring.
pub fn fitness(level: Level) -> Line {
    let (tone, text) = match level {
        Level::Quiet => (Tone::Good, "The machine was quiet."),
        Level::Noisy => (
            Tone::Warning,
            "The machine was NOISY: figures may differ from another run by more than their intervals.",
        ),
        Level::Unreliable => {
            (Tone::Bad, "The machine was UNRELIABLE: do not use absolute times. Measure again.")
        }
    };
    Line { tone, text: text.to_owned() }
}

/// Formats a share with its sign: `+4.5 %`. Zero is always `+0.0 %`.
pub(crate) fn signed(share: f64) -> String {
    let percent = (share * 1000.0).round() / 10.0;
    format!("{:+.1} %", percent + 0.0)
}

/// Heading of intervals that cover a figure for the duration of a run: they rest on the trials of that run alone.
pub(crate) const IN_RUN: &str = "95 % in run";

/// Returns the heading of such intervals with this coverage, 0 to 1.
pub(crate) fn in_run(coverage: f64) -> String {
    format!("{:.0} % in run", 100.0 * coverage)
}

/// Meaning of marks in charts. Their intervals are those of tables: fewer trials cover less.
pub const WHISKERS: &str =
    "Whiskers are the intervals of the tables: 95 % in this run if there are six trials or more.";

/// Describes the kind of wait strategy, as a continuation of "benchmarks".
pub fn waiting(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Sleeping => "blocking",
        WaitKind::Adaptive => "busy-waiting for a moment, then blocking",
        WaitKind::Spinning => "busy-waiting",
        WaitKind::Unknown => "with their own wait strategy",
    }
}

/// Names the time of one exchange.
pub fn timed(unit: Unit) -> &'static str {
    match unit {
        Unit::RoundTrip => "round trip",
        Unit::Message => "time of a message",
        Unit::Link => "life of a link",
    }
}

/// Returns the values without duplicates, in the order of their first occurrence.
pub(crate) fn first_of_each<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Names the figure that orders a benchmark.
pub fn deciding_name(row: &Row) -> &'static str {
    if row.exchange.mean.is_some() { "mean" } else { "median" }
}

/// Formats a number with its noun: `1 row`, `3 rows`, `3 processes`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if what.ends_with('s') { "es" } else { "s" };
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}{plural}") }
}

/// Formats a size. Returns an empty text without a size.
pub(crate) fn size(bytes: Option<usize>) -> String {
    bytes.map_or_else(String::new, format_bytes)
}

/// Describes shared properties, as a continuation of "benchmarks".
pub(crate) fn alike(CommonProperties { waiting, placement, size_bytes }: &CommonProperties) -> String {
    let waits = strategy(*waiting);
    let carried = size_bytes.map_or_else(|| "they carry nothing".to_owned(), format_bytes);
    format!("{waits} on {} ({carried})", describe_placement(*placement))
}

/// Returns the kind of wait strategy in one or a few words.
pub(crate) fn strategy(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Adaptive => "adaptive",
        other => waiting(other),
    }
}

/// Formats a factor: two digits for small factors, whole numbers for large ones.
pub(crate) fn factor(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// Returns the printed name of a benchmark.
pub fn name(row: &Row) -> String {
    plain(&row.case.row())
}

/// Names the fastest benchmark of a group and those tied with it. Returns `None` for a group of one.
pub fn first_of(summary: &Summary, group: &Group) -> Option<String> {
    let rows: Vec<&Row> = summary.rows_of(group).collect();
    let first = rows.first().filter(|first| rows.len() > 1 && first.rank.is_some())?;
    Some(format!(
        "{} comes first with {}{}",
        name(first),
        format_ns(first.exchange.deciding().ns),
        but(first, rows.len() - 1)
    ))
}

/// Returns the qualification of a benchmark that comes first before `others` other benchmarks.
pub fn but(first: &Row, others: usize) -> String {
    let ties = first.tied_with.len();
    match ties {
        0 => String::new(),
        ties if ties == others && ties > 1 => ", and all others tie with it".to_owned(),
        1 => ", and 1 other benchmark ties with it".to_owned(),
        ties => format!(", and {ties} of the other {others} benchmarks tie with it"),
    }
}

/// Returns a sentence for each group that carries data, up to a limit. Returns none if the machine was unreliable.
pub fn firsts(summary: &Summary) -> Vec<String> {
    if summary.run.noise.level == Level::Unreliable {
        return Vec::new();
    }
    let groups = summary.groups.iter().filter(|group| group.carries == PayloadKind::Data);
    let sentence = |group: &Group| Some(format!("{}: {}.", plain(&group.title), first_of(summary, group)?));
    let mut sentences: Vec<_> = groups.filter_map(sentence).collect();
    if sentences.len() > MOST_GROUPS {
        let more = count(sentences.len() - MOST_GROUPS, "more ranking");
        sentences.truncate(MOST_GROUPS);
        sentences.push(format!("The table of all benchmarks has {more}."));
    }
    sentences
}

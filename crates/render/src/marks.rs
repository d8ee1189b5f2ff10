//! Marks at the names of rows, which footnotes explain.

use furlong_analysis::text::plain;
use furlong_analysis::{Row, Unit};

/// Returns the name of a benchmark with its marks, which footnotes explain.
pub fn marked_name(row: &Row) -> String {
    let batched = if is_batched(row) { "*" } else { "" };
    let (name, marks) = (plain(&row.case.row()), batched.to_owned() + &marks(row));
    if marks.is_empty() { name } else { format!("{name} {marks}") }
}

/// Returns the marks that concern the median of a benchmark.
pub(crate) fn marks(row: &Row) -> String {
    [("?", has_no_interval(row)), ("!", has_failed_trials(row)), ("^", is_doubtful(row))]
        .into_iter()
        .filter(|(_, applies)| *applies)
        .map(|(mark, _)| mark)
        .collect()
}

/// Returns whether `*` applies: the percentiles are of means.
pub(crate) fn is_batched(row: &Row) -> bool {
    is_round_trip(row) && has_percentiles(row) && row.exchange.per_sample > 1
}

/// Returns whether `?` applies: without an interval, the place is not certain.
pub(crate) fn has_no_interval(row: &Row) -> bool {
    row.exchange.ns.median_ci95.is_none()
}

/// Returns whether `!` applies: some of the trials failed.
pub(crate) fn has_failed_trials(row: &Row) -> bool {
    row.failed_trials > 0
}

/// Returns whether `^` applies: the median or its interval is doubtful.
pub(crate) fn is_doubtful(row: &Row) -> bool {
    row.shape.is_doubtful()
}

pub(crate) fn is_round_trip(row: &Row) -> bool {
    row.exchange.unit == Unit::RoundTrip && !is_whole_run(row)
}

/// Returns whether a row is the run of programs that do not count their exchanges.
pub(crate) fn is_whole_run(row: &Row) -> bool {
    row.programs.as_ref().is_some_and(|programs| !programs.counts)
}

/// Returns whether a row has percentiles. The user's programs are timed once per trial.
pub(crate) fn has_percentiles(row: &Row) -> bool {
    row.programs.is_none()
}

//! Several runs in one table: the columns of a run, after those that identify the run.

use super::super::columns::{self, Kind, Value};
use super::super::csv::table;
use super::NamedSummary;

/// Returns the names and kinds of all columns.
pub(super) fn columns() -> impl Iterator<Item = (String, Kind)> {
    let of_run = [
        ("run", Kind::Text),
        ("started_unix_s", Kind::Whole),
        ("processor", Kind::Text),
        ("kernel", Kind::Text),
        ("noise", Kind::Text),
        ("partial", Kind::Truth),
    ];
    of_run.map(|(name, kind)| (name.to_owned(), kind)).into_iter().chain(columns::columns())
}

/// Returns the cells of a line for each benchmark or skipped case of every run.
pub(super) fn lines(runs: &[NamedSummary]) -> impl Iterator<Item = Vec<Option<Value>>> {
    runs.iter().flat_map(|NamedSummary { name, summary }| {
        let run = [
            Value::text(name),
            Some(Value::Whole(summary.run.started_unix_s)),
            Value::text(summary.run.machine.processor.as_deref().unwrap_or_default()),
            Value::text(&summary.run.machine.kernel),
            Value::text(summary.run.noise.level.name()),
            Some(Value::Truth(summary.run.partial)),
        ];
        columns::lines(summary).map(move |cells| run.iter().cloned().chain(cells).collect())
    })
}

/// Returns a header, then one line per benchmark or skipped case of every run.
pub fn export_csv(runs: &[NamedSummary]) -> String {
    table(columns().map(|(name, _)| name).collect(), lines(runs))
}

//! Several runs in one sheet: the columns of one run, behind those that say which run it is.

use super::super::columns::{self, Kind, Value};
use super::super::csv::table;
use super::NamedSummary;

/// The names and kinds of all columns.
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

/// The cells of a line for each row or skipped case of every run.
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

/// A header, then a line a row or skipped case of every run.
pub fn export_csv(runs: &[NamedSummary]) -> String {
    table(columns().map(|(name, _)| name).collect(), lines(runs))
}

//! Several runs in one sheet: the columns of one run, behind those that say which run it is.

use super::super::csv::{header, lines, sheet, words};
use super::NamedSummary;

/// A header, then a line a row or skipped case of every run.
pub fn export_csv(runs: &[NamedSummary]) -> String {
    let own = ["run", "started_unix_s", "processor", "kernel", "noise", "partial"].map(str::to_owned);
    let all = runs.iter().flat_map(|NamedSummary { name, summary }| {
        let run = [
            words(name),
            summary.run.started_unix_s.to_string(),
            words(summary.run.machine.processor.as_deref().unwrap_or_default()),
            words(&summary.run.machine.kernel),
            summary.run.noise.level.name().to_owned(),
            summary.run.partial.to_string(),
        ];
        lines(summary).map(move |cells| run.iter().cloned().chain(cells).collect())
    });
    sheet([own.into_iter().chain(header()).collect()].into_iter().chain(all))
}

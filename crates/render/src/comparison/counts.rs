//! System-call counts of two runs: a table, and a sentence for each change.

use super::super::document::{Column, Row, Section, Table, Tone};
use super::prose::NAMED;
use furlong_analysis::text::{decimals, listed, plain};
use furlong_analysis::{ComparedCount, ComparedRun, Comparison, CountChange, CountedQuantity};

/// A column header with the function that fills its cells.
type FilledColumn = (Column, fn(&ComparedCount) -> String);

const COLUMNS: [FilledColumn; 5] = [
    (Column::words("verdict"), |count| count.verdict.name().to_owned()),
    (Column::words("row"), |count| plain(&count.case.to_string())),
    (Column::words("counted"), |count| words(count.counted).to_owned()),
    (Column::figures("then"), |count| decimals(Some(count.baseline))),
    (Column::figures("now"), |count| decimals(Some(count.new))),
];

/// Returns a table with one line per count of this run, if there are any.
pub(super) fn section(comparison: &Comparison, run: &ComparedRun) -> Section {
    let counts: Vec<_> = comparison.counts_of(&run.name).collect();
    if counts.is_empty() {
        return Section::default();
    }
    let table = Table::new(COLUMNS.map(|(column, _)| column), counts.into_iter().map(line).collect());
    Section::titled("Counts per round trip").table(table)
}

fn line(count: &ComparedCount) -> Row {
    let tone = match count.verdict {
        CountChange::More => Tone::Bad,
        CountChange::Fewer => Tone::Good,
        CountChange::Inconclusive => Tone::Warning,
        CountChange::Same => Tone::Neutral,
    };
    Row { tone, ..Row::neutral(COLUMNS.iter().map(|(_, cell)| cell(count))) }
}

fn words(counted: CountedQuantity) -> &'static str {
    match counted {
        CountedQuantity::SystemCalls => "system calls",
        CountedQuantity::ContextSwitches => "context switches",
        CountedQuantity::Instructions => "instructions",
    }
}

/// Reports the counts of a run that differ from the baseline, one sentence per kind. Returns none without counts.
pub(super) fn sentences(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let counts: Vec<_> = comparison.counts_of(&run.name).collect();
    let changed: Vec<String> = [CountChange::More, CountChange::Fewer, CountChange::Inconclusive]
        .into_iter()
        .filter_map(|verdict| {
            let named: Vec<_> =
                counts.iter().filter(|count| count.verdict == verdict).map(|count| change(count)).collect();
            let listed = listed(&named, NAMED);
            (!named.is_empty()).then(|| match verdict {
                CountChange::More => format!("More per round trip: {listed}."),
                CountChange::Fewer => format!("Fewer per round trip: {listed}."),
                _ => format!("Different, because it depends on when messages arrive: {listed}."),
            })
        })
        .collect();
    match (counts.len(), changed.is_empty()) {
        (0, _) => Vec::new(),
        (all, true) => vec![format!("All {all} counts are the same.")],
        _ => changed,
    }
}

/// Describes a change with the names of the calls:
/// `system calls of pipe/block 128B (4.00 to 5.00: poll 0.00 to 1.00)`.
pub(super) fn change(count: &ComparedCount) -> String {
    let between = |then, now| format!("{} to {}", decimals(Some(then)), decimals(Some(now)));
    let calls: Vec<_> = count
        .calls
        .iter()
        .map(|call| format!("{} {}", plain(&call.name), between(call.baseline, call.new)))
        .collect();
    let calls = if calls.is_empty() { String::new() } else { format!(": {}", listed(&calls, NAMED)) };
    let total = between(count.baseline, count.new);
    format!("{} of {} ({total}{calls})", words(count.counted), plain(&count.case.to_string()))
}

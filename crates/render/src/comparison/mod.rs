//! A comparison of runs: as a document, for a spreadsheet and for programs.

mod capacities;
mod columns;
mod counts;
mod csv;
mod incomparable;
mod junit;
mod prose;
mod verdict;

pub use csv::comparison_csv;
pub use incomparable::incomparable;
pub use junit::comparison_junit;
pub use verdict::comparison_verdict;

pub(crate) use prose::NAMED;

use super::document::{Document, Line, Section, Table};
use super::noise::reasons_at;
use super::object::object;
use super::prose::FINDINGS;
use columns::{COLUMNS, line};
use furlong_analysis::{ComparedRun, Comparison};
use serde::Serialize;

/// Returns one JSON object; [`Comparison`] documents its fields.
pub fn comparison_json(comparison: &Comparison) -> String {
    #[derive(Serialize)]
    struct WithVerdict<'a> {
        #[serde(flatten)]
        comparison: &'a Comparison,
        verdict: Vec<String>,
    }
    let verdict = comparison_verdict(comparison);
    let noise = comparison.runs.iter().map(|run| &run.run.noise);
    let said = vec![
        reasons_at("runs.noise.reasons_data", noise),
        prose::reasons(comparison),
        verdict::costs(comparison),
    ];
    object(&WithVerdict { comparison, verdict }, said)
}

/// Returns the runs, then for each run its ratios to the baseline, its counts and further differences, then the
/// verdict.
pub fn document(comparison: &Comparison) -> Document {
    let neutral = |lines: Vec<String>| lines.into_iter().map(Line::neutral);
    let mut document: Document =
        [Section::default().bullets(neutral(prose::runs(comparison)))].into_iter().collect();
    for run in comparison.others() {
        document.push(against_baseline(comparison, run));
        document.push(capacities::section(comparison, run));
        document.push(counts::section(comparison, run));
        document.push(Section::list("Inconclusive", neutral(prose::inconclusive(comparison, run))));
        document.push(Section::list("Not compared", neutral(prose::only_in(comparison, run))));
        document.push(Section::list("Other differences", neutral(prose::differences(comparison, run))));
    }
    document.push(Section::list(FINDINGS, neutral(comparison_verdict(comparison))));
    document
}

fn against_baseline(comparison: &Comparison, run: &ComparedRun) -> Section {
    let rows: Vec<_> = comparison.rows_of(&run.name).map(line).collect();
    if rows.is_empty() {
        let section = Section::chapter(prose::heading(comparison, run));
        let has_rates = comparison.capacities_of(&run.name).next().is_some();
        return section.paragraph_if((!has_rates).then_some("No benchmark was timed in both."));
    }
    let notes = prose::footnotes(comparison, run);
    let table = Table { notes, ..Table::new(COLUMNS.map(|(column, _)| column), rows) };
    Section::chapter(prose::heading(comparison, run)).table(table)
}

#[cfg(test)]
mod tests;

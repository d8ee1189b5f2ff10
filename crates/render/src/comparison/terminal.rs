//! A comparison for a terminal.

use super::{
    super::{fit::HEAD_LINES, fit::fitted, style::Paint, style::Style, table::bullet, table::titled},
    layout::{COLUMNS, cells},
    prose,
};
use furlong_analysis::text::{plain_sentence, wrap};
use furlong_analysis::{Change, ComparedRow, ComparedRun, Comparison};

/// The runs; for each against the baseline the table, what is not told and what else is different; the verdict.
pub fn comparison_table(comparison: &Comparison, style: Style) -> String {
    let mut text: String =
        prose::runs(comparison).iter().map(|line| wrap(line, style.width, 2) + "\n").collect();
    for run in comparison.others() {
        text += &against_baseline(comparison, run, style);
    }
    let verdict = comparison.verdict.iter().map(|line| bullet(&plain_sentence(line), style));
    text + &titled(prose::VERDICT, verdict, style)
}

fn against_baseline(comparison: &Comparison, run: &ComparedRun, style: Style) -> String {
    let heading = wrap(&prose::heading(comparison, run), style.width, 2);
    let mut text = format!("\n{}\n", style.paint(Paint::Bold, &heading));
    let rows: Vec<_> = comparison.rows_of(&run.name).collect();
    let lines =
        fitted(&COLUMNS.map(|(head, _)| head), &rows.iter().map(|row| cells(row)).collect::<Vec<_>>(), style);
    let (header, lines) = lines.split_at(HEAD_LINES);
    text += &header.iter().map(|line| line.clone() + "\n").collect::<String>();
    text += &lines.iter().zip(&rows).map(|(line, row)| painted(line, row, style) + "\n").collect::<String>();
    for note in prose::footnotes(comparison, run) {
        text += &(style.paint(Paint::Dim, &wrap(&note, style.width, 2)) + "\n");
    }
    let list =
        |title: &str, lines: Vec<String>| titled(title, lines.iter().map(|line| bullet(line, style)), style);
    text += &list(prose::INCONCLUSIVE, prose::inconclusive(comparison, run));
    text += &list(prose::ONLY_IN, prose::only_in(comparison, run));
    text + &list(prose::DIFFERENCES, prose::differences(comparison, run))
}

/// A line in the colour of its verdict.
fn painted(line: &str, row: &ComparedRow, style: Style) -> String {
    match row.verdict {
        Change::Worse => style.paint(Paint::Red, line),
        Change::Better => style.paint(Paint::Green, line),
        Change::Inconclusive => style.paint(Paint::Yellow, line),
        Change::Same => line.to_owned(),
    }
}

//! A comparison as Markdown, for a pull request or a note.

use super::{
    super::{markdown::escape, markdown::grid, markdown::list, markdown::titled},
    layout::{COLUMNS, cells},
    prose,
};
use furlong_analysis::text::plain_sentence;
use furlong_analysis::{ComparedRun, Comparison};

/// The same as the terminal's, with every column.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = list(prose::runs(comparison)).trim_start().to_owned();
    for run in comparison.others() {
        text += &against_baseline(comparison, run);
    }
    let verdict = comparison.verdict.iter().map(|line| plain_sentence(line)).collect();
    text + &titled(prose::VERDICT, verdict)
}

fn against_baseline(comparison: &Comparison, run: &ComparedRun) -> String {
    let heads = COLUMNS.map(|(head, _)| head);
    let mut text = format!("\n## {}\n\n", escape(&prose::heading(comparison, run)));
    text += &grid(&heads, comparison.rows_of(&run.name).map(cells));
    text += &list(prose::footnotes(comparison, run));
    text += &titled(prose::INCONCLUSIVE, prose::inconclusive(comparison, run));
    text += &titled(prose::ONLY_IN, prose::only_in(comparison, run));
    text + &titled(prose::DIFFERENCES, prose::differences(comparison, run))
}

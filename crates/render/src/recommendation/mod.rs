//! A recommendation: as a document, in sentences, and for programs.

mod measured;
mod prose;

use super::document::{Document, Line, Section};
use super::noise::reasons as noise;
use super::object::object;
use super::prose::machine;
use super::summary::{partial, with_noise};
use furlong_analysis::Recommendation;

/// Returns one JSON object; [`Recommendation`] documents its fields.
pub fn recommendation_json(recommendation: &Recommendation) -> String {
    object(recommendation, vec![noise([&recommendation.run.noise]), prose::changes(recommendation)])
}

/// Returns the recommendation, one sentence each: the workload, the choice with its reasons, and the
/// alternatives.
pub fn recommendation_sentences(recommendation: &Recommendation) -> Vec<String> {
    let asked = [prose::asked(&recommendation.workload)].into_iter().chain(prose::tried(recommendation));
    asked
        .chain([format!("{}.", prose::heading(recommendation))])
        .chain(prose::reasons(recommendation))
        .chain(prose::instead(recommendation))
        .chain(prose::sensitivities(recommendation))
        .chain(prose::not_measured(recommendation))
        .collect()
}

/// Returns the machine, the choice with its reasons, every measured benchmark, and what would change the answer.
pub(crate) fn document(recommendation: &Recommendation) -> Document {
    let run = &recommendation.run;
    let neutral = |lines: Vec<String>| lines.into_iter().map(Line::neutral);
    let head = partial(Section::default().paragraph(machine(&run.machine, &run.harness)), run);
    let asked = Section::default().paragraph(prose::asked(&recommendation.workload));
    let mut document = Document::default();
    document.push(with_noise(head, &run.noise));
    document.push(prose::tried(recommendation).into_iter().fold(asked, Section::paragraph));
    document.push(Section::list(&prose::heading(recommendation), neutral(prose::reasons(recommendation))));
    document.push(Section::list("Instead", neutral(prose::instead(recommendation))));
    if let Some(table) = measured::measured(recommendation) {
        let section = Section::titled(prose::measured(recommendation)).table(table);
        document.push(prose::legend(recommendation).into_iter().fold(section, Section::with));
    }
    let changes = neutral(prose::sensitivities(recommendation));
    document.push(Section::list("What would change the answer", changes));
    document.push(Section::list("Not measured", neutral(prose::not_measured(recommendation))));
    document.push(Section::list("Left out", neutral(prose::left_out(recommendation))));
    document
}

#[cfg(test)]
mod tests;

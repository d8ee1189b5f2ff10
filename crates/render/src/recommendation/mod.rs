//! A recommendation: as a document, in sentences, and for programs.

mod answer;
mod changes;
mod details;
mod measured;
mod rejected;
mod workload;

use super::document::{Block, Document, Line, Section, Tone};
use super::noise::reasons as noise;
use super::object::object;
use super::prose::machine;
use super::summary::{with_noise, with_run_warnings};
use furlong_analysis::Recommendation;

/// Optional parts of a printed recommendation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecommendationDetail {
    /// Whether the table has all finalists.
    pub all: bool,
    /// Whether the reasons of all rejections and all explanations are printed.
    pub why: bool,
}

impl RecommendationDetail {
    /// All parts.
    pub const WHOLE: RecommendationDetail = RecommendationDetail { all: true, why: true };
}

/// Returns one JSON object; [`Recommendation`] documents its fields.
pub fn recommendation_json(recommendation: &Recommendation) -> String {
    object(recommendation, vec![noise([&recommendation.run.noise]), changes::for_programs(recommendation)])
}

/// Returns the recommendation, one sentence each: the choice, the workload, the reasons, and the
/// alternatives.
pub fn recommendation_sentences(recommendation: &Recommendation) -> Vec<String> {
    let facts = answer::facts(recommendation, RecommendationDetail::WHOLE);
    [
        format!("{}.", answer::heading(recommendation)),
        format!("{}.", workload::describe(&recommendation.workload)),
    ]
    .into_iter()
    .chain(workload::reached(recommendation))
    .chain(facts.into_iter().map(|fact| format!("{}: {}.", fact.name, fact.value)))
    .chain(details::details(recommendation))
    .chain(details::alternatives(recommendation))
    .chain(changes::sentences(recommendation))
    .chain(details::not_measured(recommendation))
    .collect()
}

/// Returns the workload, the choice with its figures, the finalists, and the changes of the workload that would change
/// the answer. Without details, it has at most 25 lines of 100 columns.
pub(crate) fn document(recommendation: &Recommendation, detail: RecommendationDetail) -> Document {
    let run = &recommendation.run;
    let neutral = |lines: Vec<String>| lines.into_iter().map(Line::neutral);
    let mut document = Document::default();
    let workload = workload::describe(&recommendation.workload);
    let warning = answer::warning(recommendation);
    let head = Section::default().paragraph(&workload);
    document.push(match detail.why {
        true => {
            let head = head.paragraph_if(workload::reached(recommendation));
            with_noise(
                with_run_warnings(head.paragraph(machine(&run.machine, &run.harness)), run),
                &run.noise,
            )
        }
        false => {
            warning.iter().fold(with_run_warnings(head, run), |head, text| head.toned(Tone::Warning, text))
        }
    });
    let facts = answer::facts(recommendation, detail);
    let above: Vec<String> = [workload].into_iter().chain(warning).collect();
    let most_rows = if detail.all { usize::MAX } else { measured::rows_beside(&above, &facts) };
    let details = if detail.why { details::details(recommendation) } else { Vec::new() };
    let heading = answer::heading(recommendation);
    document.push(match facts.is_empty() && details.is_empty() {
        true => Section::default().paragraph(heading),
        false => Section::titled(heading).with(Block::Facts(facts)).bullets(neutral(details)),
    });
    if let Some(table) = measured::measured(recommendation, detail, most_rows) {
        document.push(match detail.why {
            true => measured::legend(recommendation)
                .into_iter()
                .fold(Section::titled(measured::title(recommendation)).table(table), Section::with),
            false => Section::default().table(table),
        });
    }
    if detail.why {
        document.push(Section::list("Alternatives", neutral(details::alternatives(recommendation))));
        document.push(Section::list("The answer changes if", neutral(changes::sentences(recommendation))));
        document.push(Section::list("Not measured", neutral(details::not_measured(recommendation))));
        document.push(Section::list("Rejected", neutral(rejected::reasons(recommendation))));
    } else {
        document.push(
            Section::default()
                .paragraph_if(changes::summary(recommendation))
                .paragraph_if(rejected::summary(recommendation))
                .paragraph_if(rejected::most_frequent(recommendation))
                .bullets(neutral(rejected::forbidden(recommendation))),
        );
    }
    document
}

#[cfg(test)]
mod tests;

//! A recommendation as text: for a terminal and for programs.

mod prose;
mod terminal;

pub use terminal::recommendation_table;

use super::object::object;
use furlong_analysis::Recommendation;

/// One JSON object: [`Recommendation`] says what each field means, and reads it back.
pub fn recommendation_json(recommendation: &Recommendation) -> String {
    object(recommendation)
}

/// What a recommendation says, a sentence each: what was asked, what to take and why, and what else there is.
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

#[cfg(test)]
mod tests;

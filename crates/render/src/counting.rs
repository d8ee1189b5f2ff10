//! A sentence about the method that counted system calls.

use furlong_analysis::CountingMethod;
use furlong_analysis::text::plain;
use furlong_model::CountMethod;

/// Names the counting method, and the reason why no better method was used.
pub(crate) fn counted(counting: &CountingMethod) -> String {
    let how = match counting.method {
        CountMethod::Rusage => "System calls were not counted".to_owned(),
        method => format!("System calls were counted by {method}"),
    };
    let reasons = counting.why_not_better.iter().map(|reason| clause(reason));
    [how].into_iter().chain(reasons).collect::<Vec<_>>().join("; ") + "."
}

/// Converts a sentence of a record into a clause.
pub(crate) fn clause(sentence: &str) -> String {
    plain(sentence).trim_end_matches('.').to_owned()
}

//! How system calls were counted, in a sentence.

use furlong_analysis::Counting;
use furlong_analysis::text::plain;
use furlong_model::CountMethod;

/// By which method, and why by no better one.
pub(crate) fn counted(counting: &Counting) -> String {
    let how = match counting.method {
        CountMethod::Rusage => "System calls were not counted".to_owned(),
        method => format!("System calls were counted by {method}"),
    };
    let reasons = counting.why_not_better.iter().map(|reason| clause(reason));
    [how].into_iter().chain(reasons).collect::<Vec<_>>().join("; ") + "."
}

/// A sentence of a record as a part of another one.
pub(crate) fn clause(sentence: &str) -> String {
    plain(sentence).trim_end_matches('.').to_owned()
}

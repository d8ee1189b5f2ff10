//! Advice on the parts of a round trip: work on which part would make a benchmark faster, and on which it would not.

use crate::terms::{Part, Term};
use furlong_stats::tidy;
use serde::Serialize;

/// Share of the time below which a part is not worth optimizing.
const NOT_WORTH_IT: f64 = 0.1;

/// Possible saving of one part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The part.
    pub term: Part,
    /// Time of the part divided by the measured time: above 1 if the parts overlap.
    pub share: f64,
    /// Whether work on the part is worthwhile.
    pub helps: bool,
}

/// Returns the largest part, and the smaller of copying and system calls if it is below [`NOT_WORTH_IT`].
pub(crate) fn advise(terms: &[Term], measured_ns: f64) -> Vec<Advice> {
    // The table prints the same quotient.
    let share = |ns: f64| if measured_ns > 0.0 { tidy((ns / measured_ns).max(0.0)) } else { 0.0 };
    let parts = parts(terms);
    let best = largest(&parts).map(|(term, ns)| Advice { term, share: share(ns), helps: true });
    let taken_for_large = [Part::Copying, Part::SystemCalls];
    let happens = |part: Part| terms.iter().any(|term| term.name == part && term.count > 0.0);
    let vain = parts.iter().filter(|(part, _)| taken_for_large.contains(part) && happens(*part));
    let vain = vain.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, ns)| share(*ns) < NOT_WORTH_IT);
    let vain = vain.map(|(term, ns)| Advice { term: *term, share: share(*ns), helps: false });
    best.into_iter().chain(vain).collect()
}

/// Returns the largest part, or the first of several equal ones.
pub(crate) fn dominant(terms: &[Term]) -> Option<Part> {
    largest(&parts(terms)).map(|(part, _)| part)
}

fn largest(parts: &[(Part, f64)]) -> Option<(Part, f64)> {
    parts.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, ns)| *ns > 0.0).copied()
}

/// Returns the nanoseconds of each part, in the order of the terms.
fn parts(terms: &[Term]) -> Vec<(Part, f64)> {
    let mut parts: Vec<(Part, f64)> = Vec::new();
    for term in terms {
        match parts.iter_mut().find(|(part, _)| *part == term.name) {
            Some((_, ns)) => *ns += term.ns,
            None => parts.push((term.name, term.ns)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn term(name: Part, ns: f64) -> Term {
        Term {
            name,
            of: None,
            count: if ns > 0.0 { 2.0 } else { 0.0 },
            cost_ns: ns / 2.0,
            ns,
            source: Source::NothingCopied,
        }
    }

    /// Returns the parts of the advice, each with whether it helps and its share in thousandths.
    fn named(terms: &[Term]) -> Vec<(Part, bool, f64)> {
        let advice = advise(terms, 1000.0).into_iter();
        advice.map(|advice| (advice.term, advice.helps, (advice.share * 1000.0).round())).collect()
    }

    #[test]
    fn the_largest_part_is_named_and_the_smallest_that_people_blame() {
        let terms = [term(Part::SystemCalls, 60.0), term(Part::Copying, 4.0), term(Part::WakeUps, 830.0)];
        assert_eq!(named(&terms), [(Part::WakeUps, true, 830.0), (Part::Copying, false, 4.0)]);
    }

    #[test]
    fn terms_of_one_part_are_one_part() {
        let calls = ["read", "write"].map(|name| term(Part::SystemCalls, 300.0).of(name));
        let terms = [&calls[..], &[term(Part::WakeUps, 350.0)]].concat();
        assert_eq!(named(&terms), [(Part::SystemCalls, true, 600.0)]);
        assert_eq!(dominant(&terms), Some(Part::SystemCalls));
    }

    #[test]
    fn what_is_worth_it_is_not_called_vain() {
        let terms = [term(Part::SystemCalls, 200.0), term(Part::Copying, 600.0)];
        assert_eq!(named(&terms), [(Part::Copying, true, 600.0)]);
    }

    #[test]
    fn a_row_that_copies_nothing_is_told_of_its_calls() {
        let terms = [term(Part::SystemCalls, 60.0), term(Part::Copying, 0.0), term(Part::WakeUps, 800.0)];
        assert_eq!(named(&terms)[1], (Part::SystemCalls, false, 60.0));
    }

    #[test]
    fn nothing_measured_gives_no_advice() {
        assert_eq!(named(&[]), []);
        assert_eq!(named(&[term(Part::Copying, 0.0)]), []);
        assert_eq!(advise(&[term(Part::OwnPath, 10.0)], 0.0)[0].share, 0.0);
    }

    #[test]
    fn a_part_larger_than_the_measured_time_keeps_its_share() {
        assert_eq!(named(&[term(Part::WakeUps, 1012.0)]), [(Part::WakeUps, true, 1012.0)]);
    }
}

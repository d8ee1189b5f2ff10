//! What would make a row faster, and what would not, from the parts of its round trip.

use crate::terms::{Part, Term};
use furlong_stats::tidy;
use serde::{Deserialize, Serialize};

/// A part below this share of the time is not worth anybody's work.
const NOT_WORTH_IT: f64 = 0.1;

/// What one part would save if it were gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Which part.
    pub term: Part,
    /// At most this share of the measured time, 0 to 1.
    pub share: f64,
    /// Whether that is worth it.
    pub helps: bool,
    /// In a sentence.
    pub text: String,
}

/// A sentence for the part that takes the most, and one for work that would be in vain.
pub(crate) fn advise(terms: &[Term], measured_ns: f64) -> Vec<Advice> {
    let share = |term: &Term| tidy((term.ns / measured_ns).clamp(0.0, 1.0));
    let best = dominant(terms).map(|term| Advice {
        term: term.name,
        share: share(term),
        helps: true,
        text: what_helps(term.name, &percent(share(term))),
    });
    let taken_for_large = [Part::Copying, Part::SystemCalls];
    let vain = terms.iter().filter(|term| taken_for_large.contains(&term.name) && term.count > 0.0);
    let vain = vain.min_by(|a, b| a.ns.total_cmp(&b.ns)).filter(|term| share(term) < NOT_WORTH_IT);
    let vain = vain.map(|term| Advice {
        term: term.name,
        share: share(term),
        helps: false,
        text: what_does_not(term.name, &percent(share(term))),
    });
    best.into_iter().chain(vain).collect()
}

/// The largest part; the first of several.
pub(crate) fn dominant(terms: &[Term]) -> Option<&Term> {
    terms.iter().rev().max_by(|a, b| a.ns.total_cmp(&b.ns)).filter(|term| term.ns > 0.0)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 0.1 {
        return "0.1 %".to_owned();
    }
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn what_helps(part: Part, share: &str) -> String {
    match part {
        Part::SystemCalls => {
            format!("System calls are {share} of it: a row over shared memory that spins needs none.")
        }
        Part::Copying => format!(
            "Copying is {share} of it: a mechanism that copies once, or not at all, could save at most that."
        ),
        Part::OwnPath => format!(
            "The mechanism's own path is {share} of it: another mechanism may have a shorter one, so compare \
             theirs."
        ),
        Part::ContextSwitches => {
            format!("Context switches are {share} of it: roles on two cores that spin do without.")
        }
        Part::WakeUps => format!(
            "Waking a core that sleeps is {share} of it: a row that spins does without, at the price of a busy \
             processor."
        ),
        Part::CacheLinesAcross => format!(
            "Cache lines on their way from core to core are {share} of it: fewer bytes, or cores that share a \
             cache, may need less."
        ),
        Part::PageFaults => {
            format!("Page faults are {share} of it: memory that was touched before has none.")
        }
    }
}

fn what_does_not(part: Part, share: &str) -> String {
    match part {
        Part::Copying => format!("A faster copy, or one copy less, would save at most {share}."),
        part => format!("Faster {}, or fewer, would save at most {share}.", part.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(name: Part, ns: f64) -> Term {
        Term { name, count: if ns > 0.0 { 2.0 } else { 0.0 }, cost_ns: ns / 2.0, ns, how: String::new() }
    }

    fn texts(terms: &[Term]) -> Vec<String> {
        advise(terms, 1000.0).into_iter().map(|advice| advice.text).collect()
    }

    #[test]
    fn the_largest_part_is_named_and_the_smallest_that_people_blame() {
        let terms = [term(Part::SystemCalls, 60.0), term(Part::Copying, 4.0), term(Part::WakeUps, 830.0)];
        let said = texts(&terms);
        assert!(said[0].starts_with("Waking a core that sleeps is 83 % of it"), "{said:?}");
        assert_eq!(said[1], "A faster copy, or one copy less, would save at most 0.4 %.");
        let advice = advise(&terms, 1000.0);
        assert_eq!((advice[0].helps, advice[1].helps, advice[1].share), (true, false, 0.004));
    }

    #[test]
    fn what_is_worth_it_is_not_called_vain() {
        let said = texts(&[term(Part::SystemCalls, 200.0), term(Part::Copying, 600.0)]);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("could save at most that"), "{said:?}");
    }

    #[test]
    fn a_row_that_copies_nothing_is_told_of_its_calls() {
        let said =
            texts(&[term(Part::SystemCalls, 60.0), term(Part::Copying, 0.0), term(Part::WakeUps, 800.0)]);
        assert_eq!(said[1], "Faster system calls, or fewer, would save at most 6.0 %.");
    }

    #[test]
    fn nothing_measured_gives_no_advice() {
        assert_eq!(texts(&[]), [""; 0]);
        assert_eq!(texts(&[term(Part::Copying, 0.0)]), [""; 0]);
        assert_eq!(advise(&[term(Part::OwnPath, 10.0)], 1.0)[0].share, 1.0);
    }
}

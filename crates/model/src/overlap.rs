//! The time in which several parts of a trial were measured in parallel.

use crate::Part;

/// Minimum share of the longest part during which all parts must have been measured.
const ENOUGH: f64 = 0.8;

/// The overlap of all parts of a trial, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Time between the last start and the first end of a part.
    pub together_ns: u64,
    /// Duration of the longest part.
    pub longest_ns: u64,
}

impl Overlap {
    /// Returns the overlap of these parts.
    pub fn of(parts: &[Part]) -> Overlap {
        let began = parts.iter().map(|part| part.began_ns).max().unwrap_or_default();
        let ended = parts.iter().map(|part| part.began_ns + part.elapsed_ns).min().unwrap_or_default();
        let longest = parts.iter().map(|part| part.elapsed_ns).max().unwrap_or_default();
        Overlap { together_ns: ended.saturating_sub(began), longest_ns: longest }
    }

    /// Returns whether all parts were measured in parallel for most of the time. Parts that do not overlap do not
    /// disturb each other.
    pub fn is_enough(self) -> bool {
        self.together_ns as f64 >= ENOUGH * self.longest_ns as f64
    }

    /// Returns the factor by which the duration must grow for enough overlap; `None` if it is enough. The distances
    /// between starts and between ends do not depend on the duration. The factor 2 allows for twice these distances in
    /// another trial.
    pub fn lengthened(self) -> Option<f64> {
        let apart = self.longest_ns.saturating_sub(self.together_ns) as f64;
        (!self.is_enough()).then(|| 2.0 * apart / ((1.0 - ENOUGH) * self.longest_ns as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    fn overlap(parts: &[(u64, u64)]) -> Overlap {
        let part = |&(began_ns, elapsed_ns): &(u64, u64)| Part {
            party: Role::Initiator.into(),
            round_trips: 1,
            began_ns,
            elapsed_ns,
        };
        Overlap::of(&parts.iter().map(part).collect::<Vec<_>>())
    }

    #[test]
    fn parts_have_in_common_what_is_after_all_beginnings_and_before_all_ends() {
        let some = overlap(&[(0, 100), (20, 60), (10, 90)]);
        assert_eq!(some, Overlap { together_ns: 60, longest_ns: 100 });
        assert!(!some.is_enough() && overlap(&[(0, 100), (20, 80)]).is_enough());
        assert_eq!(overlap(&[(0, 100), (200, 100)]).together_ns, 0);
    }

    #[test]
    fn one_alone_and_none_are_together() {
        assert!(overlap(&[(0, 100)]).is_enough() && overlap(&[]).is_enough());
    }

    #[test]
    fn where_it_takes_as_much_longer_as_it_says_all_are_together() {
        let short = overlap(&[(0, 100), (40, 100)]);
        assert_eq!(short, Overlap { together_ns: 60, longest_ns: 100 });
        assert_eq!(short.lengthened().map(f64::round), Some(4.0));
        assert!(overlap(&[(0, 400), (80, 400)]).is_enough());
        assert_eq!(overlap(&[(0, 400), (40, 400)]).lengthened(), None);
    }
}

//! How long several were measured at the same moment.

use crate::Part;

/// How much of the longest part all others must have been measured in too.
const ENOUGH: f64 = 0.8;

/// What all parts of a trial have in common, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// From the last beginning to the first end.
    pub together_ns: u64,
    /// How long the longest part took.
    pub longest_ns: u64,
}

impl Overlap {
    /// That of these parts.
    pub fn of(parts: &[Part]) -> Overlap {
        let began = parts.iter().map(|part| part.began_ns).max().unwrap_or_default();
        let ended = parts.iter().map(|part| part.began_ns + part.elapsed_ns).min().unwrap_or_default();
        let longest = parts.iter().map(|part| part.elapsed_ns).max().unwrap_or_default();
        Overlap { together_ns: ended.saturating_sub(began), longest_ns: longest }
    }

    /// Whether all were measured at the same moment for most of the time: those that were not did not disturb each other.
    pub fn is_enough(self) -> bool {
        self.together_ns as f64 >= ENOUGH * self.longest_ns as f64
    }

    /// How many times as long it would have to take for that, if it is not enough: beginnings and ends are as far apart
    /// however long it takes, and may be twice as far another time.
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

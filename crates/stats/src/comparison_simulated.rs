//! How often rows are told apart that are the same, and how often rows that differ, on a machine whose pace changes as that
//! of a real one did.

use crate::fixture::pace::{OTHER_CORE, Pace, SAME_CORE, SPINNING};
use crate::{Placed, adjusted, comparison_intervals, median_interval};
use fastrand::Rng;
use std::ops::Range;

/// A group of rows that is measured in rounds, in a new order in each.
#[derive(Clone, Copy)]
struct Group {
    rows: usize,
    rounds: usize,
    /// Trials of all rows of the run in a round; those of the group follow each other.
    all: usize,
    /// By how much the second half of its rows is slower.
    slower: f64,
}

/// Two rows of a group: which of them is called slower, if they are told apart.
type Verdict = Option<bool>;

impl Group {
    fn draw(self, times: &[f64], random: &mut Rng) -> Vec<Placed> {
        let Group { rows, rounds, all, slower } = self;
        let start = random.usize(..=times.len() - rounds * all);
        let mut values = Vec::new();
        for round in 0..rounds {
            let mut order: Vec<usize> = (0..rows).collect();
            random.shuffle(&mut order);
            let first = round * all + random.usize(..=all - rows);
            values.extend(order.into_iter().enumerate().map(|(at, row)| {
                let position = first + at;
                let factor = if row >= rows / 2 { 1.0 + slower } else { 1.0 };
                Placed { row, position, value: (times[start + position] * factor).ln() }
            }));
        }
        values
    }

    /// Whether the one row is told to be slower than the other.
    fn verdict(one: [f64; 2], other: [f64; 2]) -> Verdict {
        (one[0] > other[1] || other[0] > one[1]).then(|| one[0] > other[1])
    }

    /// The share of groups with a false difference, and the share of true differences that are found.
    fn judge(self, pace: Pace, seed: u64, intervals: impl Fn(&[Placed]) -> Vec<[f64; 2]>) -> (f64, f64) {
        const GROUPS: usize = 300;
        let (times, mut random) = (pace.times(), Rng::with_seed(seed));
        let (mut wrong, mut found, mut pairs) = (0, 0, 0);
        for _ in 0..GROUPS {
            let intervals = intervals(&self.draw(&times, &mut random));
            let is_slow = |row: usize| self.slower > 0.0 && row >= self.rows / 2;
            let mut false_difference = false;
            for slow in 0..self.rows {
                for fast in 0..slow {
                    let verdict = Group::verdict(intervals[slow], intervals[fast]);
                    if is_slow(slow) && !is_slow(fast) {
                        pairs += 1;
                        found += usize::from(verdict == Some(true));
                        false_difference |= verdict == Some(false);
                    } else {
                        false_difference |= verdict.is_some();
                    }
                }
            }
            wrong += usize::from(false_difference);
        }
        (wrong as f64 / GROUPS as f64, found as f64 / f64::from(pairs.max(1)))
    }

    fn by_row(self, values: &[Placed]) -> Vec<Vec<f64>> {
        let of = |row| values.iter().filter(move |placed| placed.row == row).map(|placed| placed.value);
        (0..self.rows).map(|row| of(row).collect()).collect()
    }

    /// By the intervals of neighbours and groups.
    fn by_comparison(self, pace: Pace) -> (f64, f64) {
        self.judge(pace, 1, |values| {
            let rows = adjusted(values, self.rows).unwrap_or_else(|| self.by_row(values));
            comparison_intervals(&rows).into_iter().flatten().collect()
        })
    }

    /// By the interval of each row alone.
    fn by_medians(self, pace: Pace) -> (f64, f64) {
        self.judge(pace, 1, |values| {
            self.by_row(values).iter().filter_map(|row| median_interval(row)).collect()
        })
    }
}

/// A group of the quick set, and one that is a run by itself.
const QUICK: Group = Group { rows: 17, rounds: 15, all: 56, slower: 0.0 };
const FIVE: Group = Group { rows: 5, rounds: 15, all: 5, slower: 0.0 };

const PACES: [(&str, Pace); 3] =
    [("on one core", SAME_CORE), ("on two cores", OTHER_CORE), ("spinning", SPINNING)];

#[test]
fn rows_that_are_the_same_are_told_apart_in_5_of_100_runs() {
    for (name, pace) in PACES {
        for group in [QUICK, FIVE, Group { rows: 2, all: 2, ..FIVE }] {
            let (wrong, _) = group.by_comparison(pace);
            println!("{} rows {name}: a false difference in {:.1} of 100", group.rows, 100.0 * wrong);
            // As many as chance allows where it is 5 of 100.
            assert!(wrong <= 0.08, "{} rows {name}: {wrong}", group.rows);
        }
    }
}

/// The smallest of these differences that is found in 80 of 100 pairs.
fn found_by(judge: impl Fn(f64) -> (f64, f64)) -> f64 {
    let differences = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5];
    differences.into_iter().find(|slower| judge(*slower).1 >= 0.8).unwrap_or(f64::INFINITY)
}

#[test]
fn smaller_differences_are_found_than_by_the_medians_alone() {
    find_smaller_differences(1..2);
}

/// Checks these of the paces.
fn find_smaller_differences(paces: Range<usize>) {
    // What must be found in the quick set, and in a run of five rows.
    let most = [[0.15, 0.15], [0.25, 0.2], [0.3, 0.15]];
    for ((name, pace), most) in PACES.into_iter().zip(most).skip(paces.start).take(paces.len()) {
        for (group, most) in [QUICK, FIVE].into_iter().zip(most) {
            let ours = found_by(|slower| Group { slower, ..group }.by_comparison(pace));
            let plain = found_by(|slower| Group { slower, ..group }.by_medians(pace));
            println!(
                "{} rows {name}: +{:.0} %, by medians alone +{:.0} %",
                group.rows,
                100.0 * ours,
                100.0 * plain
            );
            assert!(ours <= most && ours <= plain, "{} rows {name}: {ours}, {plain}", group.rows);
        }
    }
}

/// Run where slow tests are asked for.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn smaller_differences_are_found_at_every_pace() {
        find_smaller_differences(0..PACES.len());
    }
}

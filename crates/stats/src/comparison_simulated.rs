//! Simulation of groups of benchmarks with the recorded pace of a real machine: how often equal benchmarks differ, and how
//! often a difference is found. It includes the previous method. That method compared each trial with its neighbours in
//! time among all benchmarks and rounds, and ranked by medians that were not printed.

use crate::comparison::intervals_with;
use crate::fixture::pace::{QUIET, Recording, SHARED};
use crate::{PlacedValue, RoundsRow, at_one_pace, comparison_intervals, median};
use fastrand::Rng;

/// Rounds in which every benchmark has a trial.
const ROUNDS: usize = 15;
/// Further rounds of the [`WIDE`] benchmarks, with as many trials as further rounds of all benchmarks.
const FURTHER: usize = 27;
/// Benchmarks with further trials in the previous method: one of the first kind, and three of the second.
const WIDE: [usize; 4] = [5, 6, 7, 8];

/// Group of benchmarks that is measured in rounds, with a new order in each round.
#[derive(Clone)]
struct Group {
    name: &'static str,
    /// Kind of work of each benchmark.
    rows: Vec<usize>,
    /// Number of trials per round in the whole run. The trials of the group are adjacent.
    all: usize,
    /// Recorded times of each kind of work at every position.
    paces: Vec<Vec<f64>>,
    /// Whether further trials follow.
    further: bool,
    /// Factor by which the second kind is slower in further trials.
    mood: f64,
}

/// Intervals of the logarithm of the ratio of each benchmark to each other one.
type Intervals = Vec<Vec<[f64; 2]>>;

/// Method: whether all benchmarks have further trials, and the computation of the intervals.
#[derive(Clone, Copy)]
struct Method {
    further_for_all: bool,
    intervals: fn(&[PlacedValue], &[usize]) -> Intervals,
}

const PREVIOUS: Method = Method { further_for_all: false, intervals: previous };
const PRESENT: Method = Method { further_for_all: true, intervals: present };

impl Group {
    fn one_kind(name: &'static str, rows: usize, all: usize, pace: Vec<f64>) -> Group {
        Group { name, rows: vec![0; rows], all, paces: vec![pace], further: false, mood: 1.0 }
    }

    fn all(recording: &Recording) -> Vec<Group> {
        let [cache_line, system_call, _] = recording.kinds();
        let mut groups = Vec::new();
        for (rows, all) in [(17, 56), (5, 5), (2, 2)] {
            for (name, pace) in recording.each() {
                groups.push(Group::one_kind(name, rows, all, pace));
            }
        }
        let mixed = Group {
            name: "two kinds of work",
            rows: vec![0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
            all: 10,
            paces: vec![cache_line, system_call],
            further: false,
            mood: 1.0,
        };
        let further = Group { name: "two kinds, further trials", further: true, ..mixed.clone() };
        let moody = Group { name: "the same, system calls then 1.3x slower", mood: 1.3, ..further.clone() };
        groups.extend([mixed, further, moody]);
        groups
    }

    /// Draws the trials of a group in which every second benchmark is slower by this share.
    fn draw(&self, slower: f64, further_for_all: bool, random: &mut Rng) -> Vec<PlacedValue> {
        let Group { rows, all, paces, .. } = self;
        let everyone: Vec<usize> = (0..rows.len()).collect();
        let mut rounds = vec![everyone.clone(); ROUNDS];
        if self.further {
            let (members, count) = match further_for_all {
                true => (everyone, FURTHER * WIDE.len() / rows.len()),
                false => (WIDE.to_vec(), FURTHER),
            };
            rounds.extend(vec![members; count]);
        }
        let length = ROUNDS * all + if self.further { FURTHER * WIDE.len() } else { 0 };
        let start = random.usize(..=paces[0].len() - length);
        let (mut first, mut values) = (start, Vec::new());
        for (number, mut round) in rounds.into_iter().enumerate() {
            random.shuffle(&mut round);
            let place = first + random.usize(..=(*all).max(round.len()) - round.len()).min(all - rows.len());
            values.extend(round.iter().enumerate().map(|(at, &row)| {
                let mood = if number >= ROUNDS && rows[row] == 1 { self.mood } else { 1.0 };
                let own = if row % 2 == 1 { 1.0 + slower } else { 1.0 };
                let position = place + at;
                PlacedValue { row, position, value: (paces[rows[row]][position] * own * mood).ln() }
            }));
            first += if number < ROUNDS { *all } else { round.len() };
        }
        values
    }

    /// Returns the share of groups with a false difference, and the share of true differences that are found.
    fn judge(&self, method: Method, slower: f64, groups: usize, seed: u64) -> (f64, f64) {
        let (mut wrong, mut found, mut pairs) = (0, 0, 0);
        let mut random = Rng::with_seed(seed);
        for _ in 0..groups {
            let drawn = self.draw(slower, method.further_for_all, &mut random);
            let intervals = (method.intervals)(&drawn, &self.rows);
            let mut is_wrong = false;
            for (slow, against) in intervals.iter().enumerate() {
                // The ratio of benchmarks of different kinds changes from run to run.
                for fast in (0..self.rows.len()).filter(|fast| self.rows[*fast] == self.rows[slow]) {
                    let is_slower = against[fast][0] > 0.0;
                    if slower > 0.0 && slow % 2 == 1 && fast % 2 == 0 {
                        (pairs, found) = (pairs + 1, found + usize::from(is_slower));
                    } else {
                        is_wrong |= is_slower;
                    }
                }
            }
            wrong += usize::from(is_wrong);
        }
        (wrong as f64 / groups as f64, found as f64 / f64::from(pairs.max(1)))
    }
}

fn by_row(values: &[PlacedValue], rows: usize) -> Vec<Vec<f64>> {
    let of = |row| values.iter().filter(move |placed| placed.row == row).map(|placed| placed.value);
    (0..rows).map(|row| of(row).collect()).collect()
}

fn pairs(intervals: &[Option<[f64; 2]>], also: impl Fn(usize, usize, [f64; 2]) -> [f64; 2]) -> Intervals {
    let ratio = |one: usize, other: usize| {
        let ([low, high], [other_low, other_high]) = (intervals[one].unwrap(), intervals[other].unwrap());
        also(one, other, [low - other_high, high - other_low])
    };
    let rows = intervals.len();
    (0..rows).map(|one| (0..rows).map(|other| ratio(one, other)).collect()).collect()
}

/// Computes the intervals of the present method. It uses complete rounds at one pace per kind of work, and the interval of
/// a ratio contains the quotient of the printed medians.
fn present(values: &[PlacedValue], kinds: &[usize]) -> Intervals {
    let rows: Vec<_> = kinds.iter().map(|kind| RoundsRow { kind: *kind, may_be_missing: false }).collect();
    let adjusted: Vec<_> = at_one_pace(values, &rows).into_iter().map(|row| row.values).collect();
    let printed: Vec<_> = by_row(values, rows.len()).iter().map(|values| median(values).unwrap()).collect();
    pairs(&comparison_intervals(&adjusted), |one, other, [low, high]| {
        let quotient = printed[one] - printed[other];
        [low.min(quotient), high.max(quotient)]
    })
}

/// Computes the intervals of the previous method. It removes the mean of the nearest four values of other benchmarks, of
/// any kind and round, from all benchmarks or from none.
fn previous(values: &[PlacedValue], kinds: &[usize]) -> Intervals {
    const REACH: usize = 2;
    let mut values = values.to_vec();
    values.sort_by_key(|placed| placed.position);
    let neighbours = |at: usize| {
        let near = &values[at.saturating_sub(REACH)..(at + REACH + 1).min(values.len())];
        let own = values[at];
        let distance = move |other: &PlacedValue| own.position.abs_diff(other.position);
        let is_neighbour = move |other: &&PlacedValue| other.row != own.row && distance(other) <= REACH;
        near.iter().filter(is_neighbour).map(move |other| (1.0 / distance(other) as f64, *other))
    };
    let rows = kinds.len();
    let adjust = |medians: &[f64]| {
        let mut adjusted = vec![Vec::new(); rows];
        for at in (0..values.len()).filter(|at| neighbours(*at).next().is_some()) {
            let weight = neighbours(at).map(|(weight, _)| weight).sum::<f64>();
            let slower = neighbours(at).map(|(weight, other)| weight * (other.value - medians[other.row]));
            adjusted[values[at].row].push(values[at].value - slower.sum::<f64>() / weight);
        }
        adjusted
    };
    let measured = by_row(&values, rows);
    let medians = |rows: &[Vec<f64>]| rows.iter().map(|row| median(row).unwrap()).collect::<Vec<_>>();
    let mut found = medians(&measured);
    for _ in 0..12 {
        let next = medians(&adjust(&found));
        found.iter_mut().zip(next).for_each(|(row, next)| *row = f64::midpoint(*row, next));
    }
    let adjusted = adjust(&found);
    let spread = |rows: &[Vec<f64>]| -> f64 {
        let of_row = |row: &Vec<f64>| {
            let middle = median(row).unwrap();
            median(&row.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>()).unwrap()
        };
        rows.iter().map(of_row).sum()
    };
    let chosen = if spread(&adjusted) <= spread(&measured) { adjusted } else { measured };
    pairs(&intervals_with(&chosen, 0.95), |_, _, interval| interval)
}

/// Extent of the simulation.
struct Extent {
    /// Numbers of groups: equal benchmarks with the present method, equal benchmarks with the previous one, and each
    /// difference.
    groups: [usize; 3],
    /// Differences to find. The last two are checked.
    differences: &'static [f64],
    /// Maximum share of groups of equal benchmarks with a false difference.
    most_wrong: f64,
    /// Maximum loss of power of the present method.
    tolerance: f64,
}

/// Prints how often the previous and the present method find a difference. Checks that the present one rarely finds a
/// difference between equal benchmarks, and finds differences of 10 and 20 % as often as the previous one.
fn check(recording: Recording, seed: u64, extent: &Extent) {
    let Extent { groups, differences, most_wrong, tolerance } = extent;
    let [now, before, of_difference] = *groups;
    let mut failed = Vec::new();
    println!("{}, seed {seed}", recording.name);
    let heads: Vec<_> =
        differences.iter().map(|slower| format!("found of +{:.0} %", 100.0 * slower)).collect();
    println!("| rows | pace recorded | false before | now | {} |", heads.join(" | "));
    println!("|---|---|--:|--:|{}", "--:|".repeat(heads.len()));
    for group in Group::all(&recording) {
        let wrong = [(PREVIOUS, before), (PRESENT, now)]
            .map(|(method, groups)| group.judge(method, 0.0, groups, seed).0);
        let found: Vec<_> = differences
            .iter()
            .map(|slower| {
                [PREVIOUS, PRESENT].map(|method| group.judge(method, *slower, of_difference, seed).1)
            })
            .collect();
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        let shares: Vec<_> =
            found.iter().map(|[before, now]| format!("{} → {}", percent(*before), percent(*now))).collect();
        println!(
            "| {} | {} | {:.1} | {:.1} | {} |",
            group.rows.len(),
            group.name,
            100.0 * wrong[0],
            100.0 * wrong[1],
            shares.join(" | ")
        );
        let is_weaker = |[before, now]: &[f64; 2]| now < &(before - tolerance);
        if wrong[1] > *most_wrong || found.iter().rev().take(2).any(is_weaker) {
            failed.push(format!("{} rows, {}: {wrong:?} {found:?}", group.rows.len(), group.name));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn equal_rows_tie_and_differences_are_found() {
    // Maximum number that chance allows at a rate of 5 of 100.
    let extent = Extent { groups: [80, 20, 20], differences: &[0.1, 0.2], most_wrong: 0.12, tolerance: 0.2 };
    check(SHARED, 1, &extent);
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    /// One standard error above 5 % in 800 groups. The previous method has up to 92 %.
    const OF_800: Extent =
        Extent { groups: [800, 100, 100], differences: &[0.1, 0.2], most_wrong: 0.058, tolerance: 0.1 };
    /// Extent of the tables in `docs/ranking.md`. The seed of the tests has at most 5 %.
    const DOCUMENTED: Extent = Extent {
        groups: [1600, 1600, 400],
        differences: &[0.02, 0.05, 0.1, 0.2],
        most_wrong: 0.05,
        tolerance: 0.1,
    };

    fn check_slowly(recording: Recording) {
        let extent = if std::env::var_os("FURLONG_SIMULATE").is_some() { DOCUMENTED } else { OF_800 };
        check(recording, 5, &extent);
    }

    // The levels of the intervals were chosen with other seeds.
    #[test]
    #[ignore = "slow"]
    fn at_most_5_of_100_groups_of_a_shared_host_have_a_false_difference() {
        check_slowly(SHARED);
    }

    // The levels were not chosen with this recording.
    #[test]
    #[ignore = "slow"]
    fn at_most_5_of_100_groups_of_a_quiet_host_have_a_false_difference() {
        check_slowly(QUIET);
    }
}

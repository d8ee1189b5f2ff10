//! Two levels of the core-to-core time within a run, and results that hold at both.
//!
//! If a host moves a core, the benchmarked machine effectively changes for seconds or minutes. Results with cores close to
//! each other may not hold with distant cores. A median over both levels is representative of neither.

use crate::{
    CommonProperties, Group, Ratio, Row, Run,
    checks::on_two_processors,
    complete_rounds::comparables,
    noise::{MOVED, core_to_core_times},
    ranking::resolved,
    trials::{MeasuredTrial, Trials},
};
use furlong_stats::{median, tidy};
use serde::Serialize;
use std::array;

/// Minimum number of readings at a level, because a single one is noise.
const FEWEST_READINGS: usize = 2;
/// Minimum number of trials of a benchmark at a level.
const FEWEST_TRIALS: usize = 5;

/// Two levels of the core-to-core time, the lower one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regimes {
    /// Shortest and longest bare round trip at each level, in nanoseconds.
    pub core_to_core_ns: [[f64; 2]; 2],
    /// Number of readings at each level.
    pub readings: [usize; 2],
    /// Results at both levels, for each cross-core group that was measured at both.
    pub groups: Vec<InBoth>,
}

/// Results for a group at both levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InBoth {
    /// Common properties of the benchmarks.
    pub among: CommonProperties,
    /// Number of benchmarks with enough trials at both levels.
    pub rows: usize,
    /// Median ratio of the higher level to the lower one.
    pub times: f64,
    /// Benchmark that is first at both levels, if it is the same.
    pub first: Option<String>,
    /// Number of pairs that are significantly different at both levels, in the same order.
    pub same: usize,
    /// Number of pairs that are significantly different at only one level.
    pub at_one: usize,
    /// Pairs with opposite orders at the two levels. The faster benchmark at the lower level comes first.
    pub opposite: Vec<[String; 2]>,
}

impl Regimes {
    /// Computes the levels of a run; `None` if there is one level, or if no benchmark was measured at both.
    pub(crate) fn of(run: &Run, trials: &Trials, groups: &[Group], rows: &[Row]) -> Option<Regimes> {
        let times = core_to_core_times(&run.noise);
        let highest_of_lower = split(&times)?;
        let (lower, higher) = times.split_at(highest_of_lower + 1);
        let level = |ns: f64| usize::from(ns >= higher[0]);
        let levels: Vec<(usize, Option<usize>)> = run
            .trials_before
            .iter()
            .zip(&run.noise)
            .map(|(before, reading)| (*before, reading.core_to_core_ns.map(level)))
            .collect();
        let at = |level: usize, row: &Row| -> Vec<&MeasuredTrial> {
            let trials = trials.measured(&row.case);
            trials.filter(|trial| level_of(trial.position, &levels) == Some(level)).collect()
        };
        let in_both = |group: &Group| {
            let rows = rows.iter().filter(|row| row.group == group.name);
            let rows: Vec<(&Row, [Vec<&MeasuredTrial>; 2])> = rows
                .map(|row| (row, array::from_fn(|level| at(level, row))))
                .filter(|(_, levels)| levels.iter().all(|trials| trials.len() >= FEWEST_TRIALS))
                .collect();
            InBoth::of(run, group, &rows)
        };
        let on_two = groups.iter().filter(|group| on_two_processors(group.placement));
        let groups: Vec<InBoth> = on_two.filter_map(in_both).collect();
        let ends = |times: &[f64]| [times[0], times[times.len() - 1]].map(tidy);
        (!groups.is_empty()).then(|| Regimes {
            core_to_core_ns: [lower, higher].map(ends),
            readings: [lower, higher].map(<[f64]>::len),
            groups,
        })
    }
}

/// Returns the index of the highest time of the lower level, in ascending order. The widest gap follows it.
fn split(times: &[f64]) -> Option<usize> {
    let gaps = times.windows(2).map(|pair| pair[1] / pair[0]).enumerate();
    let (at, gap) = gaps.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let enough = (at + 1).min(times.len() - at - 1) >= FEWEST_READINGS;
    (gap >= MOVED && enough).then_some(at)
}

/// Returns the level of a trial: that of the readings before and after it, if they agree.
fn level_of(position: usize, levels: &[(usize, Option<usize>)]) -> Option<usize> {
    let after = levels.iter().position(|(before, _)| *before > position)?;
    let (_, next) = levels[after];
    let (_, last) = *levels.get(after.checked_sub(1)?)?;
    next.filter(|_| next == last)
}

impl InBoth {
    /// Compares these benchmarks with their trials at the lower and the higher level; `None` without any.
    fn of(run: &Run, group: &Group, rows: &[(&Row, [Vec<&MeasuredTrial>; 2])]) -> Option<InBoth> {
        let median_ns = |trials: &Vec<&MeasuredTrial>| {
            median(&trials.iter().filter_map(|trial| trial.deciding_ns).collect::<Vec<_>>())
        };
        let ratio = |(_, [lower, higher]): &(&Row, [Vec<&MeasuredTrial>; 2])| {
            Some(median_ns(higher)? / median_ns(lower)?)
        };
        let times = median(&rows.iter().filter_map(ratio).collect::<Vec<_>>())?;
        let at: [Vec<Row>; 2] = array::from_fn(|level| {
            let trials: Vec<_> = rows.iter().map(|(_, levels)| levels[level].clone()).collect();
            let of = rows.iter().zip(comparables(rows.iter().map(|(row, _)| *row), &trials));
            of.map(|((row, _), found)| Row {
                comparable: resolved(row, found, &run.header.harness),
                ..(*row).clone()
            })
            .collect()
        });
        let mut found = InBoth {
            among: CommonProperties::of(group),
            rows: rows.len(),
            times: tidy(times),
            first: first(&at),
            same: 0,
            at_one: 0,
            opposite: Vec::new(),
        };
        for one in 0..rows.len() {
            for other in one + 1..rows.len() {
                let orders = array::from_fn(|level| is_faster(&at[level][one], &at[level][other]));
                let name = |row: usize| rows[row].0.case.row();
                match orders {
                    [Some(lower), Some(higher)] if lower == higher => found.same += 1,
                    [Some(true), Some(_)] => found.opposite.push([name(one), name(other)]),
                    [Some(false), Some(_)] => found.opposite.push([name(other), name(one)]),
                    [Some(_), None] | [None, Some(_)] => found.at_one += 1,
                    [None, None] => {}
                }
            }
        }
        Some(found)
    }
}

/// Returns the benchmark with the shortest median at both levels.
fn first(levels: &[Vec<Row>; 2]) -> Option<String> {
    let median_ns = |row: &&Row| row.comparable.map_or(f64::INFINITY, |comparable| comparable.median_ns);
    let fastest = |rows: &Vec<Row>| {
        let fastest = rows.iter().min_by(|one, other| median_ns(one).total_cmp(&median_ns(other)))?;
        (rows.len() > 1).then(|| fastest.case.row())
    };
    let [lower, higher] = array::from_fn(|level| fastest(&levels[level]));
    lower.filter(|first| higher.as_ref() == Some(first))
}

/// Whether one benchmark is faster than the other; `None` if they tie.
fn is_faster(one: &Row, other: &Row) -> Option<bool> {
    let both = [one.comparable?, other.comparable?];
    let medians_ns = both.map(|found| found.median_ns);
    let ratio = Ratio::from_figures(medians_ns, Some(both.map(|found| found.interval_ns)));
    (!ratio.is_tie()).then_some(medians_ns[0] < medians_ns[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, family, header, measurement, quiet};
    use crate::{DecodedRun, Finding, Level};
    use furlong_model::{Case, Outcome, Placement, Record, Trial, Wait};

    /// Number of rounds between two readings.
    const BETWEEN: u32 = 8;

    /// Returns a run with a reading of each of these core-to-core times. Between two of them, [`BETWEEN`] rounds of the
    /// benchmarks take `median_ns`, which depends on the benchmark and the last reading.
    fn run(readings: &[f64], rows: &[&str], place: Placement, median_ns: impl Fn(&str, f64) -> f64) -> Run {
        let mut records = vec![Record::Run(header())];
        let cases: Vec<Case> = rows.iter().map(|row| case(row, Wait::Block, place)).collect();
        for (number, bare_ns) in readings.iter().enumerate() {
            records.push(Record::Noise(quiet(number as u64, *bare_ns)));
            if number + 1 == readings.len() {
                break;
            }
            for round in 0..BETWEEN {
                let number = number as u32 * BETWEEN + round;
                let chance = 1.0 + 0.002 * f64::from(number * 7 % 5);
                records.extend(cases.iter().map(|case| {
                    let measured = measurement(case, median_ns(&case.mechanism, *bare_ns) * chance, 0);
                    let family = family(&case.mechanism);
                    Record::Trial(Trial {
                        case: case.clone(),
                        family,
                        number,
                        at_ns: None,
                        outcome: Outcome::Measured(measured),
                    })
                }));
            }
        }
        Run::from_records(records).unwrap()
    }

    /// Returns the levels in the summary of a run.
    fn found(run: &Run) -> Option<Regimes> {
        let summary = DecodedRun::of(run).summary;
        summary.findings.into_iter().find_map(|finding| match finding {
            Finding::TwoLevels(regimes) => Some(regimes),
            _ => None,
        })
    }

    const READINGS: [f64; 6] = [62.0, 65.0, 64.0, 310.0, 305.0, 312.0];
    const ROWS: [&str; 3] = ["pipe", "tcp", "unix-stream"];

    /// The pipe is always the fastest. The other two change places if the cores are distant.
    fn changing(row: &str, bare_ns: f64) -> f64 {
        match (row, bare_ns > 100.0) {
            ("pipe", false) => 10_000.0,
            ("pipe", true) => 15_000.0,
            ("tcp", false) | ("unix-stream", true) => 20_000.0,
            _ => 30_000.0,
        }
    }

    #[test]
    fn what_holds_at_both_levels_is_said_and_what_does_not() {
        let regimes = found(&run(&READINGS, &ROWS, Placement::OtherCore, changing)).unwrap();
        assert_eq!(regimes.core_to_core_ns, [[62.0, 65.0], [305.0, 312.0]]);
        assert_eq!(regimes.readings, [3, 3]);
        let [group] = &regimes.groups[..] else { panic!("{regimes:?}") };
        assert_eq!((group.rows, group.same, group.at_one), (3, 2, 0));
        assert_eq!(group.opposite, [["tcp/block".to_owned(), "unix-stream/block".to_owned()]]);
        assert_eq!(group.first.as_deref(), Some("pipe/block"));
        assert!((1.4..1.6).contains(&group.times), "{group:?}");
    }

    #[test]
    fn it_is_said_of_an_unreliable_machine_too() {
        let run = run(&READINGS, &ROWS, Placement::OtherCore, changing);
        assert_eq!(DecodedRun::of(&run).summary.run.noise.level, Level::Unreliable);
        assert!(found(&run).is_some());
    }

    #[test]
    fn one_level_a_hiccup_or_one_core_say_nothing() {
        let of = |readings: &[f64]| found(&run(readings, &ROWS, Placement::OtherCore, changing));
        assert_eq!(of(&[62.0, 65.0, 64.0, 70.0, 80.0, 61.0]), None);
        assert_eq!(of(&[62.0, 65.0, 64.0, 310.0, 65.0, 61.0]), None);
        assert_eq!(found(&run(&READINGS, &ROWS, Placement::SameCore, changing)), None);
    }

    #[test]
    fn trials_between_readings_of_two_levels_are_of_neither() {
        let levels = [(0, Some(0)), (10, Some(0)), (20, Some(1)), (30, Some(1)), (40, None)];
        let at = |position| level_of(position, &levels);
        assert_eq!(
            [at(0), at(9), at(10), at(19), at(20), at(29)],
            [Some(0), Some(0), None, None, Some(1), Some(1)]
        );
        assert_eq!([at(30), at(40), level_of(3, &[])], [None; 3]);
    }
}

//! Self-check: each case is measured under two names, and both must tie.
//!
//! In a run for this check, trials with an even number belong to copy A and those with an odd number to copy B. Repeats
//! follow each other: with T trials of each copy in a repeat, trial n belongs to repeat n / 2T.

use crate::{
    DecodedRun, Group, Row, SkippedCase,
    complete_rounds::comparables,
    ranking::{resolved, tie},
    trials::{CaseTrials, MeasuredTrial},
};
use furlong_model::{Case, RunHeader, Trial};
use furlong_stats::{FEWEST_TRIALS, SortedMap, distinct, median, median_interval, tidy};
use serde::Serialize;

/// Share of comparisons that may find a difference by chance: at most this share of groups contains a false difference.
const FALSE_DIFFERENCES: f64 = 0.05;
/// Minimum probability of the number of false differences. If it is less probable, the check fails.
const LEAST_CHANCE: f64 = 0.01;
/// Names of the copies.
const COPIES: [char; 2] = ['A', 'B'];

/// Result of measuring every case twice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfCheck {
    /// Cases that could be compared with themselves.
    pub rows: Vec<CheckedRow>,
    /// Cases with missing comparisons, and the reason.
    pub unjudged: Vec<MissingComparisons>,
    /// Number of comparisons over all cases.
    pub repeats: usize,
    /// Number of comparisons in which the copies tied.
    pub ties: usize,
    /// Share of ties, from 0 to 1; 0 without any comparison.
    pub share: f64,
    /// Minimum number of ties to pass. With a false-difference rate of 5 %, fewer ties occur by chance in less than 1 of
    /// 100 checks.
    pub needed: usize,
    /// Whether there are enough ties.
    pub passed: bool,
}

/// Case that was compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedRow {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Number of comparisons.
    pub repeats: usize,
    /// Number of comparisons in which the copies tied, by the rule of the ranking.
    pub ties: usize,
    /// Share of ties, from 0 to 1.
    pub share: f64,
    /// Largest ratio of the larger median to the smaller one among the comparisons; 1 if they never differed.
    pub worst_ratio: f64,
    /// Copy A over all repeats.
    pub first: CopyFigures,
    /// Copy B over all repeats.
    pub second: CopyFigures,
}

/// Figures of one copy over all compared repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CopyFigures {
    /// Median of the trials' medians, in nanoseconds.
    pub p50_ns: f64,
    /// 95 % confidence interval of the median, in nanoseconds.
    pub ci95_ns: Option<[f64; 2]>,
}

/// Missing comparisons of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingComparisons {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Number of missing comparisons.
    pub repeats: usize,
    /// Reason for the first of them.
    pub reason: String,
}

/// Compares the two copies of every case in a run for the self-check.
pub fn self_check(run: &DecodedRun) -> SelfCheck {
    let per_repeat = run.records.header.trials.saturating_mul(2).max(1);
    let repeats = distinct(run.records.trials.iter().map(|trial| trial.number / per_repeat));
    let mut results: SortedMap<&Case, (Vec<Comparison>, Vec<String>)> = SortedMap::default();
    for repeat in repeats {
        for (case, result) in compare(run, |trial| trial.number / per_repeat == repeat) {
            let (made, refused) = results.or_default(case);
            match result {
                Ok(comparison) => made.push(comparison),
                Err(reason) => refused.push(reason),
            }
        }
    }
    let rows: Vec<_> = results.iter().filter_map(|(case, (made, _))| CheckedRow::of(case, made)).collect();
    let unjudged = results
        .into_iter()
        .filter_map(|(case, (_, refused))| MissingComparisons::of(case, refused))
        .collect();
    let repeats = rows.iter().map(|row| row.repeats).sum();
    let ties = rows.iter().map(|row| row.ties).sum();
    let needed = fewest_ties(repeats);
    let passed = repeats > 0 && ties >= needed;
    SelfCheck { rows, unjudged, repeats, ties, share: share(ties, repeats), needed, passed }
}

/// Returns the minimum number of ties that chance allows among `comparisons`.
fn fewest_ties(comparisons: usize) -> usize {
    let allowed = |ties: &usize| chance_of_misses(comparisons - ties, comparisons) >= LEAST_CHANCE;
    (0..=comparisons).find(allowed).unwrap_or(comparisons)
}

/// Returns the probability of at least `misses` false differences among `comparisons`, at the rate [`FALSE_DIFFERENCES`].
fn chance_of_misses(misses: usize, comparisons: usize) -> f64 {
    let (wrong, right) = (FALSE_DIFFERENCES, 1.0 - FALSE_DIFFERENCES);
    let mut chance = right.powi(comparisons as i32);
    let mut fewer = 0.0;
    for count in 0..misses {
        fewer += chance;
        chance *= (comparisons - count) as f64 / (count + 1) as f64 * wrong / right;
    }
    1.0 - fewer
}

fn share(ties: usize, repeats: usize) -> f64 {
    if repeats == 0 { 0.0 } else { tidy(ties as f64 / repeats as f64) }
}

impl CheckedRow {
    /// Returns `None` without a comparison.
    fn of(case: &Case, made: &[Comparison]) -> Option<Self> {
        let ties = made.iter().filter(|comparison| comparison.tie).count();
        let pooled = |copy: usize| {
            let medians: Vec<f64> =
                made.iter().flat_map(|comparison| &comparison.medians_ns[copy]).copied().collect();
            let ci95_ns = median_interval(&medians).map(|ends| ends.map(tidy));
            Some(CopyFigures { p50_ns: tidy(median(&medians)?), ci95_ns })
        };
        Some(CheckedRow {
            case: case.clone(),
            repeats: made.len(),
            ties,
            share: share(ties, made.len()),
            worst_ratio: tidy(made.iter().map(|comparison| comparison.ratio).fold(1.0, f64::max)),
            first: pooled(0)?,
            second: pooled(1)?,
        })
    }
}

impl MissingComparisons {
    /// Returns `None` if no comparison is missing.
    fn of(case: &Case, refused: Vec<String>) -> Option<Self> {
        let repeats = refused.len();
        let reason = refused.into_iter().next()?;
        Some(MissingComparisons { case: case.clone(), repeats, reason })
    }
}

/// Comparison of the two copies in one repeat.
struct Comparison {
    tie: bool,
    /// Ratio of the larger median to the smaller.
    ratio: f64,
    /// Medians of the trials of each copy.
    medians_ns: [Vec<f64>; 2],
}

/// Compares the copies of each case in one repeat, or returns why it cannot. As in any ranking, it compares all benchmarks
/// of a group together, with two of them for each case.
fn compare<'a>(
    run: &DecodedRun<'a>,
    of_repeat: impl Fn(&Trial) -> bool,
) -> Vec<(&'a Case, Result<Comparison, String>)> {
    let header = &run.records.header;
    let (mut groups, mut results): (SortedMap<Group, Vec<Copies>>, _) = (SortedMap::default(), Vec::new());
    for (case, trials) in run.trials.by_case() {
        let trials = trials.only(&of_repeat);
        if trials.records().next().is_none() {
            continue;
        }
        match Copies::of(header, case, &trials) {
            Ok(copies) => groups.or_default(Group::from_row(&copies.rows[0])).push(copies),
            Err(reason) => results.push((case, Err(reason))),
        }
    }
    for (_, mut members) in groups {
        let trials: Vec<Vec<&MeasuredTrial>> =
            members.iter().flat_map(|copies| &copies.trials).map(|copy| copy.measured().collect()).collect();
        let rows = members.iter().flat_map(|copies| &copies.rows);
        let comparables = comparables(rows, &trials);
        for (copies, comparables) in members.iter_mut().zip(comparables.chunks_exact(2)) {
            for (row, found) in copies.rows.iter_mut().zip(comparables) {
                row.comparable = resolved(row, *found, &header.harness);
            }
        }
        results.extend(members.into_iter().map(|copies| (copies.case, Ok(copies.comparison()))));
    }
    results
}

/// Two copies of a case in one repeat.
struct Copies<'a> {
    case: &'a Case,
    rows: [Row; 2],
    trials: [CaseTrials<'a>; 2],
}

impl<'a> Copies<'a> {
    /// Returns the copies, or the reason why they cannot be compared.
    fn of(header: &RunHeader, case: &'a Case, trials: &CaseTrials<'a>) -> Result<Self, String> {
        let copies = [0, 1].map(|copy| trials.only(|trial| trial.number % 2 == copy));
        let family = trials.records().find_map(|trial| trial.family);
        let row = |copy: usize| {
            let measured: Vec<_> = copies[copy].measured().collect();
            if measured.len() < FEWEST_TRIALS {
                return Err(too_few(case, COPIES[copy], measured.len(), trials));
            }
            Row::measure(header, case, family, &measured).map_err(|breach| breach.reason)
        };
        let rows = [row(0)?, row(1)?];
        Ok(Copies { case, rows, trials: copies })
    }

    fn comparison(&self) -> Comparison {
        let [first, second] = &self.rows;
        let ratio = first.exchange.deciding().ns / second.exchange.deciding().ns;
        Comparison {
            tie: tie(first, second),
            ratio: ratio.max(1.0 / ratio),
            medians_ns: self
                .trials
                .each_ref()
                .map(|copy| copy.measured().filter_map(|trial| trial.deciding_ns).collect()),
        }
    }
}

fn too_few(case: &Case, name: char, count: usize, trials: &CaseTrials) -> String {
    let why = SkippedCase::of(case, trials.records())
        .map_or_else(String::new, |trouble| format!(" ({})", trouble.reason));
    format!("copy {name} has {count} measured trials, and an interval needs {FEWEST_TRIALS}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Run,
        fixture::{case, header, measurement},
    };
    use furlong_model::{Failure, Fault, Outcome, Phase, Placement, Record, Trial, Wait};

    /// Returns a run of two repeats with 5 trials of each copy, whose medians are `median_ns(number)`.
    fn run(median_ns: impl Fn(u32) -> f64) -> Run {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let trial = |number| {
            let outcome = Outcome::Measured(measurement(&case, median_ns(number), 0));
            Record::Trial(Trial { case: case.clone(), family: None, number, at_ns: None, outcome })
        };
        Run::from_records([Record::Run(header())].into_iter().chain((0..20).map(trial))).unwrap()
    }

    /// Returns slightly different times of the trials, equal in both copies.
    fn wobble(number: u32) -> f64 {
        50_000.0 * (1.0 + 0.002 * f64::from(number / 2 % 5))
    }

    #[test]
    fn a_case_ties_with_itself() {
        let check = self_check(&DecodedRun::of(&run(wobble)));
        assert!(check.passed && check.unjudged.is_empty());
        assert_eq!((check.repeats, check.ties, check.share), (2, 2, 1.0));
        let row = &check.rows[0];
        assert_eq!((row.repeats, row.ties, row.worst_ratio), (2, 2, 1.0));
        assert_eq!(row.first, row.second);
        let [low, high] = row.first.ci95_ns.unwrap();
        assert!(low < row.first.p50_ns && row.first.p50_ns < high);
    }

    #[test]
    fn copies_that_differ_in_one_repeat_are_found() {
        let run = run(|number| {
            let slow = number >= 10 && number % 2 == 1;
            wobble(number) * if slow { 1.25 } else { 1.0 }
        });
        let check = self_check(&DecodedRun::of(&run));
        assert!(check.passed, "chance may do that once in two");
        assert_eq!((check.repeats, check.ties, check.share), (2, 1, 0.5));
        assert!((check.rows[0].worst_ratio - 1.25).abs() < 0.01, "{check:?}");
        assert!(check.rows[0].second.p50_ns > check.rows[0].first.p50_ns);
    }

    #[test]
    fn copies_that_differ_more_often_than_by_chance_fail_the_check() {
        let slow = |number: u32| wobble(number) * if number % 2 == 1 { 1.25 } else { 1.0 };
        let check = self_check(&DecodedRun::of(&run(slow)));
        assert!(!check.passed && check.ties == 0);
        assert_eq!((check.needed, fewest_ties(20), fewest_ties(40)), (1, 16, 34));
        assert!((chance_of_misses(0, 20) - 1.0).abs() < 1e-9);
        // Of 20 comparisons, 3 may differ and 5 may not: 0.0755 and 0.0026 by the binomial distribution.
        assert!((chance_of_misses(3, 20) - 0.0755).abs() < 1e-4, "{}", chance_of_misses(3, 20));
        assert!((chance_of_misses(5, 20) - 0.0026).abs() < 1e-4);
    }

    #[test]
    fn who_may_lose_messages_is_checked_apart() {
        let mut run = run(wobble);
        for trial in &mut run.trials {
            if let Outcome::Measured(measured) = &mut trial.outcome {
                measured.lost = Some(0);
            }
        }
        let run = DecodedRun::of(&run);
        let (case, trials) = run.trials.by_case().next().unwrap();
        let copies = Copies::of(&run.records.header, case, &trials.only(|_| true)).unwrap();
        assert!(Group::from_row(&copies.rows[0]).loses);
    }

    #[test]
    fn what_has_too_few_trials_is_listed() {
        let mut run = run(wobble);
        for trial in run.trials.iter_mut().filter(|trial| trial.number >= 13) {
            let detail = "nothing came from it for 2 s".to_owned();
            let failure = Failure { phase: Phase::Timed, party: None, fault: Fault::Silent, detail };
            trial.outcome = Outcome::Failed(failure);
        }
        let check = self_check(&DecodedRun::of(&run));
        assert_eq!((check.repeats, check.ties), (1, 1));
        assert_eq!(check.unjudged.len(), 1);
        let unjudged = &check.unjudged[0];
        assert_eq!(unjudged.repeats, 1);
        let reason = "copy A has 2 measured trials, and an interval needs 3 (in phase timed: nothing came";
        assert!(unjudged.reason.starts_with(reason), "{}", unjudged.reason);
    }

    #[test]
    fn figures_that_break_a_law_are_listed() {
        let mut run = run(wobble);
        for trial in &mut run.trials {
            if let Outcome::Measured(measured) = &mut trial.outcome {
                measured.verified_messages = 0;
            }
        }
        let check = self_check(&DecodedRun::of(&run));
        assert!(!check.passed && check.rows.is_empty());
        assert_eq!(
            (check.unjudged[0].repeats, check.unjudged[0].reason.as_str()),
            (2, "trial 1: no message was verified")
        );
    }

    #[test]
    fn a_run_without_trials_does_not_pass() {
        let check = self_check(&DecodedRun::of(&Run::from_records([Record::Run(header())]).unwrap()));
        assert_eq!((check.passed, check.repeats, check.share), (false, 0, 0.0));
    }
}

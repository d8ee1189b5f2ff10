//! Whether furlong finds no difference where there is none: each case measured under two names must tie with itself.
//!
//! In a run made for this, trials with an even number are of copy A and those with an odd number of copy B, and
//! repeats follow each other: with T trials of each copy in a repeat, trial n belongs to repeat n / 2T.

use crate::{
    DecodedRun, Row, Skipped,
    ranking::overlap,
    trials::{CaseTrials, MeasuredTrial},
};
use furlong_model::{Case, RunHeader};
use furlong_stats::{Distribution, FEWEST_TRIALS, median, median_interval, tidy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The share of comparisons that must tie. Two intervals of 95 % each overlap in 99 % of cases where nothing but
/// chance is between them.
const NEEDED_SHARE: f64 = 0.95;
/// The names of the copies.
const COPIES: [char; 2] = ['A', 'B'];

/// What came of measuring every case twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfCheck {
    /// The cases that could be compared with themselves.
    pub rows: Vec<CheckedRow>,
    /// Where a comparison could not be made, and why.
    pub unjudged: Vec<Unjudged>,
    /// Comparisons over all cases.
    pub repeats: usize,
    /// Those in which the copies tied.
    pub ties: usize,
    /// Ties by comparisons, 0 to 1; 0 without any comparison.
    pub share: f64,
    /// Whether the share is 0.95 or more.
    pub passed: bool,
}

/// A case compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedRow {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// Comparisons.
    pub repeats: usize,
    /// Those in which the copies tied, by the rule that ranks use.
    pub ties: usize,
    /// Ties by comparisons, 0 to 1.
    pub share: f64,
    /// The larger median by the smaller one in the comparison where that is largest; 1 if they never differed.
    pub worst_ratio: f64,
    /// Copy A over all repeats.
    pub first: CopyFigures,
    /// Copy B over all repeats.
    pub second: CopyFigures,
}

/// One copy's figures over all repeats that were compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CopyFigures {
    /// The median of the trials' medians, in nanoseconds.
    pub p50_ns: f64,
    /// Its 95 % interval, in nanoseconds.
    pub ci95_ns: Option<[f64; 2]>,
}

/// Comparisons of a case that could not be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unjudged {
    /// What was to be measured.
    #[serde(flatten)]
    pub case: Case,
    /// How many could not be made.
    pub repeats: usize,
    /// Why the first of them could not.
    pub reason: String,
}

/// Compares the two copies of every case of a run that was made for it.
pub fn self_check(run: &DecodedRun) -> SelfCheck {
    let (mut rows, mut unjudged) = (Vec::new(), Vec::new());
    for (case, trials) in run.trials.by_case() {
        let (made, refused) = compare_all(&run.records.header, case, trials);
        rows.extend(CheckedRow::of(case, &made));
        unjudged.extend(Unjudged::of(case, refused));
    }
    let repeats = rows.iter().map(|row| row.repeats).sum();
    let ties = rows.iter().map(|row| row.ties).sum();
    let share = share(ties, repeats);
    SelfCheck { rows, unjudged, repeats, ties, share, passed: share >= NEEDED_SHARE }
}

fn share(ties: usize, repeats: usize) -> f64 {
    if repeats == 0 { 0.0 } else { tidy(ties as f64 / repeats as f64) }
}

impl CheckedRow {
    /// `None` without a comparison.
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

impl Unjudged {
    /// `None` if nothing was refused.
    fn of(case: &Case, refused: Vec<String>) -> Option<Self> {
        let repeats = refused.len();
        let reason = refused.into_iter().next()?;
        Some(Unjudged { case: case.clone(), repeats, reason })
    }
}

/// One repeat's comparison of the two copies.
struct Comparison {
    tie: bool,
    /// The larger median by the smaller.
    ratio: f64,
    /// The trials' medians of each copy.
    medians_ns: [Vec<f64>; 2],
}

/// The comparisons of a case, and why others could not be made.
fn compare_all(header: &RunHeader, case: &Case, trials: &CaseTrials) -> (Vec<Comparison>, Vec<String>) {
    let per_repeat = header.trials.saturating_mul(2).max(1);
    let repeats: BTreeSet<u32> = trials.records().map(|trial| trial.number / per_repeat).collect();
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for repeat in repeats {
        match Comparison::of(header, case, &trials.only(|trial| trial.number / per_repeat == repeat)) {
            Ok(comparison) => made.push(comparison),
            Err(reason) => refused.push(reason),
        }
    }
    (made, refused)
}

impl Comparison {
    /// Compares the copies in one repeat, or says why it cannot.
    fn of(header: &RunHeader, case: &Case, trials: &CaseTrials) -> Result<Self, String> {
        let copies = [0, 1].map(|copy| trials.only(|trial| trial.number % 2 == copy));
        let copies = copies.each_ref().map(|copy| copy.measured().collect::<Vec<_>>());
        for (name, copy) in COPIES.iter().zip(&copies) {
            if copy.len() < FEWEST_TRIALS {
                return Err(too_few(case, *name, copy.len(), trials));
            }
        }
        let family = trials.records().find_map(|trial| trial.family);
        let row = |copy| Row::measure(header, case, family, copy).map_err(|breach| breach.reason);
        let (first, second) = (row(&copies[0])?, row(&copies[1])?);
        let readable = |trial: &&MeasuredTrial| trial.times.as_ref().map(Distribution::median_ns).ok();
        let ratio = first.exchange.ns.p50 / second.exchange.ns.p50;
        Ok(Comparison {
            tie: overlap(&first, &second, &header.harness),
            ratio: ratio.max(1.0 / ratio),
            medians_ns: copies.map(|copy| copy.iter().filter_map(readable).collect()),
        })
    }
}

fn too_few(case: &Case, name: char, count: usize, trials: &CaseTrials) -> String {
    let why = Skipped::of(case, trials.records())
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

    /// A run of two repeats with 5 trials of each copy, whose medians are `median_ns(number)`.
    fn run(median_ns: impl Fn(u32) -> f64) -> Run {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let trial = |number| {
            let outcome = Outcome::Measured(measurement(&case, median_ns(number), 0));
            Record::Trial(Trial { case: case.clone(), family: None, number, outcome })
        };
        Run::from_records([Record::Run(header())].into_iter().chain((0..20).map(trial))).unwrap()
    }

    /// Trials that differ a little, the same way in both copies.
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
    fn copies_that_differ_in_one_repeat_fail_the_check() {
        let run = run(|number| {
            let slow = number >= 10 && number % 2 == 1;
            wobble(number) * if slow { 1.25 } else { 1.0 }
        });
        let check = self_check(&DecodedRun::of(&run));
        assert!(!check.passed);
        assert_eq!((check.repeats, check.ties, check.share), (2, 1, 0.5));
        assert!((check.rows[0].worst_ratio - 1.25).abs() < 0.01, "{check:?}");
        assert!(check.rows[0].second.p50_ns > check.rows[0].first.p50_ns);
    }

    #[test]
    fn what_has_too_few_trials_is_listed() {
        let mut run = run(wobble);
        for trial in run.trials.iter_mut().filter(|trial| trial.number >= 13) {
            let detail = "nothing came from it for 2 s".to_owned();
            let failure = Failure { phase: Phase::Timed, role: None, fault: Fault::Silent, detail };
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

    #[test]
    fn it_reads_back_from_json() {
        let check = self_check(&DecodedRun::of(&run(wobble)));
        let text = serde_json::to_string(&check).unwrap();
        assert_eq!(serde_json::from_str::<SelfCheck>(&text).unwrap(), check);
    }
}

//! One row in two runs: how many times as long it takes, within which interval, and what may be said of it.

use super::power::{detectable_change, trials_for_same};
use crate::NamedRun;
use crate::{
    Level, Row,
    comparable::{LEAST_NS, logarithm},
    ranking::resolution_ns,
};
use furlong_model::{Case, Harness, Unit};
use furlong_stats::{holm, outwards, rank_sum_chance, shift_interval, sort_by, tidy};
use serde::Serialize;

/// The chance of a false alarm in all rows of two runs together.
const ALPHA: f64 = 0.05;

/// What became of a row, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It takes longer: the test says so, and all of the interval is above the margin.
    Worse,
    /// It takes less time: the test says so, and all of the interval is below the margin.
    Better,
    /// None of the others can be said.
    Inconclusive,
    /// It takes as long: all of the interval is within the margin, or both are the very same trials.
    Same,
}

impl Change {
    /// All of them, in the order of tables.
    pub const ALL: [Change; 4] = [Change::Worse, Change::Better, Change::Inconclusive, Change::Same];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Worse => "worse",
            Change::Better => "better",
            Change::Inconclusive => "inconclusive",
            Change::Same => "same",
        }
    }
}

/// A row that two runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// The run that is compared with the baseline.
    pub run: String,
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// What became of it.
    pub verdict: Change,
    /// How many times as long as in the baseline it takes, by the medians. Above 1 is slower.
    pub ratio: f64,
    /// The 95 % interval of the factor between the trials of the two runs, widened by what the clock resolves and to
    /// hold `ratio`; `None` where there are too few trials for one.
    pub ci95: Option<[f64; 2]>,
    /// How often chance alone would part two such runs of this row as far (rank-sum test); `None` for the very same
    /// trials, or too few.
    pub p: Option<f64>,
    /// The same, corrected for the number of rows (Holm).
    pub p_adjusted: Option<f64>,
    /// What one exchange is.
    pub unit: Unit,
    /// The median of one exchange in the baseline, in nanoseconds.
    pub baseline_ns: f64,
    /// The median in the other run, in nanoseconds.
    pub new_ns: f64,
    /// Measured trials in the baseline.
    pub baseline_trials: usize,
    /// Measured trials in the other run.
    pub new_trials: usize,
    /// Whether, in one of the runs, trials drift or fall into groups, or two kinds of exchanges part the median: then
    /// the interval may be too narrow.
    pub doubtful: bool,
    /// Whether both runs hold the very same trials, as copies of one run do.
    pub identical: bool,
    /// The least change, as a share, that would have read worse in 80 of 100 such comparisons; `None` without an interval.
    pub detectable_change: Option<f64>,
    /// Trials in each run with which 80 of 100 pairs of equal runs would read the same; `None` without an interval.
    pub trials_for_same: Option<f64>,
    /// Why it is inconclusive; `None` for any other verdict.
    #[serde(rename = "reason_data")]
    pub reason: Option<Inconclusive>,
}

/// Why of a row it cannot be said what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Inconclusive {
    /// The machine was unreliable.
    Unreliable {
        /// During these runs.
        during: Vec<String>,
    },
    /// There are too few trials for an interval.
    TooFewTrials {
        /// In the baseline.
        baseline: usize,
        /// In the other run.
        new: usize,
    },
    /// It is beyond the margin by itself, and not surely so among so many.
    NotSure {
        /// Rows that were tested.
        tested: usize,
    },
    /// It changed, by more than the margin or by less.
    Changed,
    /// The interval reaches beyond the margin.
    Wide,
}

/// The rows that both have, the worse first, then by ratio.
pub(super) fn compare_rows(baseline: NamedRun, new: NamedRun, margin: f64) -> Vec<ComparedRow> {
    let of_case = |case: &Case| new.run.summary.rows.iter().find(|row| row.case == *case);
    let pairs = baseline.run.summary.rows.iter().filter_map(|row| Some((row, of_case(&row.case)?)));
    let mut rows: Vec<ComparedRow> = pairs.map(|(old, row)| figures(baseline, new, old, row)).collect();
    let chances: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
    let tested = rows.iter_mut().filter(|row| row.p.is_some());
    tested.zip(holm(&chances)).for_each(|(row, raised)| row.p_adjusted = Some(tidy(raised)));
    let unreliable: Vec<&str> = [baseline, new]
        .iter()
        .filter(|side| side.run.summary.run.noise.level == Level::Unreliable)
        .map(|side| side.name)
        .collect();
    for row in rows.iter_mut().filter(|row| !row.identical) {
        let trials = [row.baseline_trials, row.new_trials];
        let interval = row.ci95.filter(|[low, _]| *low > 0.0);
        row.detectable_change = interval.map(|interval| detectable_change(interval, margin));
        row.trials_for_same = interval.map(|interval| trials_for_same(interval, trials, margin));
    }
    for row in &mut rows {
        (row.verdict, row.reason) = match judge(row, margin, chances.len(), &unreliable) {
            Ok(verdict) => (verdict, None),
            Err(reason) => (Change::Inconclusive, Some(reason)),
        };
    }
    sort_by(&mut rows, |a, b| {
        a.verdict.cmp(&b.verdict).then(b.ratio.total_cmp(&a.ratio)).then(a.case.cmp(&b.case))
    });
    rows
}

/// All but the verdict, which takes all rows.
fn figures(baseline: NamedRun, new: NamedRun, old_row: &Row, new_row: &Row) -> ComparedRow {
    let case = &old_row.case;
    let logarithms =
        |side: NamedRun| -> Vec<f64> { side.run.medians_ns(case).into_iter().map(logarithm).collect() };
    let identical = are_identical(baseline, new, case);
    let (old, newer) = (logarithms(baseline), logarithms(new));
    // As for ranks: what two medians must differ by to differ at all.
    let widening = resolved(old_row, &baseline.run.records.header.harness)
        .max(resolved(new_row, &new.run.records.header.harness));
    let ratio = new_row.exchange.ns.p50 / old_row.exchange.ns.p50.max(LEAST_NS);
    let interval = shift_interval(&old, &newer).map(|[low, high]| {
        // Where the runs differ in more than a factor, the ratio of the medians may lie outside.
        [(low - widening).exp().min(ratio), (high + widening).exp().max(ratio)]
    });
    let (ratio, interval) = if identical { (1.0, Some([1.0, 1.0])) } else { (ratio, interval) };
    ComparedRow {
        run: new.name.to_owned(),
        case: case.clone(),
        verdict: Change::Inconclusive,
        ratio: tidy(ratio),
        ci95: interval.map(outwards),
        p: rank_sum_chance(&old, &newer).filter(|_| !identical && interval.is_some()).map(tidy),
        p_adjusted: None,
        unit: old_row.exchange.unit,
        baseline_ns: old_row.exchange.ns.p50,
        new_ns: new_row.exchange.ns.p50,
        baseline_trials: old_row.trials,
        new_trials: new_row.trials,
        doubtful: old_row.shape.is_doubtful() || new_row.shape.is_doubtful(),
        identical,
        detectable_change: None,
        trials_for_same: None,
        reason: None,
    }
}

/// What the row's median may be off by since time is read in steps, as a logarithm.
fn resolved(row: &Row, harness: &Harness) -> f64 {
    (resolution_ns(row, harness) / row.exchange.ns.p50.max(LEAST_NS)).ln_1p()
}

/// Whether both runs have the same measured trials of the case, figure for figure: chance does not do that.
fn are_identical(baseline: NamedRun, new: NamedRun, case: &Case) -> bool {
    baseline.run.measured(case).eq(new.run.measured(case))
}

/// What the interval of a ratio says by itself. The margin is of times, both ways.
pub(crate) fn by_margin([low, high]: [f64; 2], margin: f64) -> Change {
    let limit = 1.0 + margin;
    match () {
        () if low >= 1.0 / limit && high <= limit => Change::Same,
        () if low > limit => Change::Worse,
        () if high < 1.0 / limit => Change::Better,
        () => Change::Inconclusive,
    }
}

/// The verdict, or why there is none. `tested` is how many rows the test was corrected for.
fn judge(row: &ComparedRow, margin: f64, tested: usize, unreliable: &[&str]) -> Result<Change, Inconclusive> {
    if row.identical {
        return Ok(Change::Same);
    }
    if !unreliable.is_empty() {
        let during = unreliable.iter().map(|name| (*name).to_owned()).collect();
        return Err(Inconclusive::Unreliable { during });
    }
    let Some(ends) = row.ci95 else {
        let (baseline, new) = (row.baseline_trials, row.new_trials);
        return Err(Inconclusive::TooFewTrials { baseline, new });
    };
    let differs = row.p_adjusted.is_some_and(|p| p < ALPHA);
    match by_margin(ends, margin) {
        Change::Inconclusive if differs => Err(Inconclusive::Changed),
        Change::Inconclusive => Err(Inconclusive::Wide),
        Change::Worse | Change::Better if !differs => Err(Inconclusive::NotSure { tested }),
        change => Ok(change),
    }
}

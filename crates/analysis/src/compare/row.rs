//! Comparison of one benchmark in two runs: the ratio of the times, its interval, and the verdict.

use super::power::{detectable_change, trials_for_same};
use crate::NamedRun;
use crate::{
    Level, Row,
    comparable::{LEAST_NS, logarithm},
    ranking::resolution_ns,
};
use furlong_model::{Case, Harness, Unit, named_enum};
use furlong_stats::{holm, outwards, rank_sum_chance, shift_interval, sort_by, tidy};
use serde::Serialize;

/// Probability of a false alarm in all benchmarks of two runs together.
const ALPHA: f64 = 0.05;

named_enum! {
    /// Change of a benchmark. The worst comes first.
    Change {
        /// Slower: the test is significant, and the whole interval is above the margin.
        Worse = "worse",
        /// Faster: the test is significant, and the whole interval is below the margin.
        Better = "better",
        /// No other verdict is possible.
        Inconclusive = "inconclusive",
        /// Equal: the whole interval is within the margin, or both runs contain identical trials.
        Same = "same",
    }
}

/// Benchmark that two runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// The run that is compared with the baseline.
    pub run: String,
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Verdict on the change.
    pub verdict: Change,
    /// Ratio of the times to the baseline. Above 1 is slower. `None` if there are too few trials for an interval.
    pub ratio: Option<f64>,
    /// 95 % interval of the factor between the trials of the two runs. It is widened by the resolution of the clock and so
    /// that it contains `ratio`. `None` if there are too few trials.
    pub ci95: Option<[f64; 2]>,
    /// P-value of the rank-sum test between the trials of the two runs; `None` for identical or too few trials.
    pub p: Option<f64>,
    /// P-value corrected for the number of benchmarks (Holm).
    pub p_adjusted: Option<f64>,
    /// Unit of one exchange.
    pub unit: Unit,
    /// Median of one exchange in the baseline, in nanoseconds.
    pub baseline_ns: f64,
    /// Median in the other run, in nanoseconds.
    pub new_ns: f64,
    /// Measured trials in the baseline.
    pub baseline_trials: usize,
    /// Measured trials in the other run.
    pub new_trials: usize,
    /// Whether trials of one of the runs drift or form groups, or the median is between two kinds of exchanges. The
    /// interval may then be too narrow.
    pub doubtful: bool,
    /// Whether both runs contain identical trials, as copies of one run do.
    pub identical: bool,
    /// Smallest change, as a share, that would read worse in 80 of 100 such comparisons; `None` without an interval.
    pub detectable_change: Option<f64>,
    /// Trials in each run with which 80 of 100 pairs of equal runs would read the same; `None` without an interval.
    pub trials_for_same: Option<f64>,
    /// Reason for an inconclusive verdict; `None` for any other verdict.
    #[serde(rename = "reason_data")]
    pub reason: Option<InconclusiveReason>,
}

/// Reason for an inconclusive verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum InconclusiveReason {
    /// The machine was unreliable.
    Unreliable {
        /// Runs on an unreliable machine.
        during: Vec<String>,
    },
    /// There are too few trials for an interval.
    TooFewTrials {
        /// Trials in the baseline.
        baseline: usize,
        /// Trials in the other run.
        new: usize,
    },
    /// The interval is beyond the margin, but the test is not significant after the correction for the number of
    /// benchmarks.
    NotSure {
        /// Number of tested benchmarks.
        tested: usize,
    },
    /// The test is significant, but the interval contains a limit of the margin.
    Changed,
    /// The interval contains a limit of the margin, and the test is not significant.
    Wide,
}

/// Returns the benchmarks whose times are compared. The trials of a search have rates that only this search selected.
pub(super) fn timed_rows(side: NamedRun<'_>) -> impl Iterator<Item = &Row> {
    let is_searched = side.run.records.header.find_rate.is_some();
    side.run.summary.rows.iter().filter(move |_| !is_searched)
}

/// Returns the benchmarks that both runs have: the worse first, then by ratio.
pub(super) fn compare_rows(baseline: NamedRun, new: NamedRun, margin: f64) -> Vec<ComparedRow> {
    let of_case = |case: &Case| timed_rows(new).find(|row| row.case == *case);
    let pairs = timed_rows(baseline).filter_map(|row| Some((row, of_case(&row.case)?)));
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
        a.verdict
            .cmp(&b.verdict)
            .then(b.ratio.unwrap_or(1.0).total_cmp(&a.ratio.unwrap_or(1.0)))
            .then(a.case.cmp(&b.case))
    });
    rows
}

/// Returns the comparison without the verdict, which depends on all benchmarks.
fn figures(baseline: NamedRun, new: NamedRun, old_row: &Row, new_row: &Row) -> ComparedRow {
    let case = &old_row.case;
    let logarithms =
        |side: NamedRun| -> Vec<f64> { side.run.deciding_ns(case).into_iter().map(logarithm).collect() };
    let identical = are_identical(baseline, new, case);
    let (old, newer) = (logarithms(baseline), logarithms(new));
    // Medians must differ by more than the resolution, as in the ranking.
    let widening = resolved(old_row, &baseline.run.records.header.harness)
        .max(resolved(new_row, &new.run.records.header.harness));
    let ratio = new_row.exchange.deciding().ns / old_row.exchange.deciding().ns.max(LEAST_NS);
    let interval = shift_interval(&old, &newer).map(|[low, high]| {
        // If the runs differ by more than a factor, the ratio of the medians may be outside the interval.
        [(low - widening).exp().min(ratio), (high + widening).exp().max(ratio)]
    });
    let (ratio, interval) = if identical { (1.0, Some([1.0, 1.0])) } else { (ratio, interval) };
    ComparedRow {
        run: new.name.to_owned(),
        case: case.clone(),
        verdict: Change::Inconclusive,
        ratio: interval.map(|_| tidy(ratio)),
        ci95: interval.map(outwards),
        p: rank_sum_chance(&old, &newer).filter(|_| !identical && interval.is_some()).map(tidy),
        p_adjusted: None,
        unit: old_row.exchange.unit,
        baseline_ns: old_row.exchange.deciding().ns,
        new_ns: new_row.exchange.deciding().ns,
        baseline_trials: old_row.trials,
        new_trials: new_row.trials,
        doubtful: old_row.shape.is_doubtful() || new_row.shape.is_doubtful(),
        identical,
        detectable_change: None,
        trials_for_same: None,
        reason: None,
    }
}

/// Returns the uncertainty of the median due to the resolution of the clock, as a logarithm.
fn resolved(row: &Row, harness: &Harness) -> f64 {
    (resolution_ns(row, harness) / row.exchange.deciding().ns.max(LEAST_NS)).ln_1p()
}

/// Whether both runs have the same measured trials of the case. Identical figures do not occur by chance.
fn are_identical(baseline: NamedRun, new: NamedRun, case: &Case) -> bool {
    baseline.run.measured(case).eq(new.run.measured(case))
}

/// Returns the verdict by the interval of a ratio alone. The margin is a factor in both directions.
pub(crate) fn by_margin([low, high]: [f64; 2], margin: f64) -> Change {
    let limit = 1.0 + margin;
    match () {
        () if low >= 1.0 / limit && high <= limit => Change::Same,
        () if low > limit => Change::Worse,
        () if high < 1.0 / limit => Change::Better,
        () => Change::Inconclusive,
    }
}

/// Returns the verdict, or the reason against one. `tested` is the number of benchmarks in the correction of the test.
fn judge(
    row: &ComparedRow,
    margin: f64,
    tested: usize,
    unreliable: &[&str],
) -> Result<Change, InconclusiveReason> {
    if row.identical {
        return Ok(Change::Same);
    }
    if !unreliable.is_empty() {
        let during = unreliable.iter().map(|name| (*name).to_owned()).collect();
        return Err(InconclusiveReason::Unreliable { during });
    }
    let Some(ends) = row.ci95 else {
        let (baseline, new) = (row.baseline_trials, row.new_trials);
        return Err(InconclusiveReason::TooFewTrials { baseline, new });
    };
    let differs = row.p_adjusted.is_some_and(|p| p < ALPHA);
    match by_margin(ends, margin) {
        Change::Inconclusive if differs => Err(InconclusiveReason::Changed),
        Change::Inconclusive => Err(InconclusiveReason::Wide),
        Change::Worse | Change::Better if !differs => Err(InconclusiveReason::NotSure { tested }),
        change => Ok(change),
    }
}

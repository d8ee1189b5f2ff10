//! Statements about all benchmarks of a run: the power of those with wide intervals, and a common change of nearly all. A
//! single mechanism is not the reason for a common change.

use super::row::{Change, ComparedRow, InconclusiveReason};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// Minimum number of benchmarks for a common change.
const FEWEST: usize = 5;
/// Minimum share of the benchmarks that moved in the same direction.
const MOST: f64 = 0.8;

/// Maximum number of trials that is worth recommending.
const MOST_TRIALS: f64 = 300.0;

/// Power of the benchmarks whose intervals are too wide: the median over those benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Power {
    /// Smallest change, as a share, that would read worse in 80 of 100 such comparisons.
    pub detectable_change: f64,
    /// Trials per run with which runs without a change would read the same; `None` if no number of trials suffices.
    pub trials_for_same: Option<f64>,
}

impl Power {
    /// Computes the power of the common benchmarks of a run and the baseline. Returns `None` unless a benchmark on a
    /// reliable machine is inconclusive because its interval is too wide.
    pub(super) fn of(rows: &[ComparedRow]) -> Option<Self> {
        let is_wide = |row: &&ComparedRow| {
            let most = row.baseline_trials.max(row.new_trials) as f64;
            row.verdict == Change::Inconclusive
                && !matches!(row.reason, Some(InconclusiveReason::Unreliable { .. }))
                && row.trials_for_same.is_some_and(|trials| trials > most)
        };
        let wide: Vec<&ComparedRow> = rows.iter().filter(is_wide).collect();
        let of = |figure: fn(&ComparedRow) -> Option<f64>| {
            median(&wide.iter().filter_map(|row| figure(row)).collect::<Vec<_>>())
        };
        let (change, trials) = (of(|row| row.detectable_change)?, of(|row| row.trials_for_same)?);
        Some(Power {
            detectable_change: tidy(change),
            trials_for_same: Some(trials).filter(|trials| *trials <= MOST_TRIALS),
        })
    }
}

/// Common change of nearly all benchmarks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CommonChange {
    /// Number of benchmarks that moved.
    pub moved: usize,
    /// Number of benchmarks.
    pub rows: usize,
    /// Median ratio of all benchmarks.
    pub ratio: f64,
}

impl CommonChange {
    /// Computes it from the common benchmarks of a run and the baseline; `None` without a common change.
    pub(super) fn of(rows: &[ComparedRow], margin: f64) -> Option<Self> {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
        let middle = median(&ratios).filter(|_| ratios.len() >= FEWEST)?;
        let moved =
            ratios.iter().filter(|ratio| if middle > 1.0 { **ratio > 1.0 } else { **ratio < 1.0 }).count();
        let far = middle.max(1.0 / middle) > 1.0 + margin;
        (far && moved as f64 >= MOST * rows.len() as f64).then(|| CommonChange {
            moved,
            rows: rows.len(),
            ratio: tidy(middle),
        })
    }
}

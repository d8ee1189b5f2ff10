//! What the rows of a run say together: what those that are too wide could have shown, and that nearly all moved the same
//! way, which no single mechanism makes them do.

use super::row::{Change, ComparedRow, Inconclusive};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// Fewest rows that can move together.
const FEWEST: usize = 5;
/// The part of all rows that moved the same way, if they moved together.
const MOST: f64 = 0.8;

/// More trials than anybody makes.
const MOST_TRIALS: f64 = 300.0;

/// What the rows of a run could have shown whose intervals are too wide: the median of those rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Power {
    /// The least change, as a share, that would have read worse in 80 of 100 such comparisons.
    pub detectable_change: f64,
    /// Trials a run with which runs without a change would read the same; `None` where no number of trials will do.
    pub trials_for_same: Option<f64>,
}

impl Power {
    /// Returns the power of the rows that a run shares with the baseline. Returns `None` unless a row of a reliable machine is
    /// inconclusive because its interval is too wide.
    pub(super) fn of(rows: &[ComparedRow]) -> Option<Self> {
        let is_wide = |row: &&ComparedRow| {
            let most = row.baseline_trials.max(row.new_trials) as f64;
            row.verdict == Change::Inconclusive
                && !matches!(row.reason, Some(Inconclusive::Unreliable { .. }))
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

/// Nearly all rows of a run moved the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Together {
    /// How many did.
    pub moved: usize,
    /// How many there are.
    pub rows: usize,
    /// How many times as long all take, in the median.
    pub ratio: f64,
}

impl Together {
    /// Of the rows that a run shares with the baseline; `None` where they did not move together.
    pub(super) fn of(rows: &[ComparedRow], margin: f64) -> Option<Self> {
        let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
        let middle = median(&ratios).filter(|_| rows.len() >= FEWEST)?;
        let moved =
            ratios.iter().filter(|ratio| if middle > 1.0 { **ratio > 1.0 } else { **ratio < 1.0 }).count();
        let far = middle.max(1.0 / middle) > 1.0 + margin;
        (far && moved as f64 >= MOST * rows.len() as f64).then(|| Together {
            moved,
            rows: rows.len(),
            ratio: tidy(middle),
        })
    }
}

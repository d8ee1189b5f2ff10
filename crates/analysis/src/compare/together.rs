//! Rows that moved together, which no single mechanism makes them do.

use super::ComparedRow;
use furlong_stats::{median, tidy};
use serde::{Deserialize, Serialize};

/// Fewest rows that can move together.
const FEWEST: usize = 5;
/// The part of all rows that moved the same way, if they moved together.
const MOST: f64 = 0.8;

/// Nearly all rows of a run moved the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

//! Changes of the published order, pair by pair.

use super::{ReplayRow, fastest::published};
use furlong_model::Measure;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Numbers of pairs of benchmarks of one size with different published figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Pairs in the published order.
    pub kept: usize,
    /// Pairs in the opposite order.
    pub reversed: usize,
    /// Pairs with overlapping intervals.
    pub untold: usize,
    /// Pairs in which a benchmark has too few trials for an interval.
    #[serde(default)]
    pub no_interval: usize,
    /// Pairs in which a benchmark was not measured.
    pub untested: usize,
}

impl Pairs {
    /// Counts the pairs of all sizes.
    pub(super) fn of(rows: &[ReplayRow], measure: &Measure) -> Self {
        let figure = measure.order_by;
        let mut pairs = Pairs::default();
        for size in &measure.sizes_bytes {
            let rows: Vec<_> = published(rows, *size, figure).collect();
            for (at, row) in rows.iter().enumerate() {
                for other in &rows[at + 1..] {
                    let then = row.times_as_fast_as_then(other, figure);
                    let Some(then) = then.filter(|then| *then != 1.0) else { continue };
                    let ratio = row.times_as_fast_as(other, figure);
                    let has_interval = ratio.is_some_and(|ratio| ratio.ends.is_some());
                    let order = ratio.map(|ratio| ratio.against(1.0));
                    match order {
                        None => pairs.untested += 1,
                        Some(_) if !has_interval => pairs.no_interval += 1,
                        Some(None | Some(Ordering::Equal)) => pairs.untold += 1,
                        Some(Some(now)) if (now == Ordering::Greater) == (then > 1.0) => pairs.kept += 1,
                        Some(Some(_)) => pairs.reversed += 1,
                    }
                }
            }
        }
        pairs
    }

    /// Returns the number of compared pairs.
    pub fn tested(&self) -> usize {
        self.kept + self.reversed + self.untold
    }
}

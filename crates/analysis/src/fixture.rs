//! Runs of furlong-fixture for unit tests, which need the types of this crate, and synthetic benchmarks.

#[path = "../../fixture/src/runs/mod.rs"]
mod runs;

pub use runs::*;

use crate::{ComparableInterval, Row, trials::MeasuredTrial};
use furlong_model::{Placement, Wait};

/// Returns a benchmark with an interval of ±1 %, of a known family.
pub fn row(mechanism: &str, wait: Wait, placement: Placement, median_ns: f64) -> Row {
    let case = case(mechanism, wait, placement);
    let trials = [1.0, 0.99, 1.01].map(|factor| measurement(&case, median_ns * factor, 0));
    let decoded: Vec<_> = (0..)
        .zip(&trials)
        .map(|(number, trial)| MeasuredTrial::decode(&case, number, number as usize, trial))
        .collect();
    Row::measure(&header(), &case, family(mechanism), &decoded.iter().collect::<Vec<_>>()).unwrap()
}

/// Compares benchmarks by their medians and the intervals of these medians.
pub fn by_median(rows: &[Row]) -> Vec<Option<ComparableInterval>> {
    let of = |row: &Row| {
        let (median_ns, interval_ns) = (row.exchange.ns.p50, row.exchange.ns.median_ci95?);
        Some(ComparableInterval { median_ns, interval_ns, adjusted: false })
    };
    rows.iter().map(of).collect()
}

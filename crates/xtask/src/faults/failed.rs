//! The cells of a matrix that failed.

use super::judge::Verdict;
use super::page::Line;
use anyhow::ensure;
use std::fmt;

/// A cell that failed.
pub struct FailedCell {
    /// The fault.
    pub number: &'static str,
    /// Benchmark of the cell; empty if the fault is tried once for all benchmarks.
    pub row: String,
    /// The violated condition.
    pub what: String,
}

impl fmt::Display for FailedCell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.number, self.row, self.what)
    }
}

/// Returns the failed cells of a matrix.
pub fn of(lines: &[Line]) -> Vec<FailedCell> {
    let cells = lines.iter().flat_map(|line| line.cells.iter().map(|cell| (line.fault.number, cell)));
    cells
        .filter_map(|(number, (row, verdict))| match verdict {
            Verdict::Failed(what) => Some(FailedCell { number, row: row.clone(), what: what.clone() }),
            _ => None,
        })
        .collect()
}

/// Returns the cells, one per line.
pub fn listed(failed: &[FailedCell]) -> String {
    failed.iter().map(FailedCell::to_string).collect::<Vec<_>>().join("\n")
}

/// Checks that no cell failed.
///
/// # Errors
/// Returns an error that lists the failed cells.
pub fn none(failed: &[FailedCell]) -> anyhow::Result<()> {
    ensure!(failed.is_empty(), "cells that failed: {}\n{}", failed.len(), listed(failed));
    Ok(())
}

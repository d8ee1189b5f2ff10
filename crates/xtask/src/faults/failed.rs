//! The cells of a matrix that failed.

use super::judge::Verdict;
use super::page::Line;
use anyhow::ensure;
use std::fmt;

/// A cell that failed.
pub struct FailedCell {
    /// The fault.
    pub number: &'static str,
    /// Empty where a fault is tried once, with no row of its own.
    pub row: String,
    /// What does not hold.
    pub what: String,
}

impl fmt::Display for FailedCell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.number, self.row, self.what)
    }
}

/// Those of a matrix.
pub fn of(lines: &[Line]) -> Vec<FailedCell> {
    let cells = lines.iter().flat_map(|line| line.cells.iter().map(|cell| (line.fault.number, cell)));
    cells
        .filter_map(|(number, (row, verdict))| match verdict {
            Verdict::Failed(what) => Some(FailedCell { number, row: row.clone(), what: what.clone() }),
            _ => None,
        })
        .collect()
}

/// Each on a line.
pub fn listed(failed: &[FailedCell]) -> String {
    failed.iter().map(FailedCell::to_string).collect::<Vec<_>>().join("\n")
}

/// Fails unless there are none.
///
/// # Errors
/// Those that there are.
pub fn none(failed: &[FailedCell]) -> anyhow::Result<()> {
    ensure!(failed.is_empty(), "cells that failed: {}\n{}", failed.len(), listed(failed));
    Ok(())
}

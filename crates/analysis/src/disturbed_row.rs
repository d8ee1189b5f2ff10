//! Benchmarks that a quota or a neighbour disturbed.

use crate::Row;
use crate::environment::{EnvironmentFigures, QuotaFigures};
use serde::Serialize;

/// Benchmark whose roles used up their quota, or with a neighbour on the CPU of a role although it should not be there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DisturbedRow {
    /// Name of the benchmark.
    pub row: String,
    /// Throttling, if a role used up its quota.
    pub throttling: Option<QuotaFigures>,
    /// CPU that a neighbour shares with a role.
    pub shared_cpu: Option<usize>,
}

impl DisturbedRow {
    /// Returns `None` if the benchmark is not disturbed in this way.
    pub(crate) fn of(row: &Row) -> Option<DisturbedRow> {
        let EnvironmentFigures { throttling, neighbours, .. } = row.environment.as_ref()?;
        let throttling = throttling.filter(|found| found.periods_share > 0.0);
        let shared_cpu = neighbours.iter().find(|found| found.shares_cpu).and_then(|found| found.processor);
        (throttling.is_some() || shared_cpu.is_some()).then(|| DisturbedRow {
            row: row.case.row(),
            throttling,
            shared_cpu,
        })
    }
}

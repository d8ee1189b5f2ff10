//! Share of the exchange in the user's time. Below 1 %, the choice of a mechanism does not matter.

use super::RankedBenchmark;
use furlong_model::Workload;
use serde::Serialize;

/// Minimum share that matters.
const MATTERS: f64 = 0.01;

/// Share of the exchange in the available time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Budget {
    /// Available time per message, in nanoseconds.
    pub available_ns: f64,
    /// Origin of the available time.
    pub from: BudgetKind,
    /// Median of the choice, as a share of the available time.
    pub share: f64,
    /// Whether the share is large enough to matter.
    pub matters: bool,
}

/// Origin of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetKind {
    /// Work of the user on a message, plus the exchange itself.
    Work,
    /// The service level objective.
    Slo,
    /// The time between two messages.
    Interval,
}

impl Budget {
    /// Returns the most informative budget of the workload.
    pub(super) fn of(workload: &Workload, choice: &RankedBenchmark) -> Option<Budget> {
        let ns = |ns: u64| ns as f64;
        let work = workload.work_ns.map(|work| (ns(work) + choice.p50_ns, BudgetKind::Work));
        let slo = workload.slo.map(|slo| (ns(slo.limit_ns), BudgetKind::Slo));
        let interval = workload.interval_ns.map(|interval| (ns(interval), BudgetKind::Interval));
        let (available_ns, from) = work.or(slo).or(interval)?;
        let share = share(choice, available_ns);
        Some(Budget { available_ns, from, share, matters: share >= MATTERS })
    }

    /// Whether the median of a benchmark is a negligible share of the budget.
    pub fn is_negligible(&self, row: &RankedBenchmark) -> bool {
        share(row, self.available_ns) < MATTERS
    }
}

fn share(row: &RankedBenchmark, available_ns: f64) -> f64 {
    row.p50_ns / available_ns.max(1.0)
}

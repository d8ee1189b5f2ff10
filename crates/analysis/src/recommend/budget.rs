//! What share of a user's time goes into the exchange: below a hundredth, the choice of a mechanism does not matter.

use super::Ranked;
use furlong_model::Workload;
use serde::Serialize;

/// Below this share it does not matter.
const MATTERS: f64 = 0.01;

/// What the exchange takes of what there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Budget {
    /// What there is, in nanoseconds a message.
    pub available_ns: f64,
    /// Where that comes from.
    pub from: BudgetKind,
    /// The choice's median as a share of it.
    pub share: f64,
    /// Whether that is enough to care.
    pub matters: bool,
}

/// Where a budget comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetKind {
    /// The user's own work on a message, and the exchange itself.
    Work,
    /// The service level objective.
    Slo,
    /// The time between two messages.
    Interval,
}

impl Budget {
    /// The most telling one that the workload gives.
    pub(super) fn of(workload: &Workload, choice: &Ranked) -> Option<Budget> {
        let ns = |ns: u64| ns as f64;
        let work = workload.work_ns.map(|work| (ns(work) + choice.p50_ns, BudgetKind::Work));
        let slo = workload.slo.map(|slo| (ns(slo.limit_ns), BudgetKind::Slo));
        let interval = workload.interval_ns.map(|interval| (ns(interval), BudgetKind::Interval));
        let (available_ns, from) = work.or(slo).or(interval)?;
        let share = share(choice, available_ns);
        Some(Budget { available_ns, from, share, matters: share >= MATTERS })
    }

    /// Returns whether the median of a row is too small a share of the budget to matter.
    pub fn is_negligible(&self, row: &Ranked) -> bool {
        share(row, self.available_ns) < MATTERS
    }
}

fn share(row: &Ranked, available_ns: f64) -> f64 {
    row.p50_ns / available_ns.max(1.0)
}

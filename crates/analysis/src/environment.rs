//! Quotas and neighbours of a benchmark.

use crate::exchange::MedianTime;
use furlong_model::{Case, Measurement, NeighbourUse, QuotaUse};
use furlong_stats::tidy;
use serde::Serialize;

/// Figures of a benchmark with a requested quota or neighbour, or with the request for none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvironmentFigures {
    /// Mean time of an exchange with all pauses, in nanoseconds: the median over the trials. It decides.
    pub mean_ns: f64,
    /// 95 % interval of `mean_ns`; `None` for fewer than three trials.
    pub mean_ci95: Option<[f64; 2]>,
    /// Throttling of the roles; `None` without a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttling: Option<QuotaFigures>,
    /// Neighbours, with their CPU time in the measured parts of all trials; empty if none ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourUse>,
}

/// Throttling of roles by their CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuotaFigures {
    /// Length of a period in nanoseconds.
    pub period_ns: f64,
    /// Share of the periods in which a role used up its quota, over all roles, from 0 to 1.
    pub periods_share: f64,
    /// Mean pause until the next period, in nanoseconds; 0 if no role was throttled.
    pub pause_ns: f64,
}

impl EnvironmentFigures {
    /// Returns `None` if neither a quota nor a neighbour was requested, not even the absence of one.
    pub(crate) fn of(case: &Case, mean: MedianTime, trials: &[&Measurement]) -> Option<EnvironmentFigures> {
        if !case.conditions.vary_cpu_time() {
            return None;
        }
        let environments: Vec<_> = trials.iter().filter_map(|trial| trial.environment.as_deref()).collect();
        let mut neighbours = environments.first().map(|first| first.neighbours.clone()).unwrap_or_default();
        for (place, neighbour) in neighbours.iter_mut().enumerate() {
            let cpu_ns = environments.iter().filter_map(|trial| Some(trial.neighbours.get(place)?.cpu_ns));
            neighbour.cpu_ns = cpu_ns.fold(0, u64::saturating_add);
        }
        Some(EnvironmentFigures {
            mean_ns: mean.ns,
            mean_ci95: mean.ci95,
            throttling: QuotaFigures::of(environments.iter().flat_map(|trial| &trial.quotas)),
            neighbours,
        })
    }
}

impl QuotaFigures {
    fn of<'a>(quotas: impl Iterator<Item = &'a QuotaUse> + Clone) -> Option<QuotaFigures> {
        let sum =
            |figure: fn(&QuotaUse) -> u64| quotas.clone().map(|quota| figure(quota) as f64).sum::<f64>();
        let throttled = sum(|quota| quota.throttled_periods);
        Some(QuotaFigures {
            period_ns: quotas.clone().next()?.period_us as f64 * 1e3,
            // Counters are read a moment before and after the measured part.
            periods_share: tidy((throttled / sum(|quota| quota.periods).max(1.0)).min(1.0)),
            pause_ns: tidy(sum(|quota| quota.throttled_ns) / throttled.max(1.0)),
        })
    }
}

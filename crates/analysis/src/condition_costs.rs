//! Costs of quotas and neighbours: benchmarks that are slower because of them.
//!
//! The costs are ratios of mean times, because a pause of a whole period hardly changes a median.

use crate::Row;
use crate::environment::{EnvironmentFigures, QuotaFigures, beside, quota};
use furlong_model::{Case, ConditionKind, RequestedCondition};
use furlong_stats::{median_interval, sort_by, tidy};
use serde::Serialize;

/// Smallest ratio of mean times that is a finding.
const WORTH_SAYING: f64 = 1.2;

/// Benchmark that is slower under a condition, than without the condition or than with another policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionCost {
    /// Benchmark under the condition.
    pub with: MeanRow,
    /// Trials of that benchmark.
    pub trials: usize,
    /// Same benchmark without the condition, if it is significantly faster.
    pub without: Option<FasterRow>,
    /// Fastest benchmark with another policy under the same condition, if it is significantly faster.
    pub relief: Option<FasterRow>,
    /// Throttling, if the condition is a quota.
    pub throttling: Option<QuotaFigures>,
    /// CPU that a neighbour shares with a role although it should not.
    pub shared_cpu: Option<usize>,
}

/// Benchmark with the mean time of its exchanges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanRow {
    /// Name of the benchmark.
    pub row: String,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
}

/// Benchmark that is faster than another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FasterRow {
    /// Name and mean.
    #[serde(flatten)]
    pub mean: MeanRow,
    /// Ratio of the means.
    pub times: f64,
    /// Interval of the ratio in one round, which contains the ratio.
    pub interval: [f64; 2],
    /// Rounds with a trial of each. Fewer than six cover less than 95 %.
    pub rounds: usize,
}

/// Returns the benchmarks that used up their quota, that a neighbour makes significantly slower, or next to whose neighbour another
/// policy is significantly faster. The longest means come first. A benchmark that is the relief of another one is not listed.
pub(crate) fn condition_costs(rows: &[Row]) -> Vec<ConditionCost> {
    let cost = |row: &Row| {
        let EnvironmentFigures { throttling, neighbours, .. } = row.environment.as_ref()?;
        let throttling = throttling.filter(|found| found.periods_share > 0.0);
        let neighbour = row.case.conditions.neighbour().is_some();
        let kind = if neighbour { beside() } else { quota() };
        let without = without(rows, row, kind).filter(|_| neighbour || throttling.is_some());
        let relief = relief(rows, row).filter(|_| neighbour);
        (throttling.is_some() || without.is_some() || relief.is_some()).then_some(())?;
        let shared_cpu = neighbours.iter().find(|found| found.shares_cpu).and_then(|found| found.processor);
        Some(ConditionCost {
            with: MeanRow::of(row)?,
            trials: row.trials,
            without,
            relief,
            throttling,
            shared_cpu,
        })
    };
    let mut costs: Vec<ConditionCost> = rows.iter().filter_map(cost).collect();
    let reliefs: Vec<String> =
        costs.iter().filter_map(|cost| Some(cost.relief.as_ref()?.mean.row.clone())).collect();
    costs.retain(|cost| !reliefs.contains(&cost.with.row));
    sort_by(&mut costs, |one, other| other.with.mean_ns.total_cmp(&one.with.mean_ns));
    costs
}

/// Returns the benchmark with the value `none` of this kind and otherwise the same case, if it is significantly faster.
fn without(rows: &[Row], row: &Row, kind: &ConditionKind) -> Option<FasterRow> {
    let (_, others) = row.case.conditions.split(kind)?;
    let is_same = |other: &&Row| {
        let none = other.case.conditions.split(kind).filter(|(value, _)| value.value() == "none");
        are_alike(row, other) && none.is_some_and(|(_, conditions)| conditions == others)
    };
    rows.iter().filter(is_same).find_map(|other| FasterRow::of(other, row))
}

/// Returns the fastest benchmark next to the same neighbour whose roles have another policy, nice value or time slice, if it is
/// significantly faster.
fn relief(rows: &[Row], row: &Row) -> Option<FasterRow> {
    let is_fixed = |condition: &&RequestedCondition| !condition.is_scheduling();
    let candidates = rows.iter().filter(|other| {
        let [own, others] = [row, other].map(|row| row.case.conditions.iter().filter(is_fixed));
        are_alike(row, other) && own.eq(others)
    });
    let faster = candidates.filter_map(|other| FasterRow::of(other, row));
    faster.min_by(|one, other| one.mean.mean_ns.total_cmp(&other.mean.mean_ns))
}

/// Returns whether both have the same case except for their conditions.
fn are_alike(one: &Row, other: &Row) -> bool {
    Case { conditions: one.case.conditions.clone(), ..other.case.clone() } == one.case
}

impl FasterRow {
    /// Returns `None` unless the mean of a benchmark is noticeably shorter than that of another one, and significantly so: the
    /// interval of their ratio in one round is above 1. A round has a trial of each, so drift of the machine does not matter.
    fn of(fast: &Row, slow: &Row) -> Option<FasterRow> {
        let (fast_means, slow_means) = (fast.environment.as_ref()?, slow.environment.as_ref()?);
        let ratios = fast_means.means.iter().filter_map(|(round, fast_ns)| {
            let (_, slow_ns) = slow_means.means.iter().find(|(other, _)| other == round)?;
            Some(slow_ns / fast_ns)
        });
        let ratios: Vec<f64> = ratios.collect();
        let times = slow_means.mean_ns / fast_means.mean_ns;
        let [low, high] = median_interval(&ratios).filter(|[low, _]| *low > 1.0 && times > WORTH_SAYING)?;
        let interval = [low.min(times), high.max(times)].map(tidy);
        Some(FasterRow { mean: MeanRow::of(fast)?, times: tidy(times), interval, rounds: ratios.len() })
    }
}

impl MeanRow {
    fn of(row: &Row) -> Option<MeanRow> {
        Some(MeanRow { row: row.case.row(), mean_ns: row.environment.as_ref()?.mean_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::row;
    use furlong_model::{Capabilities, Placement, RequestedConditions, Wait};

    /// Returns a benchmark under these conditions with this mean, ±5 %.
    fn under(conditions: &[(&str, &str)], mean_ns: f64, throttled: Option<f64>) -> Row {
        let kind = |name: &str| ConditionKind::find(name).unwrap();
        let axes: Vec<_> =
            conditions.iter().map(|(name, value)| vec![kind(name).read(value).unwrap()]).collect();
        let mut row = row("pipe", Wait::Block, Placement::OtherCore, mean_ns);
        row.case.conditions = RequestedConditions::combinations(&axes, &Capabilities::DEFAULT).remove(0);
        let throttling =
            throttled.map(|periods_share| QuotaFigures { period_ns: 1e8, periods_share, pause_ns: 8e7 });
        // The machine becomes twice as slow, which affects all benchmarks of a round alike.
        let means = (0..6_u32).map(|round| (round, mean_ns * f64::from(round + 5) / 7.0)).collect();
        row.environment = Some(EnvironmentFigures { mean_ns, means, throttling, neighbours: Vec::new() });
        row
    }

    fn names(costs: &[ConditionCost]) -> Vec<[String; 3]> {
        let name =
            |row: &Option<FasterRow>| row.as_ref().map_or_else(String::new, |row| row.mean.row.clone());
        costs.iter().map(|cost| [cost.with.row.clone(), name(&cost.without), name(&cost.relief)]).collect()
    }

    #[test]
    fn cost_of_a_neighbour_names_the_policy_that_takes_it_back() {
        let on =
            |policy, neighbour, mean_ns| under(&[("sched", policy), ("beside", neighbour)], mean_ns, None);
        let rows = [
            on("other", "none", 10e3),
            on("other", "cpu:1", 40e3),
            on("fifo:50", "none", 10e3),
            on("fifo:50", "cpu:1", 15e3),
        ];
        let expected = [1, 0, 3].map(|place: usize| rows[place].case.row());
        assert_eq!(names(&condition_costs(&rows)), [expected]);
        let none = condition_costs(&[on("other", "none", 10e3), on("other", "cpu:1", 10.5e3)]);
        assert!(none.is_empty(), "a difference of 5 % is not a finding");
        let mut unsteady = [on("other", "none", 10e3), on("other", "cpu:1", 40e3)];
        unsteady[0].environment.as_mut().unwrap().means[..2]
            .iter_mut()
            .for_each(|(_, mean_ns)| *mean_ns = 90e3);
        assert!(condition_costs(&unsteady).is_empty(), "in two of six rounds, the neighbour costs nothing");
    }

    #[test]
    fn three_trials_have_a_ratio_with_its_interval() {
        let mut rows = [under(&[("quota", "none")], 10e3, None), under(&[("quota", "20%")], 50e3, Some(0.9))];
        let mut found = |rounds| {
            rows.iter_mut().for_each(|row| row.environment.as_mut().unwrap().means.truncate(rounds));
            condition_costs(&rows)
                .remove(0)
                .without
                .map(|faster| (faster.rounds, faster.times, faster.interval))
        };
        assert_eq!(found(3), Some((3, 5.0, [5.0, 5.0])));
        assert_eq!(found(2), None, "two trials have no interval");
    }

    #[test]
    fn cost_of_a_quota_is_listed_if_a_role_was_throttled() {
        let rows = [
            under(&[("quota", "none")], 10e3, None),
            under(&[("quota", "20%")], 50e3, Some(0.9)),
            under(&[("quota", "90%")], 11e3, Some(0.0)),
        ];
        let expected = ["pipe/block (quota 20%)", "pipe/block (quota none)", ""].map(str::to_owned);
        assert_eq!(names(&condition_costs(&rows)), [expected]);
    }
}

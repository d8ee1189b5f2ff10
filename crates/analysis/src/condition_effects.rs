//! The effects of axes: benchmarks that differ only in the value of one axis, such as a requested condition.

use crate::{CommonProperties, Group, Ratio, Row};
use furlong_model::{Axis, AxisValue, Case};
use furlong_stats::{SortedMap, sort_by, sort_by_key, trials_of_comparison};
use serde::Serialize;

/// Effects of the values of an axis, each against the lowest value, such as `none`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionEffects {
    /// Name of the axis.
    pub condition: &'static str,
    /// Benchmarks with several values, the largest significant effect first.
    pub benchmarks: Vec<VariedBenchmark>,
}

/// A benchmark with several values of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariedBenchmark {
    /// Name of the benchmark, without the value.
    pub row: String,
    /// Common properties of the benchmarks of its group.
    pub among: CommonProperties,
    /// Lowest value.
    pub baseline: String,
    /// Time that decides with this value, in nanoseconds.
    pub baseline_ns: f64,
    /// Effects of the other values, in ascending order.
    pub effects: Vec<ValueEffect>,
    /// Fewest trials of these benchmarks.
    pub trials: usize,
    /// Number of trials with which the intervals hold in 95 % of runs.
    pub needed_trials: usize,
}

/// Effect of a value, compared with the lowest value of the axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueEffect {
    /// The value.
    pub value: String,
    /// Time that decides with this value, in nanoseconds.
    pub ns: f64,
    /// Ratio of the times.
    pub ratio: Ratio,
}

impl ConditionEffects {
    /// Returns the effects of each axis with several values.
    pub(crate) fn all(groups: &[Group], rows: &[Row]) -> Vec<ConditionEffects> {
        let of_axis = |axis: Axis| {
            let mut benchmarks: Vec<_> =
                groups.iter().flat_map(|group| VariedBenchmark::all(axis, group, rows)).collect();
            sort_by(&mut benchmarks, |one, other| other.largest().total_cmp(&one.largest()));
            (!benchmarks.is_empty()).then_some(ConditionEffects { condition: axis.name(), benchmarks })
        };
        // By Little's law, a larger window makes each message slower, whatever it does to the rate.
        Axis::all().filter(|axis| axis.name() != Axis::Window.name()).filter_map(of_axis).collect()
    }
}

impl VariedBenchmark {
    fn all(axis: Axis, group: &Group, rows: &[Row]) -> Vec<VariedBenchmark> {
        let members: Vec<&Row> = rows.iter().filter(|row| row.group == group.name).collect();
        let needed_trials = trials_of_comparison(members.len()) as usize;
        let mut by_case: SortedMap<_, Vec<_>> = SortedMap::default();
        for row in members.into_iter().filter(|row| row.comparable.is_some()) {
            if let Some(value) = axis.value(&row.case) {
                by_case.or_default(axis.without(row.case.clone())).push((value, row));
            }
        }
        let varied = |(case, mut values): (Case, Vec<_>)| {
            sort_by_key(&mut values, |(value, _): &(AxisValue, &Row)| value.clone());
            let ((baseline, lowest), others) =
                values.split_first().filter(|(_, others)| !others.is_empty())?;
            let effect = |(value, row): &(AxisValue, &Row)| ValueEffect {
                value: value.value(),
                ns: row.exchange.deciding().ns,
                ratio: Ratio::of(row, lowest),
            };
            Some(VariedBenchmark {
                row: case.row(),
                among: CommonProperties::of(group),
                baseline: baseline.value(),
                baseline_ns: lowest.exchange.deciding().ns,
                effects: others.iter().map(effect).collect(),
                trials: values.iter().map(|(_, row)| row.trials).min()?,
                needed_trials,
            })
        };
        by_case.into_iter().filter_map(varied).collect()
    }

    /// Returns the largest significant ratio of two times; 1 if all values tie with the lowest.
    pub fn largest(&self) -> f64 {
        let significant = self.effects.iter().filter(|effect| !effect.ratio.is_tie());
        significant.map(|effect| effect.ratio.times.max(1.0 / effect.ratio.times)).fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{by_median, row};
    use crate::ranking;
    use furlong_model::{Capabilities, ConditionKind, Harness, Placement, RequestedConditions, Wait};

    /// Returns the effects on a pipe with these times under these values of a condition, next to another mechanism.
    fn effects(condition: &str, times_ns: &[(&str, f64)]) -> Vec<ConditionEffects> {
        let kind = ConditionKind::find(condition).unwrap();
        let with = |(value, median_ns): &(&str, f64)| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, *median_ns);
            let axis = vec![kind.read(value).unwrap()];
            row.case.conditions =
                RequestedConditions::combinations(&[axis], &Capabilities::DEFAULT).remove(0);
            row
        };
        let mut rows: Vec<Row> = times_ns.iter().map(with).collect();
        rows.push(row("tcp", Wait::Block, Placement::OtherCore, 90_000.0));
        let groups = ranking::rank(&mut rows, &Harness::default(), by_median);
        ConditionEffects::all(&groups, &rows)
    }

    fn only(found: &[ConditionEffects]) -> (&'static str, &VariedBenchmark) {
        let [ConditionEffects { condition, benchmarks }] = found else { panic!("{found:?}") };
        let [benchmark] = &benchmarks[..] else { panic!("{benchmarks:?}") };
        (condition, benchmark)
    }

    /// Returns each value with its ratio, rounded to a decimal, and whether it ties.
    fn against_lowest(benchmark: &VariedBenchmark) -> Vec<(&str, f64, bool)> {
        let rounded = |effect: &ValueEffect| (10.0 * effect.ratio.times).round() / 10.0;
        let effects = benchmark.effects.iter();
        effects.map(|effect| (&*effect.value, rounded(effect), effect.ratio.is_tie())).collect()
    }

    #[test]
    fn each_value_is_compared_with_the_lowest() {
        let found = effects("quota", &[("20%", 50_000.0), ("none", 10_000.0), ("50%", 20_000.0)]);
        let (condition, benchmark) = only(&found);
        assert_eq!(
            (condition, &*benchmark.row, &*benchmark.baseline),
            ("quota", "pipe/block", "none"),
            "{found:?}"
        );
        assert_eq!(against_lowest(benchmark), [("20%", 5.0, false), ("50%", 2.0, false)]);
        assert_eq!(benchmark.largest(), benchmark.effects[0].ratio.times);
        assert_eq!(benchmark.trials, 3);
        assert!(benchmark.needed_trials > 3, "three trials do not cover 95 %");
    }

    #[test]
    fn values_that_tie_have_no_effect() {
        let found = effects("sched", &[("other", 10_000.0), ("batch", 10_050.0), ("idle", 13_000.0)]);
        assert_eq!(against_lowest(only(&found).1), [("batch", 1.0, true), ("idle", 1.3, false)]);
        let found = effects("sched", &[("other", 10_000.0), ("batch", 10_050.0), ("idle", 9_950.0)]);
        assert_eq!(only(&found).1.largest(), 1.0);
        assert_eq!(effects("sched", &[("other", 10_000.0)]), [], "one value");
    }

    #[test]
    fn size_of_a_buffer_has_an_effect() {
        let with = |(bytes, median_ns): (usize, f64)| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, median_ns);
            row.case.buffer_bytes = Some(bytes);
            row
        };
        let mut rows = [(64 << 10, 20_000.0), (1 << 20, 10_000.0)].map(with).to_vec();
        let groups = ranking::rank(&mut rows, &Harness::default(), by_median);
        let found = ConditionEffects::all(&groups, &rows);
        let (condition, benchmark) = only(&found);
        assert_eq!((condition, &*benchmark.baseline), ("buffer", "64KiB"));
        assert_eq!(against_lowest(benchmark), [("1MiB", 0.5, false)]);
    }
}

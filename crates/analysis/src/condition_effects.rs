//! The effects of axes: benchmarks that differ only in the value of one axis, such as a requested condition.

use crate::environment::quota;
use crate::{CommonProperties, Group, Ratio, Row};
use furlong_model::Axis;
use furlong_stats::tidy;
use serde::Serialize;

/// The largest significant effect of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionEffect {
    /// Name of the axis.
    pub condition: &'static str,
    /// Both values, the faster first.
    pub values: [String; 2],
    /// Name of the benchmark, without the value.
    pub row: String,
    /// Common properties of the benchmarks.
    pub among: CommonProperties,
    /// Ratio of the medians.
    pub times: f64,
    /// Medians in nanoseconds, in the order of the values.
    pub p50_ns: [f64; 2],
}

/// Largest ratio of the ends of an interval from which the size of an effect is reported.
const CERTAIN: f64 = 3.0;

impl ConditionEffect {
    /// Returns the largest effect of each axis. The rows of a group are ordered, the fastest first.
    pub(crate) fn all(groups: &[Group], rows: &[Row]) -> Vec<ConditionEffect> {
        let largest = |axis: Axis| {
            let found = groups.iter().flat_map(|group| effects(axis, group, rows));
            found.max_by(|one, other| one.times.total_cmp(&other.times))
        };
        // The median hides the pauses under a quota, whose costs are found from means. By Little's law, a larger window makes each
        // message slower, whatever it does to the rate.
        let is_excluded = |axis: &Axis| [quota().name, Axis::Window.name()].contains(&axis.name());
        Axis::all().filter(|axis| !is_excluded(axis)).filter_map(largest).collect()
    }
}

/// Returns the significant effects of an axis in one group.
fn effects(axis: Axis, group: &Group, rows: &[Row]) -> Vec<ConditionEffect> {
    let members = rows.iter().filter(|row| row.group == group.name);
    let split = |row: &Row| Some((axis.value(&row.case)?.value(), axis.without(row.case.clone())));
    let members: Vec<_> = members.filter_map(|row| Some((row, split(row)?))).collect();
    let mut found = Vec::new();
    for (at, (fast, (value, case))) in members.iter().enumerate() {
        for (slow, (other, _)) in members[at + 1..].iter().filter(|(_, (_, other))| other == case) {
            let tie = fast.tied_with.contains(&slow.case.row());
            let is_certain = |row: &Row| {
                row.comparable.is_some_and(|found| found.interval_ns[1] < CERTAIN * found.interval_ns[0])
            };
            if is_certain(slow) && is_certain(fast) && !tie {
                found.push(ConditionEffect {
                    condition: axis.name(),
                    values: [value, other].map(String::clone),
                    row: case.row(),
                    among: CommonProperties::of(group),
                    times: tidy(Ratio::of(slow, fast).times),
                    p50_ns: [fast, slow].map(|row| row.exchange.deciding().ns),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{by_median, row};
    use crate::ranking;
    use furlong_model::{Capabilities, ConditionKind, Harness, Placement, RequestedConditions, Wait};

    fn rows(medians_ns: [(&str, f64); 3]) -> Vec<ConditionEffect> {
        let pages = ConditionKind::find("pages").unwrap();
        let with = |(value, median_ns): (&str, f64)| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, median_ns);
            let axis = vec![pages.read(value).unwrap()];
            row.case.conditions =
                RequestedConditions::combinations(&[axis], &Capabilities::DEFAULT).remove(0);
            row
        };
        let mut rows = medians_ns.map(with).to_vec();
        rows.push(row("tcp", Wait::Block, Placement::OtherCore, 90_000.0));
        let groups = ranking::rank(&mut rows, &Harness::default(), by_median);
        ConditionEffect::all(&groups, &rows)
    }

    #[test]
    fn largest_significant_effect_is_found() {
        let found = rows([("4k", 30_000.0), ("thp", 15_000.0), ("huge", 10_000.0)]);
        let [effect] = &found[..] else { panic!("{found:?}") };
        assert_eq!((effect.condition, effect.row.as_str()), ("pages", "pipe/block"));
        assert_eq!(effect.values, ["huge", "4k"]);
        assert!((effect.times - 3.0).abs() < 0.05, "{effect:?}");
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
        let found = ConditionEffect::all(&groups, &rows);
        let [effect] = &found[..] else { panic!("{found:?}") };
        assert_eq!((effect.condition, effect.row.as_str()), ("buffer", "pipe/block"));
        assert_eq!(effect.values, ["1MiB", "64KiB"]);
    }

    #[test]
    fn ties_are_no_effect() {
        assert_eq!(rows([("4k", 10_000.0), ("thp", 10_000.0), ("huge", 10_000.0)]), []);
    }
}

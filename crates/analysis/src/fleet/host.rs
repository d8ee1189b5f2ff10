//! Hosts of a fleet, each with the combined data of its runs.

use super::run::{CostKey, FleetRun};
use crate::{Disturbance, Level};
use furlong_model::{Case, Unit};
use furlong_stats::{SortedMap, median};

/// All hosts of a fleet.
pub(super) struct Fleet<'a> {
    /// Hosts by name.
    pub hosts: Vec<Host<'a>>,
    /// Benchmarks of the hosts, in the order of cases.
    pub cases: Vec<(&'a Case, Unit)>,
}

/// Host of a fleet.
pub(super) struct Host<'a> {
    /// Name of the host.
    pub name: &'a str,
    /// Latest known value of each fact.
    pub facts: SortedMap<&'a str, &'a str>,
    /// Noise level in its worst run.
    pub level: Level,
    /// Disturbances in that run.
    pub disturbances: &'a [Disturbance],
    /// Median over its runs, in nanoseconds, by the number of the benchmark.
    pub rows: SortedMap<usize, f64>,
    /// Median over its runs of each cost, in nanoseconds.
    pub costs: SortedMap<&'a CostKey, f64>,
}

impl<'a> Fleet<'a> {
    /// Creates a fleet from runs in the order in which they were measured.
    pub fn of(runs: impl IntoIterator<Item = &'a FleetRun>) -> Self {
        let mut by_host: SortedMap<&str, Vec<&FleetRun>> = SortedMap::default();
        let mut units: SortedMap<&Case, Unit> = SortedMap::default();
        for run in runs {
            by_host.or_default(run.host.as_str()).push(run);
            for (case, unit, _) in &run.rows {
                units.or_insert(case, *unit);
            }
        }
        let cases: Vec<_> = units.into_iter().collect();
        let hosts = by_host.into_iter().map(|(name, runs)| Host::of(name, &runs, &cases)).collect();
        Fleet { hosts, cases }
    }

    /// Returns the hosts that have this benchmark, by number, with its median in nanoseconds.
    pub fn row(&self, number: usize) -> impl Iterator<Item = (usize, f64)> {
        self.hosts.iter().enumerate().filter_map(move |(host, of)| Some((host, *of.rows.get(&number)?)))
    }
}

impl<'a> Host<'a> {
    fn of(name: &'a str, runs: &[&'a FleetRun], cases: &[(&Case, Unit)]) -> Self {
        let mut rows: SortedMap<usize, Vec<f64>> = SortedMap::default();
        let mut costs: SortedMap<&CostKey, Vec<f64>> = SortedMap::default();
        for run in runs {
            for (case, _, ns) in &run.rows {
                let number = cases.binary_search_by(|(other, _)| (*other).cmp(case));
                number.into_iter().for_each(|number| rows.or_default(number).push(*ns));
            }
            run.costs.iter().for_each(|(key, ns)| costs.or_default(key).push(*ns));
        }
        let worst = runs.iter().max_by_key(|run| run.level);
        let facts = runs.iter().flat_map(|run| &run.facts);
        Host {
            name,
            facts: facts.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            level: worst.map_or(Level::Quiet, |run| run.level),
            disturbances: worst.map_or(&[], |run| &run.disturbances),
            rows: medians(rows),
            costs: medians(costs),
        }
    }
}

fn medians<K: Ord>(values: SortedMap<K, Vec<f64>>) -> SortedMap<K, f64> {
    values.into_iter().filter_map(|(key, values)| Some((key, median(&values)?))).collect()
}

//! The hosts of a fleet, each with what all of its runs say together.

use super::run::{CostKey, FleetRun};
use crate::{Disturbance, Level, Unit};
use furlong_model::Case;
use furlong_stats::median;
use std::collections::BTreeMap;

/// All hosts.
pub(super) struct Fleet<'a> {
    /// By name.
    pub hosts: Vec<Host<'a>>,
    /// The rows that a host has, in the order of cases.
    pub cases: Vec<(&'a Case, Unit)>,
}

/// One of them.
pub(super) struct Host<'a> {
    /// Its name.
    pub name: &'a str,
    /// What was known of it when it was measured last.
    pub facts: BTreeMap<&'a str, &'a str>,
    /// How quiet it was in its worst run.
    pub level: Level,
    /// Why.
    pub disturbances: &'a [Disturbance],
    /// The median over its runs, in nanoseconds, by the number of the row.
    pub rows: BTreeMap<usize, f64>,
    /// The same of what it charges.
    pub costs: BTreeMap<&'a CostKey, f64>,
}

impl<'a> Fleet<'a> {
    /// Of runs in the order in which they were measured.
    pub fn of(runs: impl IntoIterator<Item = &'a FleetRun>) -> Self {
        let mut by_host: BTreeMap<&str, Vec<&FleetRun>> = BTreeMap::new();
        let mut numbers: BTreeMap<&Case, (Unit, usize)> = BTreeMap::new();
        for run in runs {
            by_host.entry(&run.host).or_default().push(run);
            for (case, unit, _) in &run.rows {
                numbers.entry(case).or_insert((*unit, 0));
            }
        }
        (0..).zip(numbers.values_mut()).for_each(|(number, (_, place))| *place = number);
        let hosts = by_host.into_iter().map(|(name, runs)| Host::of(name, &runs, &numbers)).collect();
        Fleet { hosts, cases: numbers.into_iter().map(|(case, (unit, _))| (case, unit)).collect() }
    }

    /// The hosts that have this row, by number, with its median in nanoseconds.
    pub fn row(&self, number: usize) -> impl Iterator<Item = (usize, f64)> {
        self.hosts.iter().enumerate().filter_map(move |(host, of)| Some((host, *of.rows.get(&number)?)))
    }
}

impl<'a> Host<'a> {
    fn of(name: &'a str, runs: &[&'a FleetRun], numbers: &BTreeMap<&Case, (Unit, usize)>) -> Self {
        let mut rows: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut costs: BTreeMap<&CostKey, Vec<f64>> = BTreeMap::new();
        for run in runs {
            for (case, _, ns) in &run.rows {
                let number = numbers.get(case).map(|(_, number)| *number);
                number.into_iter().for_each(|number| rows.entry(number).or_default().push(*ns));
            }
            run.costs.iter().for_each(|(key, ns)| costs.entry(key).or_default().push(*ns));
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

fn medians<K: Ord>(values: BTreeMap<K, Vec<f64>>) -> BTreeMap<K, f64> {
    values.into_iter().filter_map(|(key, values)| Some((key, median(&values)?))).collect()
}

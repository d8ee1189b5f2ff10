//! Every benchmark and every cost of every host, with the median of the fleet.

use super::host::Fleet;
use super::outliers::Outlier;
use super::rows::FleetRow;
use furlong_stats::{distinct, median, sort_by_key};

/// Every benchmark and every cost of every host.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetMap {
    /// Costs by name and size.
    pub costs: Vec<MappedCost>,
    /// Hosts: the outliers in their order, then the others by name.
    pub hosts: Vec<MappedHost>,
}

/// Cost of the hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedCost {
    /// Name of the cost.
    pub name: String,
    /// Size in bytes.
    pub size_bytes: Option<usize>,
    /// Median over hosts, in nanoseconds.
    pub fleet_ns: f64,
}

/// Host of the map.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedHost {
    /// Name of the host.
    pub name: String,
    /// Whether the host is an outlier.
    pub stands_out: bool,
    /// Ratio to the median over hosts for each of [`FleetComparison::rows`](crate::FleetComparison::rows); `None` if the
    /// host lacks the benchmark.
    pub ratios: Vec<Option<f64>>,
    /// Each cost, in nanoseconds.
    pub costs_ns: Vec<Option<f64>>,
}

pub(super) fn map(fleet: &Fleet, rows: &[FleetRow], outliers: &[Outlier]) -> FleetMap {
    let keys = distinct(fleet.hosts.iter().flat_map(|host| host.costs.iter().map(|(key, _)| *key)));
    let costs_of =
        |key| fleet.hosts.iter().filter_map(|host| host.costs.get(key).copied()).collect::<Vec<_>>();
    let costs = keys.iter().filter_map(|key| {
        let (name, size_bytes) = (*key).clone();
        Some(MappedCost { name, size_bytes, fleet_ns: median(&costs_of(*key))? })
    });
    let place = |name: &str| outliers.iter().position(|outlier| outlier.host == name);
    let mut hosts: Vec<MappedHost> = fleet
        .hosts
        .iter()
        .map(|host| MappedHost {
            name: host.name.to_owned(),
            stands_out: place(host.name).is_some(),
            ratios: (0..)
                .zip(rows)
                .map(|(number, row)| Some(host.rows.get(&number)? / row.median_ns))
                .collect(),
            costs_ns: keys.iter().map(|key| host.costs.get(*key).copied()).collect(),
        })
        .collect();
    // The hosts are already sorted by name.
    sort_by_key(&mut hosts, |host| place(&host.name).unwrap_or(usize::MAX));
    FleetMap { costs: costs.collect(), hosts }
}

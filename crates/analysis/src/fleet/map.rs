//! Every row and every cost of every host, beside the median of the fleet.

use super::host::Fleet;
use super::outliers::Outlier;
use super::rows::FleetRow;
use furlong_stats::{distinct, median, sort_by_key};

/// Every row and every cost of every host.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetMap {
    /// The costs, by name and bytes.
    pub costs: Vec<MappedCost>,
    /// Those that stand out, in their order, and the others by name.
    pub hosts: Vec<MappedHost>,
}

/// What a host charges.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedCost {
    /// Its name.
    pub name: String,
    /// For how many bytes.
    pub size_bytes: Option<usize>,
    /// The median over hosts, in nanoseconds.
    pub fleet_ns: f64,
}

/// A host.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedHost {
    /// Its name.
    pub name: String,
    /// Whether it stands out.
    pub stands_out: bool,
    /// How many times as long as the median over hosts each of [`FleetComparison::rows`](crate::FleetComparison::rows) takes; `None`
    /// where it has no such row.
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
    // Hosts are by name already.
    sort_by_key(&mut hosts, |host| place(&host.name).unwrap_or(usize::MAX));
    FleetMap { costs: costs.collect(), hosts }
}

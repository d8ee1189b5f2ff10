//! Runs of many hosts compared: each row over the hosts, the hosts that stand out and why, and groups of runs beside each
//! other. Nothing is measured.
//!
//! Of each run no more is kept than [`FleetRun`] has, so that many can be read one after the other.

mod by;
mod groups;
mod host;
mod map;
mod outliers;
mod reasons;
mod rows;
mod run;

pub use by::FleetBy;
pub use groups::{FleetChange, FleetGroup, FleetInconclusive};
pub use map::{FleetMap, MappedCost, MappedHost};
pub use outliers::{Apart, Outlier};
pub use reasons::FleetReason;
pub use rows::{FleetRow, HostFigure};
pub use run::{CORE_TO_CORE, machine_facts_by_name, platform};
pub use run::{FleetRun, Unused, UnusedRun};

use furlong_stats::{sort_by, tidy};
use host::Fleet;
use serde::Serialize;

/// Version of [`FleetComparison`] as JSON; it changes when a field changes its meaning or goes.
pub const FLEET_SCHEMA: u32 = 1;

/// Runs of many hosts, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetComparison {
    /// [`FLEET_SCHEMA`].
    pub schema: u32,
    /// By what runs are put together.
    pub by: FleetBy,
    /// How many times as long or as short a row may take and count as the same, less 1: 0.05 is 5 %.
    pub margin: f64,
    /// Runs that were used.
    pub runs: usize,
    /// Hosts that they are of.
    pub hosts: usize,
    /// Files that could not be used.
    pub unused: Vec<UnusedRun>,
    /// Each row over all hosts.
    pub rows: Vec<FleetRow>,
    /// By host: those that stand out, those with the most rows first.
    pub outliers: Vec<Outlier>,
    /// By kernel or label: the groups, that of the oldest run first.
    pub groups: Vec<FleetGroup>,
    /// What became of each row in each group but the first: by group, the worse first.
    pub changes: Vec<FleetChange>,
}

/// Compares the runs that are of the platform of most of them. `margin` is a share: 0.05 is 5 %.
pub fn compare_fleet(
    runs: Vec<FleetRun>,
    unused: Vec<UnusedRun>,
    by: FleetBy,
    margin: f64,
) -> FleetComparison {
    compare_and_map_fleet(runs, unused, by, margin).0
}

/// The same, and all that each host has.
pub fn compare_and_map_fleet(
    runs: Vec<FleetRun>,
    mut unused: Vec<UnusedRun>,
    by: FleetBy,
    margin: f64,
) -> (FleetComparison, FleetMap) {
    let runs = run::of_one_platform(runs, &mut unused);
    sort_by(&mut unused, |a, b| a.run.cmp(&b.run));
    let fleet = Fleet::of(&runs);
    let (outliers, groups, changes) = match by {
        FleetBy::Host => (outliers::outliers(&fleet, margin), Vec::new(), Vec::new()),
        FleetBy::Kernel | FleetBy::Label | FleetBy::Pairs => {
            let (groups, changes) = groups::compare_groups(&runs, by, margin);
            (Vec::new(), groups, changes)
        }
    };
    let rows = rows::rows(&fleet);
    let map = map::map(&fleet, &rows, &outliers);
    let found = FleetComparison {
        schema: FLEET_SCHEMA,
        by,
        margin: tidy(margin),
        runs: runs.len(),
        hosts: fleet.hosts.len(),
        unused,
        rows,
        outliers,
        groups,
        changes,
    };
    (found, map)
}

#[cfg(test)]
mod tests;

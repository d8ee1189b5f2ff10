//! Comparison of runs of many hosts: each benchmark over the hosts, outliers with their reasons, and groups of runs. It
//! measures nothing.
//!
//! Only the data in [`FleetRun`] is kept of each run, so that many runs can be read one after the other.

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
pub use outliers::{HostOutlier, Outlier};
pub use reasons::FleetReason;
pub use rows::{FleetRow, HostFigure};
pub use run::{CORE_TO_CORE, machine_facts_by_name, platform};
pub use run::{FleetRun, UnusedReason, UnusedRun};

use furlong_stats::{sort_by, tidy};
use host::Fleet;
use serde::Serialize;

/// Version of [`FleetComparison`] as JSON. It changes if a field changes its meaning or is removed.
pub const FLEET_SCHEMA: u32 = 1;

/// Comparison of runs of many hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetComparison {
    /// [`FLEET_SCHEMA`].
    pub schema: u32,
    /// Property by which runs are grouped.
    pub by: FleetBy,
    /// Largest change that counts as equal, as a factor less 1: 0.05 is 5 %.
    pub margin: f64,
    /// Number of runs in the comparison.
    pub runs: usize,
    /// Number of hosts of these runs.
    pub hosts: usize,
    /// Files that could not be used.
    pub unused: Vec<UnusedRun>,
    /// Each benchmark over all hosts.
    pub rows: Vec<FleetRow>,
    /// Outliers if runs are grouped by host, those with the most benchmarks first.
    pub outliers: Vec<Outlier>,
    /// Groups if runs are grouped by kernel or label, that of the oldest run first.
    pub groups: Vec<FleetGroup>,
    /// Change of each benchmark in all groups except the first: by group, the worse first.
    pub changes: Vec<FleetChange>,
}

/// Compares the runs of the most frequent platform. `margin` is a share: 0.05 is 5 %.
pub fn compare_fleet(
    runs: Vec<FleetRun>,
    unused: Vec<UnusedRun>,
    by: FleetBy,
    margin: f64,
) -> FleetComparison {
    compare_and_map_fleet(runs, unused, by, margin).0
}

/// Compares runs like [`compare_fleet`], and also returns all data of each host.
pub fn compare_and_map_fleet(
    runs: Vec<FleetRun>,
    mut unused: Vec<UnusedRun>,
    by: FleetBy,
    margin: f64,
) -> (FleetComparison, FleetMap) {
    let runs = run::keep_one_platform(runs, &mut unused);
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

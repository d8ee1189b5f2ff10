//! Each row over the hosts of a fleet.

use super::host::Fleet;
use furlong_model::{Case, Unit};
use furlong_stats::{median, sort_by, tidy};
use serde::Serialize;

/// A row over hosts. Times are nanoseconds of one exchange, of each host the median over its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetRow {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// What one exchange is.
    pub unit: Unit,
    /// Hosts that have it.
    pub hosts: usize,
    /// The median over hosts.
    pub median_ns: f64,
    /// Between these are half of the hosts.
    pub quartiles_ns: [f64; 2],
    /// The host with the least.
    pub least: HostFigure,
    /// The host with the most.
    pub most: HostFigure,
}

/// What one host has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostFigure {
    /// Its name.
    pub host: String,
    /// Nanoseconds.
    pub ns: f64,
}

/// All rows.
pub(super) fn rows(fleet: &Fleet) -> Vec<FleetRow> {
    let row = |(number, (case, unit)): (usize, &(&Case, Unit))| {
        let mut figures: Vec<(usize, f64)> = fleet.row(number).collect();
        sort_by(&mut figures, |a, b| a.1.total_cmp(&b.1));
        let times: Vec<f64> = figures.iter().map(|(_, ns)| *ns).collect();
        let at = |(host, ns): &(usize, f64)| HostFigure {
            host: fleet.hosts[*host].name.to_owned(),
            ns: tidy(*ns),
        };
        let half = times.len().div_ceil(2);
        Some(FleetRow {
            case: (*case).clone(),
            unit: *unit,
            hosts: times.len(),
            median_ns: tidy(median(&times)?),
            quartiles_ns: [median(&times[..half])?, median(&times[times.len() - half..])?].map(tidy),
            least: at(figures.first()?),
            most: at(figures.last()?),
        })
    };
    fleet.cases.iter().enumerate().filter_map(row).collect()
}

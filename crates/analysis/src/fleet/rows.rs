//! Each benchmark over the hosts of a fleet.

use super::host::Fleet;
use furlong_model::{Case, Unit};
use furlong_stats::{median, sort_by, tidy};
use serde::Serialize;

/// Benchmark over hosts. Times are nanoseconds per exchange, with the median over its runs for each host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetRow {
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Unit of one exchange.
    pub unit: Unit,
    /// Number of hosts that have it.
    pub hosts: usize,
    /// Median over hosts.
    pub median_ns: f64,
    /// Quartiles over hosts.
    pub quartiles_ns: [f64; 2],
    /// Host with the shortest time.
    pub least: HostFigure,
    /// Host with the longest time.
    pub most: HostFigure,
}

/// Time on one host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostFigure {
    /// Name of the host.
    pub host: String,
    /// Time in nanoseconds.
    pub ns: f64,
}

/// Returns all benchmarks.
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

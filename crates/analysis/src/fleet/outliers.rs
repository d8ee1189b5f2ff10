//! Hosts that are outliers, because benchmarks take far longer or shorter there than by chance among the hosts.
//!
//! Each benchmark of each host is tested against that benchmark on all hosts (see [`Deviations`]). The median over all
//! benchmarks of a host is tested too, which finds hosts on which everything is slightly slower. P-values are corrected for
//! all of these tests (Holm), and deviations within the margin never count. A twentieth of the benchmarks must be outliers,
//! and at least two.

use super::host::Fleet;
use super::reasons::{ALPHA, FleetReason, REPEATS, reasons};
use furlong_model::Case;
use furlong_stats::{Deviations, holm, median, sort_by, tidy};
use serde::Serialize;

/// Minimum share of all benchmarks that a host must have for the median over its benchmarks.
const MOST_ROWS: f64 = 0.5;
/// Minimum number of benchmarks for that median.
const FEWEST_ROWS: usize = 5;

/// Minimum share of a host's benchmarks that must be outliers.
const APART_SHARE: f64 = 0.05;

/// Host that is an outlier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Name of the host.
    pub host: String,
    /// Number of its benchmarks.
    pub rows: usize,
    /// Median ratio of its benchmarks to the fleet.
    pub ratio: f64,
    /// Whether that median alone makes the host an outlier.
    pub by_all_rows: bool,
    /// Benchmarks that are outliers, the farthest first.
    pub apart: Vec<HostOutlier>,
    /// Differences between its records and the fleet that would explain the deviation.
    #[serde(rename = "reasons_data")]
    pub reasons: Vec<FleetReason>,
}

/// Benchmark of a host that is an outlier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostOutlier {
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Median on the host, in nanoseconds.
    pub ns: f64,
    /// Median over all hosts, in nanoseconds.
    pub fleet_ns: f64,
    /// Ratio to the fleet.
    pub ratio: f64,
    /// P-value of such a deviation, corrected for all benchmarks of all hosts.
    pub p_adjusted: f64,
}

/// Test of a benchmark of a host, or of the median over all its benchmarks, against the fleet.
struct Test {
    host: usize,
    row: Option<usize>,
    /// Deviation as a logarithm.
    longer: f64,
    chance: f64,
}

/// Returns the outliers, those with the most benchmarks first.
pub(super) fn outliers(fleet: &Fleet, margin: f64) -> Vec<Outlier> {
    let tests = tests(fleet);
    let chances: Vec<f64> = tests.iter().map(|test| test.chance).collect();
    let beyond = margin.ln_1p();
    let mut found: Vec<(usize, Outlier)> = Vec::new();
    for (test, chance) in tests.iter().zip(holm(&chances)) {
        if chance >= ALPHA || test.longer.abs() <= beyond {
            continue;
        }
        let place = found.iter().position(|(host, _)| *host == test.host).unwrap_or_else(|| {
            found.push((test.host, empty(fleet, test.host, &tests)));
            found.len() - 1
        });
        let outlier = &mut found[place].1;
        match test.row {
            None => outlier.by_all_rows = true,
            Some(row) => outlier.apart.push(apart(fleet, test, row, chance)),
        }
    }
    found.retain(|(_, outlier)| outlier.by_all_rows || outlier.apart.len() >= fewest_apart(outlier.rows));
    for (_, outlier) in &mut found {
        sort_by(&mut outlier.apart, |a, b| {
            b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()).then_with(|| a.case.cmp(&b.case))
        });
    }
    sort_by(&mut found, |(_, a), (_, b)| b.apart.len().cmp(&a.apart.len()).then_with(|| a.host.cmp(&b.host)));
    let slower: Vec<(usize, bool)> =
        found.iter().map(|(host, outlier)| (*host, is_slower(outlier))).collect();
    let why = reasons(fleet, &slower, margin);
    found.into_iter().zip(why).map(|((_, outlier), reasons)| Outlier { reasons, ..outlier }).collect()
}

/// Returns the minimum number of outliers among `rows` benchmarks. A single one is probably a disturbance of its run.
fn fewest_apart(rows: usize) -> usize {
    (rows as f64 * APART_SHARE).ceil().max(2.0).min(rows as f64) as usize
}

/// Whether most outliers are slower.
fn is_slower(outlier: &Outlier) -> bool {
    let longer = outlier.apart.iter().filter(|row| row.ratio > 1.0).count();
    if outlier.apart.is_empty() { outlier.ratio > 1.0 } else { 2 * longer >= outlier.apart.len() }
}

fn tests(fleet: &Fleet) -> Vec<Test> {
    let mut tests = Vec::new();
    let mut by_host: Vec<Vec<f64>> = vec![Vec::new(); fleet.hosts.len()];
    for row in 0..fleet.cases.len() {
        let values: Vec<(usize, f64)> = fleet.row(row).map(|(host, ns)| (host, ns.ln())).collect();
        let logarithms: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let Some(all) = Deviations::of(&logarithms, REPEATS) else { continue };
        for (host, value) in values {
            let longer = value - all.middle;
            by_host[host].push(longer);
            tests.push(Test { host, row: Some(row), longer, chance: all.chance(value) });
        }
    }
    let enough = (fleet.cases.len() as f64 * MOST_ROWS).ceil() as usize;
    let of_all: Vec<(usize, f64)> = by_host
        .iter()
        .enumerate()
        .filter(|(_, rows)| rows.len() >= enough.max(FEWEST_ROWS))
        .filter_map(|(host, rows)| Some((host, median(rows)?)))
        .collect();
    let medians: Vec<f64> = of_all.iter().map(|(_, longer)| *longer).collect();
    if let Some(all) = Deviations::of(&medians, REPEATS) {
        tests.extend(of_all.into_iter().map(|(host, longer)| Test {
            host,
            row: None,
            longer: longer - all.middle,
            chance: all.chance(longer),
        }));
    }
    tests
}

fn empty(fleet: &Fleet, host: usize, tests: &[Test]) -> Outlier {
    let longer: Vec<f64> =
        tests.iter().filter(|test| test.host == host && test.row.is_some()).map(|test| test.longer).collect();
    Outlier {
        host: fleet.hosts[host].name.to_owned(),
        rows: fleet.hosts[host].rows.iter().len(),
        ratio: tidy(median(&longer).unwrap_or_default().exp()),
        by_all_rows: false,
        apart: Vec::new(),
        reasons: Vec::new(),
    }
}

fn apart(fleet: &Fleet, test: &Test, row: usize, chance: f64) -> HostOutlier {
    let ns = fleet.hosts[test.host].rows.get(&row).copied().unwrap_or_default();
    let ratio = test.longer.exp();
    HostOutlier {
        case: fleet.cases[row].0.clone(),
        ns: tidy(ns),
        fleet_ns: tidy(ns / ratio),
        ratio: tidy(ratio),
        p_adjusted: tidy(chance),
    }
}

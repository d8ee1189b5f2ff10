//! Hosts that stand out: rows that take far longer or shorter there than chance among the hosts explains.
//!
//! Each row of each host is tested against that row of all hosts (see [`Deviations`]), and so is the median over all rows of a
//! host, by which a host stands out on which everything is a little slower. Chances are corrected for all of these tests (Holm),
//! and what is within the margin never counts. Of many rows, a twentieth must stand out, and two at least.

use super::host::Fleet;
use super::reasons::{ALPHA, FleetReason, REPEATS, reasons};
use furlong_model::Case;
use furlong_stats::{Deviations, holm, median, sort_by, tidy};
use serde::Serialize;

/// The share of all rows that a host must have for the median over its rows.
const MOST_ROWS: f64 = 0.5;
/// Fewest rows over which that median says more than each of them.
const FEWEST_ROWS: usize = 5;

/// The share of a host's rows that must stand out.
const APART_SHARE: f64 = 0.05;

/// A host that stands out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Its name.
    pub host: String,
    /// Rows that it has.
    pub rows: usize,
    /// How many times as long as on the fleet its rows take, in the median over all of them.
    pub ratio: f64,
    /// Whether that alone makes it stand out.
    pub by_all_rows: bool,
    /// Rows that stand out by themselves, the farthest first.
    pub apart: Vec<Apart>,
    /// What its records say that is unlike the fleet and would explain it.
    #[serde(rename = "reasons_data")]
    pub reasons: Vec<FleetReason>,
}

/// A row of a host that stands out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Apart {
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// The median there, in nanoseconds.
    pub ns: f64,
    /// The median over all hosts.
    pub fleet_ns: f64,
    /// How many times as long as on the fleet it takes.
    pub ratio: f64,
    /// How often chance alone would put a host so far out, corrected for all rows of all hosts.
    pub p_adjusted: f64,
}

/// A row of a host, or the median over all of its rows, as far as it is from that of the fleet.
struct Test {
    host: usize,
    row: Option<usize>,
    /// By how much it is longer, as a logarithm.
    longer: f64,
    chance: f64,
}

/// The hosts that stand out, those with the most rows first.
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

/// Rows that must stand out of so many: where there are several, one alone is rather a hiccup of its run.
fn fewest_apart(rows: usize) -> usize {
    (rows as f64 * APART_SHARE).ceil().max(2.0).min(rows as f64) as usize
}

/// Whether most of what stands out takes longer.
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

fn apart(fleet: &Fleet, test: &Test, row: usize, chance: f64) -> Apart {
    let ns = fleet.hosts[test.host].rows.get(&row).copied().unwrap_or_default();
    let ratio = test.longer.exp();
    Apart {
        case: fleet.cases[row].0.clone(),
        ns: tidy(ns),
        fleet_ns: tidy(ns / ratio),
        ratio: tidy(ratio),
        p_adjusted: tidy(chance),
    }
}

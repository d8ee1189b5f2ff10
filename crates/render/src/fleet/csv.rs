//! A comparison of many hosts as CSV: a line for each benchmark over the hosts, for each benchmark in which a host is
//! an outlier, and for each benchmark of each group.

use super::super::csv::{sheet, words};
use furlong_analysis::{FleetChange, FleetComparison};
use furlong_model::Case;

const COLUMNS: [&str; 18] = [
    "kind",
    "host",
    "group",
    "row",
    "mechanism",
    "wait",
    "pattern",
    "size_bytes",
    "placement",
    "hosts",
    "ns",
    "baseline_ns",
    "ratio",
    "low",
    "high",
    "p_adjusted",
    "verdict",
    "reason",
];

/// Cells by the name of their column; the others stay empty.
fn line(case: &Case, cells: &[(&str, String)]) -> Vec<String> {
    let of_case = [
        ("row", words(&case.to_string())),
        ("mechanism", words(&case.mechanism)),
        ("wait", case.wait.to_string()),
        ("pattern", case.pattern().to_string()),
        ("size_bytes", case.size_bytes.to_string()),
        ("placement", case.placement.to_string()),
    ];
    let cell = |column: &&str| {
        let found = of_case.iter().chain(cells).find(|(name, _)| name == column);
        found.map(|(_, cell)| cell.clone()).unwrap_or_default()
    };
    COLUMNS.iter().map(cell).collect()
}

/// Returns a header, then the lines.
pub fn fleet_csv(found: &FleetComparison) -> String {
    let rows = found.rows.iter().map(|row| {
        let [low, high] = row.quartiles_ns;
        let cells = [
            ("kind", "fleet".to_owned()),
            ("hosts", row.hosts.to_string()),
            ("ns", row.median_ns.to_string()),
            ("low", low.to_string()),
            ("high", high.to_string()),
        ];
        line(&row.case, &cells)
    });
    let apart = found.outliers.iter().flat_map(|host| {
        let reasons: Vec<_> = host.reasons.iter().map(super::prose::reason).collect();
        host.apart.iter().map(move |row| {
            let cells = [
                ("kind", "outlier".to_owned()),
                ("host", words(&host.host)),
                ("ns", row.ns.to_string()),
                ("baseline_ns", row.fleet_ns.to_string()),
                ("ratio", row.ratio.to_string()),
                ("p_adjusted", row.p_adjusted.to_string()),
                ("reason", words(&reasons.join("; "))),
            ];
            line(&row.case, &cells)
        })
    });
    let changes = found.changes.iter().map(|row: &FleetChange| {
        let end = |at: usize| row.interval.map(|ends| ends[at].to_string()).unwrap_or_default();
        let cells = [
            ("kind", "change".to_owned()),
            ("group", row.group.as_deref().map(words).unwrap_or_default()),
            ("hosts", row.new_hosts.to_string()),
            ("ns", row.new_ns.to_string()),
            ("baseline_ns", row.baseline_ns.to_string()),
            ("ratio", row.ratio.to_string()),
            ("low", end(0)),
            ("high", end(1)),
            ("verdict", row.verdict.name().to_owned()),
            ("reason", row.reason.as_ref().map(super::prose::inconclusive).unwrap_or_default()),
        ];
        line(&row.case, &cells)
    });
    let header = COLUMNS.map(str::to_owned).to_vec();
    sheet([header].into_iter().chain(rows).chain(apart).chain(changes))
}

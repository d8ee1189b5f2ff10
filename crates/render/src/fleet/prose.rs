//! The sentences of a comparison of many hosts.

use super::super::noise::disturbance;
use super::super::object::JudgedSentences;
use furlong_analysis::text::{capital, plain, plain_sentence};
use furlong_analysis::{FleetChange, FleetComparison, FleetInconclusive, FleetReason, Outlier, UnusedReason};
use furlong_model::{format_bytes, format_ns};

/// Maximum number of reported costs of one host.
const MOST_COSTS: usize = 3;

/// Explains the median of benchmarks that are not round trips.
pub(super) const ONE_WAY: &str =
    "One-way benchmarks are timed per message, all others per round trip or link.";
/// Legend of the column that names the host with the highest figure.
pub(super) const MOST: &str =
    "on: the host with the highest figure. The figure of a host is the median over its runs.";
/// Explains how groups are compared.
pub(super) const COMPARED: &str = "ratio: time relative to the first group; interval: 95 % for all benchmarks \
                                   together. Hosts in both groups are compared with themselves.";
/// Explains how groups of runs of one host are compared.
pub(super) const COMPARED_RUNS: &str = "ratio: time relative to the first group, by the medians over runs; interval: \
                                        95 % for each benchmark, from one value per run. Worse and better are \
                                        corrected for all benchmarks (rank-sum test, Holm).";

/// Explains the tables of hosts.
pub(super) const SHADES: &str = "Outliers come first, in red. A figure is the time of a benchmark relative to its \
                                 median over hosts: red is longer, blue is shorter, and figures within the margin \
                                 have no colour. The name above a column sorts by it.";

/// Returns why files were not used, rows of groups are inconclusive and hosts stand out, for programs.
pub(super) fn said(found: &FleetComparison) -> Vec<JudgedSentences> {
    let reasons = || found.outliers.iter().map(|outlier| &outlier.reasons);
    let disturbances = reasons().flatten().filter_map(|reason| match reason {
        FleetReason::Noise { disturbances, .. } => Some(disturbances.iter().map(disturbance).collect()),
        _ => None,
    });
    let inconclusive = |row: &FleetChange| row.reason.as_ref().map(inconclusive).into();
    vec![
        JudgedSentences::new(
            "unused.reason_data",
            "reason",
            found.unused.iter().map(|run| unused(&run.reason).into()),
        ),
        JudgedSentences::new("changes.reason_data", "reason", found.changes.iter().map(inconclusive)),
        JudgedSentences::new("outliers.reasons_data.reasons_data", "reasons", disturbances),
        JudgedSentences::new(
            "outliers.reasons_data",
            "reasons",
            reasons().map(|of| of.iter().map(reason).collect()),
        ),
    ]
}

/// Formats a number of runs and a number of hosts.
pub(super) fn runs(runs: usize, hosts: usize) -> String {
    let several = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} of {}", several(runs, "run"), several(hosts, "host"))
}

/// Reports how many files were read, and how many were not used.
pub(super) fn read(found: &FleetComparison) -> String {
    let used = capital(&runs(found.runs, found.hosts));
    match found.unused.len() {
        0 => format!("{used}."),
        1 => format!("{used}. 1 file was not used; it is named below."),
        unused => format!("{used}. {unused} files were not used; they are named below."),
    }
}

/// Reports that no host is an outlier, or that the hosts are too few.
pub(super) fn no_outlier(found: &FleetComparison) -> String {
    const FEW: usize = 10;
    match found.hosts {
        1 => "None: there is only one host.".to_owned(),
        hosts if hosts < FEW => {
            format!("None: among {hosts} hosts, only an extreme outlier is significant.")
        }
        _ => "None: all differences are within the margin or explained by chance.".to_owned(),
    }
}

/// Returns the name of a group.
pub(super) fn group(name: Option<&str>) -> String {
    name.map_or_else(|| "no label".to_owned(), plain)
}

/// Describes an outlier host, its deviation, and the reasons.
pub(super) fn outlier(host: &Outlier) -> String {
    let far = host.apart.first().map(|row| {
        let times = format!("{} instead of {}", format_ns(row.ns), format_ns(row.fleet_ns));
        format!("the largest deviation is {} with {:.2}x ({times})", plain(&row.case.to_string()), row.ratio)
    });
    let rows = match host.apart.len() {
        0 => format!("all {} benchmarks together take {:.2}x", host.rows, host.ratio),
        apart => format!("{apart} of {} benchmarks deviate, all together take {:.2}x", host.rows, host.ratio),
    };
    let costs = host.reasons.iter().filter(|reason| matches!(reason, FleetReason::Cost { .. }));
    let others = host.reasons.iter().filter(|reason| !matches!(reason, FleetReason::Cost { .. }));
    let why: Vec<String> = others.chain(costs.take(MOST_COSTS)).map(reason).collect();
    let why = if why.is_empty() { "its records show no reason".to_owned() } else { why.join("; ") };
    let what = [Some(rows), far].into_iter().flatten().collect::<Vec<_>>().join(", ");
    plain_sentence(&format!("{}: {what}. {}.", plain(&host.host), capital(&why)))
}

/// Describes a reason for an outlier.
pub(super) fn reason(why: &FleetReason) -> String {
    match why {
        FleetReason::Noise { level, disturbances } => {
            let seen: Vec<_> = disturbances.iter().map(disturbance).collect();
            format!("the machine was {}: {}", level.name(), seen.join(", "))
        }
        FleetReason::Fact { what, value, usual, hosts_with_usual, hosts } => {
            let value = value.as_deref().map_or_else(|| "nothing".to_owned(), plain);
            let what = plain(what);
            format!("{what}: here {value}, on {hosts_with_usual} of {hosts} hosts {}", plain(usual))
        }
        FleetReason::Cost { name, size_bytes, ns, fleet_ns, ratio } => {
            let size = size_bytes.map(|bytes| format!(" of {}", format_bytes(bytes))).unwrap_or_default();
            let times = format!("{} instead of {}", format_ns(*ns), format_ns(*fleet_ns));
            format!("{}{size} costs {ratio:.2}x ({times})", plain(name))
        }
    }
}

/// Describes why a file was not used.
pub(super) fn unused(why: &UnusedReason) -> String {
    match why {
        UnusedReason::Unreadable { error } => plain(error),
        UnusedReason::OtherPlatform { platform, most } => {
            format!("it is of {}, and most runs are of {}", plain(platform), plain(most))
        }
        UnusedReason::NoRows => "it has neither benchmarks nor costs".to_owned(),
    }
}

/// Describes why a comparison is inconclusive.
pub(super) fn inconclusive(why: &FleetInconclusive) -> String {
    match why {
        FleetInconclusive::TooFewHosts { needed } => {
            format!("this number of benchmarks needs {needed} hosts in both groups")
        }
        FleetInconclusive::TooFewRuns { needed } => {
            format!("too few runs for this number of benchmarks: measure {needed} on each side")
        }
        FleetInconclusive::Unreliable { runs: [then, now] } => format!(
            "the machine was unreliable during {now} of these runs and {then} of the others, so its load may be the difference"
        ),
        FleetInconclusive::Wide => {
            "the interval reaches beyond the margin: more hosts, or more runs of one host, would narrow it"
                .to_owned()
        }
    }
}

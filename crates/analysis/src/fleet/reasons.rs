//! Reasons for an outlier: differences between the host's records and the rest of the fleet.
//!
//! A fact counts if most hosts have another value, and at least half of those with this value are outliers. For example, a
//! kernel release on every tenth host explains nothing if nine in ten of these hosts are normal. A cost counts if it is an
//! outlier in the same direction.

use super::host::{Fleet, Host};
use super::run::{CostKey, most_frequent};
use crate::{Disturbance, Level};
use furlong_stats::{Deviations, SortedMap, distinct, sort_by, tidy};
use serde::Serialize;

/// Probability that a fleet of equal hosts contains a reported host.
pub(super) const ALPHA: f64 = 0.01;
/// Best repeatability of the medians of one host, as a logarithm.
pub(super) const REPEATS: f64 = 0.005;

/// Difference between a host and the fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FleetReason {
    /// The host was disturbed during the measurement.
    Noise {
        /// Noise level.
        level: Level,
        /// Disturbances.
        #[serde(rename = "reasons_data")]
        disturbances: Vec<Disturbance>,
    },
    /// A fact of the host differs from most hosts.
    Fact {
        /// Name of the fact, for example `clock source`.
        what: String,
        /// Value on the host; `None` if the host lacks the fact.
        value: Option<String>,
        /// Value on most hosts.
        usual: String,
        /// Number of hosts with the usual value.
        hosts_with_usual: usize,
        /// Number of all hosts.
        hosts: usize,
    },
    /// A cost differs from the fleet.
    Cost {
        /// Name of the cost.
        name: String,
        /// Size in bytes, for costs that depend on it.
        size_bytes: Option<usize>,
        /// Nanoseconds on the host.
        ns: f64,
        /// Median over all hosts, in nanoseconds.
        fleet_ns: f64,
        /// Ratio to the fleet.
        ratio: f64,
    },
}

/// Returns the reasons for each of these hosts, in their order. `outliers` contains whether a host is slower. Noise comes
/// first, then facts, then costs in descending order of their deviation.
pub(super) fn reasons(fleet: &Fleet, outliers: &[(usize, bool)], margin: f64) -> Vec<Vec<FleetReason>> {
    let odd: Vec<usize> = outliers.iter().map(|(host, _)| *host).collect();
    let facts = facts(fleet, &odd);
    let costs = CostsOfFleet::of(fleet);
    let tested = costs.0.iter().len() * outliers.len();
    outliers
        .iter()
        .map(|(number, slower)| {
            let host = &fleet.hosts[*number];
            let mut found: Vec<FleetReason> = noise(fleet, host, &odd).into_iter().collect();
            found.extend(facts.iter().filter_map(|fact| fact.of(host, *number)));
            found.extend(costs.host_reasons(host, *slower, margin, tested));
            found
        })
        .collect()
}

/// Returns the noise of a host, if at least half of the hosts with this level or a worse one are outliers.
fn noise(fleet: &Fleet, host: &Host, odd: &[usize]) -> Option<FleetReason> {
    let as_noisy = |(_, other): &(usize, &Host)| other.level >= host.level;
    let alike: Vec<usize> =
        fleet.hosts.iter().enumerate().filter(as_noisy).map(|(number, _)| number).collect();
    (host.level > Level::Quiet && mostly_odd(&alike, odd))
        .then(|| FleetReason::Noise { level: host.level, disturbances: host.disturbances.to_vec() })
}

/// Whether at least half of these hosts are outliers.
fn mostly_odd(hosts: &[usize], odd: &[usize]) -> bool {
    2 * hosts.iter().filter(|host| odd.contains(host)).count() >= hosts.len()
}

/// Fact with the same value on most hosts.
struct Fact<'a> {
    what: &'a str,
    usual: &'a str,
    hosts_with_usual: usize,
    hosts: usize,
    /// Hosts with another value, if at least half of the hosts with that value are outliers.
    others: Vec<usize>,
}

fn facts<'a>(fleet: &'a Fleet, odd: &[usize]) -> Vec<Fact<'a>> {
    let names = distinct(fleet.hosts.iter().flat_map(|host| host.facts.iter().map(|(name, _)| *name)));
    names.into_iter().filter_map(|what| fact(fleet, what, odd)).collect()
}

fn fact<'a>(fleet: &'a Fleet, what: &'a str, odd: &[usize]) -> Option<Fact<'a>> {
    let known = fleet.hosts.iter().filter_map(|host| host.facts.get(what).copied());
    let (usual, hosts_with_usual) = most_frequent(known)?;
    let hosts = fleet.hosts.len();
    if 2 * hosts_with_usual <= hosts {
        return None;
    }
    let mut by_value: SortedMap<Option<&str>, Vec<usize>> = SortedMap::default();
    for (number, host) in fleet.hosts.iter().enumerate() {
        by_value.or_default(host.facts.get(what).copied()).push(number);
    }
    let others =
        by_value.into_iter().filter(|(value, alike)| *value != Some(usual) && mostly_odd(alike, odd));
    let others = others.flat_map(|(_, alike)| alike).collect();
    Some(Fact { what, usual, hosts_with_usual, hosts, others })
}

impl Fact<'_> {
    fn of(&self, host: &Host, number: usize) -> Option<FleetReason> {
        self.others.contains(&number).then(|| FleetReason::Fact {
            what: self.what.to_owned(),
            value: host.facts.get(self.what).map(|value| (*value).to_owned()),
            usual: self.usual.to_owned(),
            hosts_with_usual: self.hosts_with_usual,
            hosts: self.hosts,
        })
    }
}

/// Costs of all hosts.
struct CostsOfFleet<'a>(SortedMap<&'a CostKey, Deviations>);

impl<'a> CostsOfFleet<'a> {
    fn of(fleet: &Fleet<'a>) -> Self {
        let mut values: SortedMap<&CostKey, Vec<f64>> = SortedMap::default();
        for (key, ns) in fleet.hosts.iter().flat_map(|host| host.costs.iter()) {
            values.or_default(*key).push(ns.ln());
        }
        let known =
            values.into_iter().filter_map(|(key, values)| Some((key, Deviations::of(&values, REPEATS)?)));
        CostsOfFleet(known.collect())
    }

    /// Returns the costs of a host that are outliers in the direction of its benchmarks. Each cost has the size with the
    /// largest deviation.
    fn host_reasons(&self, host: &Host, slower: bool, margin: f64, tested: usize) -> Vec<FleetReason> {
        let mut found: SortedMap<&str, (f64, FleetReason)> = SortedMap::default();
        for (key, ns) in host.costs.iter() {
            let Some(all) = self.0.get(key) else { continue };
            let more = ns.ln() - all.middle;
            let far = if slower { more } else { -more };
            let is_odd = far > margin.ln_1p() && all.chance(ns.ln()) * (tested as f64) < ALPHA;
            if !is_odd {
                continue;
            }
            let (name, size_bytes) = (&key.0, key.1);
            let [ns, fleet_ns, ratio] = [*ns, all.middle.exp(), more.exp()].map(tidy);
            let reason = FleetReason::Cost { name: name.clone(), size_bytes, ns, fleet_ns, ratio };
            let farthest = found.or_insert(name.as_str(), (far, reason.clone()));
            if farthest.0 < far {
                *farthest = (far, reason);
            }
        }
        let mut found: Vec<_> = found.into_iter().map(|(_, found)| found).collect();
        sort_by(&mut found, |(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().map(|(_, reason)| reason).collect()
    }
}

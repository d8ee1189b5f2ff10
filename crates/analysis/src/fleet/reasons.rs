//! Why a host stands out: what its records say of the machine that is unlike the rest of the fleet.
//!
//! A fact counts if most hosts have another value, and most of those with this one stand out too: a release that every tenth
//! host has, nine in ten of which are like all others, explains nothing. A cost counts if it is as odd as a row must be, in
//! the same direction.

use super::host::{Fleet, Host};
use super::run::{CostKey, most_frequent};
use crate::{Disturbance, Level};
use furlong_stats::{Deviations, SortedMap, distinct, sort_by, tidy};
use serde::Serialize;

/// The chance that a fleet of hosts that are alike has one that is named.
pub(super) const ALPHA: f64 = 0.01;
/// What medians of one host repeat to at best, as a logarithm.
pub(super) const REPEATS: f64 = 0.005;

/// What is unlike the fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FleetReason {
    /// It was disturbed while it was measured.
    Noise {
        /// How much.
        level: Level,
        /// By what.
        #[serde(rename = "reasons_data")]
        disturbances: Vec<Disturbance>,
    },
    /// Something about it is another than on most hosts.
    Fact {
        /// What, as in `clock source`.
        what: String,
        /// There; `None` where it is not there at all.
        value: Option<String>,
        /// On most hosts.
        usual: String,
        /// So many.
        hosts_with_usual: usize,
        /// Of so many whose records say it.
        hosts: usize,
    },
    /// It charges another price.
    Cost {
        /// For what.
        name: String,
        /// For how many bytes, where that matters.
        size_bytes: Option<usize>,
        /// Nanoseconds there.
        ns: f64,
        /// The median over all hosts.
        fleet_ns: f64,
        /// How many times as much.
        ratio: f64,
    },
}

/// Those of each of these hosts, with whether it is slower, in their order: noise, facts, then costs from the farthest on.
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
            found.extend(costs.of_host(host, *slower, margin, tested));
            found
        })
        .collect()
}

/// The noise of a host, where most that are as noisy stand out.
fn noise(fleet: &Fleet, host: &Host, odd: &[usize]) -> Option<FleetReason> {
    let as_noisy = |(_, other): &(usize, &Host)| other.level >= host.level;
    let alike: Vec<usize> =
        fleet.hosts.iter().enumerate().filter(as_noisy).map(|(number, _)| number).collect();
    (host.level > Level::Quiet && mostly_odd(&alike, odd))
        .then(|| FleetReason::Noise { level: host.level, disturbances: host.disturbances.to_vec() })
}

/// Whether at least half of these stand out.
fn mostly_odd(hosts: &[usize], odd: &[usize]) -> bool {
    2 * hosts.iter().filter(|host| odd.contains(host)).count() >= hosts.len()
}

/// A fact for which most hosts have the same value.
struct Fact<'a> {
    what: &'a str,
    usual: &'a str,
    hosts_with_usual: usize,
    hosts: usize,
    /// Hosts with another value, which most hosts that stand out have.
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

/// What all hosts charge.
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

    /// Those of a host that are odd in the direction of its rows: of each the size that is the farthest out.
    fn of_host(&self, host: &Host, slower: bool, margin: f64, tested: usize) -> Vec<FleetReason> {
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

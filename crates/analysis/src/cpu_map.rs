//! Latencies between pairs of CPUs, judged against the topology.

use crate::Level;
use furlong_model::{Cpu, CpuTopology, PairGroup};
use furlong_stats::{SortedMap, median, sort_by};
use serde::Serialize;

/// Version of the JSON of a map.
pub const CPU_MAP_SCHEMA: u32 = 1;

/// Least ratio of two medians that contradict the topology.
const CONTRADICTION: f64 = 1.25;

/// Least ratio of the medians of two groups of pairs that should be one.
const TWO_GROUPS: f64 = 1.5;

/// Smallest group, as a share of the pairs and in pairs. Fewer pairs may be disturbed ones.
const SMALLEST_GROUP: (f64, usize) = (0.05, 2);

/// Latency of one pair of CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairLatency {
    /// CPUs, by the kernel's numbers.
    pub cpus: [usize; 2],
    /// Median round trip over the trials, in nanoseconds.
    pub ns: f64,
    /// Interval of the median; `None` for fewer than three trials.
    pub ci95: Option<[f64; 2]>,
    /// Number of measured trials.
    pub trials: usize,
}

/// Settings of a map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuMapSettings {
    /// Benchmark with its message size; `None` for a bare cache line.
    pub benchmark: Option<String>,
    /// Seed of the order of the trials and of the sample.
    pub seed: u64,
    /// Pairs that were selected.
    pub selected_pairs: usize,
    /// Estimated time of all pairs in seconds.
    pub all_pairs_s: f64,
    /// Noise of the machine during the run of a benchmark; `None` for a bare cache line, whose map has no noise readings.
    pub noise: Option<Level>,
}

/// Latencies between CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuMap {
    /// Version of this object.
    pub schema: u32,
    /// Settings of the measurement.
    #[serde(flatten)]
    pub settings: CpuMapSettings,
    /// Number of pairs of these CPUs.
    pub all_pairs: usize,
    /// CPUs. CPUs that share parts of the machine are next to each other.
    pub cpus: Vec<Cpu>,
    /// Measured pairs, sorted by their CPUs. The first CPU has the lower number.
    pub pairs: Vec<PairLatency>,
    /// Latencies by relation, the nearest relation first. Each combination of core kinds is separate.
    pub relations: Vec<RelationLatency>,
    /// Contradictions between figures and topology.
    #[serde(rename = "findings_data")]
    pub findings: Vec<CpuMapFinding>,
}

/// Latency of all pairs with one relation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelationLatency {
    /// Relation, and kinds of cores.
    #[serde(flatten)]
    pub group: PairGroup,
    /// Number of pairs with this relation.
    pub all_pairs: usize,
    /// Number of measured pairs.
    pub pairs: usize,
    /// Median over the measured pairs, in nanoseconds; `None` without any.
    pub median_ns: Option<f64>,
    /// Fastest and slowest measured pair, in nanoseconds.
    pub range_ns: Option<[f64; 2]>,
}

/// Contradiction between latencies and topology.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CpuMapFinding {
    /// Pairs of a nearer relation are slower than pairs of a farther one.
    NearIsSlower {
        /// Nearer relation.
        near: PairGroup,
        /// Farther relation.
        far: PairGroup,
        /// Medians of both, in nanoseconds.
        ns: [f64; 2],
    },
    /// Pairs of one relation fall into two groups.
    TwoGroups {
        /// Relation.
        #[serde(flatten)]
        group: PairGroup,
        /// Medians of both groups, in nanoseconds.
        ns: [f64; 2],
        /// CPUs of the faster pairs.
        faster: Vec<[usize; 2]>,
        /// Number of slower pairs.
        slower: usize,
    },
}

impl CpuMap {
    /// Judges the latencies of these pairs.
    pub fn new(settings: CpuMapSettings, topology: &CpuTopology, mut pairs: Vec<PairLatency>) -> CpuMap {
        pairs.retain(|pair| pair.ns > 0.0 && pair.ns.is_finite());
        sort_by(&mut pairs, |one, other| one.cpus.cmp(&other.cpus));
        let mut groups = SortedMap::<PairGroup, (usize, Vec<&PairLatency>)>::default();
        for [one, other] in topology.pairs() {
            let (all, measured) = groups.or_default(PairGroup::new(&one, &other));
            *all += 1;
            let cpus = [one.number, other.number];
            measured.extend(latency_of(&pairs, cpus));
        }
        let relations: Vec<_> =
            groups.iter().map(|(group, (all, pairs))| RelationLatency::new(*group, *all, pairs)).collect();
        let mut findings = Vec::new();
        // Without intervals, a disturbance cannot be distinguished from a property of the machine.
        if pairs.iter().all(|pair| pair.ci95.is_some()) {
            findings = reversals(&relations);
            findings.extend(groups.iter().filter_map(|(group, (_, pairs))| two_groups(*group, pairs)));
        }
        CpuMap {
            schema: CPU_MAP_SCHEMA,
            settings,
            all_pairs: relations.iter().map(|relation| relation.all_pairs).sum(),
            cpus: topology.cpus().to_vec(),
            relations,
            findings,
            pairs,
        }
    }

    /// Returns the latency between the CPUs at two places of `cpus`; `None` if it was not measured.
    pub fn latency_ns(&self, row: usize, column: usize) -> Option<f64> {
        let mut cpus = [self.cpus[row].number, self.cpus[column].number];
        cpus.sort_unstable();
        latency_of(&self.pairs, cpus).map(|pair| pair.ns)
    }

    /// Returns whether a drawing separates the CPU at this place from the previous one.
    pub fn begins_cluster(&self, at: usize) -> bool {
        at > 0 && self.cpus[at].cluster() != self.cpus[at - 1].cluster()
    }

    /// Returns whether pairs were left out, because all would take too long.
    pub fn is_sample(&self) -> bool {
        self.settings.selected_pairs < self.all_pairs
    }
}

/// Returns the latency of two CPUs in pairs that are sorted by their CPUs, if it was measured.
fn latency_of(pairs: &[PairLatency], cpus: [usize; 2]) -> Option<&PairLatency> {
    pairs.binary_search_by(|pair| pair.cpus.cmp(&cpus)).ok().map(|at| &pairs[at])
}

impl RelationLatency {
    fn new(group: PairGroup, all_pairs: usize, pairs: &[&PairLatency]) -> RelationLatency {
        let ns: Vec<f64> = pairs.iter().map(|pair| pair.ns).collect();
        let range = |(low, high): (f64, f64), ns: &f64| (low.min(*ns), high.max(*ns));
        let (least, most) = ns.iter().fold((f64::INFINITY, 0.0), range);
        RelationLatency {
            group,
            all_pairs,
            pairs: pairs.len(),
            median_ns: median(&ns),
            range_ns: (!ns.is_empty()).then_some([least, most]),
        }
    }
}

/// Returns the relations whose fastest pair is slower than the median of a farther relation with the same kinds of cores.
fn reversals(relations: &[RelationLatency]) -> Vec<CpuMapFinding> {
    let mut found = Vec::new();
    for (at, near) in relations.iter().enumerate() {
        let (Some(near_ns), Some([least_ns, _])) = (near.median_ns, near.range_ns) else { continue };
        let contradicts = |far: &&RelationLatency| {
            let is_faster = |ns: f64| ns < least_ns && ns * CONTRADICTION < near_ns;
            far.group.kinds == near.group.kinds && far.median_ns.is_some_and(is_faster)
        };
        found.extend(relations[at + 1..].iter().find(contradicts).and_then(|far| {
            Some(CpuMapFinding::NearIsSlower {
                near: near.group,
                far: far.group,
                ns: [near_ns, far.median_ns?],
            })
        }));
    }
    found
}

/// Returns the two groups into which the pairs of one relation fall, if their intervals are apart.
fn two_groups(group: PairGroup, pairs: &[&PairLatency]) -> Option<CpuMapFinding> {
    let mut pairs = pairs.to_vec();
    sort_by(&mut pairs, |one, other| one.ns.total_cmp(&other.ns));
    let gap = |at: usize| pairs[at].ns / pairs[at - 1].ns;
    let at = (1..pairs.len()).max_by(|one, other| gap(*one).total_cmp(&gap(*other)))?;
    let (faster, slower) = pairs.split_at(at);
    let smallest = ((pairs.len() as f64 * SMALLEST_GROUP.0) as usize).max(SMALLEST_GROUP.1);
    let ends = |pair: &&PairLatency| pair.ci95.unwrap_or([pair.ns; 2]);
    let highest = faster.iter().map(|pair| ends(pair)[1]).fold(0.0, f64::max);
    let lowest = slower.iter().map(|pair| ends(pair)[0]).fold(f64::INFINITY, f64::min);
    let middle = |pairs: &[&PairLatency]| median(&pairs.iter().map(|pair| pair.ns).collect::<Vec<_>>());
    let ns = [middle(faster)?, middle(slower)?];
    let is_divided = faster.len().min(slower.len()) >= smallest
        && gap(at) >= CONTRADICTION
        && ns[1] >= TWO_GROUPS * ns[0]
        && highest < lowest;
    is_divided.then(|| CpuMapFinding::TwoGroups {
        group,
        ns,
        faster: faster.iter().map(|pair| pair.cpus).collect(),
        slower: slower.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{CoreKind, CpuRelation};

    fn settings() -> CpuMapSettings {
        CpuMapSettings { benchmark: None, seed: 1, selected_pairs: 0, all_pairs_s: 1.0, noise: None }
    }

    /// Returns two sockets with four cores of two threads each, an L3 cache per socket, and this latency of each pair.
    fn map(ns: impl Fn(CpuRelation, [usize; 2]) -> f64) -> CpuMap {
        let cpu = |number| {
            let socket = number % 8 / 4 * 4;
            Cpu { core: number % 8, socket, l3: Some(socket), ..Cpu::new(number) }
        };
        let topology = CpuTopology::new((0..16).map(cpu).collect());
        let latency = |[one, other]: [Cpu; 2]| {
            let cpus = [one.number, other.number];
            let ns = ns(one.relation(&other), cpus);
            PairLatency { cpus, ns, ci95: Some([0.97 * ns, 1.03 * ns]), trials: 5 }
        };
        let pairs = topology.pairs().map(latency).collect();
        CpuMap::new(settings(), &topology, pairs)
    }

    fn as_described(relation: CpuRelation) -> f64 {
        match relation {
            CpuRelation::SmtSibling => 20.0,
            CpuRelation::SameL3 => 60.0,
            _ => 200.0,
        }
    }

    #[test]
    fn relations_have_their_medians() {
        let map = map(|relation, [one, _]| as_described(relation) + one as f64);
        let rows: Vec<_> =
            map.relations.iter().map(|row| (row.group.relation, row.pairs, row.all_pairs)).collect();
        use CpuRelation::{OtherSocket, SameL3, SmtSibling};
        assert_eq!(rows, [(SmtSibling, 8, 8), (SameL3, 48, 48), (OtherSocket, 64, 64)]);
        assert_eq!(map.relations[0].range_ns, Some([20.0, 27.0]));
        assert_eq!(map.relations[0].median_ns, Some(23.5));
        assert_eq!((map.findings.len(), map.all_pairs), (0, 120));
    }

    #[test]
    fn nearer_pairs_that_are_slower_contradict_the_topology() {
        let map =
            map(|relation, _| if relation == CpuRelation::SameL3 { 300.0 } else { as_described(relation) });
        let group = |relation| PairGroup { relation, kinds: None };
        let [near, far] = [CpuRelation::SameL3, CpuRelation::OtherSocket].map(group);
        assert_eq!(map.findings, [CpuMapFinding::NearIsSlower { near, far, ns: [300.0, 200.0] }]);
    }

    #[test]
    fn hidden_siblings_of_a_guest_are_found() {
        let hidden = [[0, 1], [2, 3]];
        let found =
            map(|relation, cpus| if hidden.contains(&cpus) { 20.0 } else { as_described(relation) }).findings;
        let [CpuMapFinding::TwoGroups { group, ns, faster, slower }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (group.relation, *ns, &faster[..], *slower),
            (CpuRelation::SameL3, [20.0, 60.0], &hidden[..], 46)
        );
        // One pair may be disturbed.
        let one = map(|relation, cpus| if cpus == [0, 1] { 20.0 } else { as_described(relation) });
        assert!(one.findings.is_empty(), "{one:?}");
    }

    #[test]
    fn pairs_without_intervals_contradict_nothing() {
        let map =
            map(|relation, _| if relation == CpuRelation::SameL3 { 300.0 } else { as_described(relation) });
        let cpus = CpuTopology::new(map.cpus.clone());
        let pairs = map.pairs.iter().map(|pair| PairLatency { ci95: None, trials: 1, ..pair.clone() });
        assert!(
            CpuMap::new(settings(), &cpus, pairs.collect()).findings.is_empty() && map.findings.len() == 1
        );
    }

    #[test]
    fn differences_within_the_intervals_are_not_two_groups() {
        let cpus = (0..8).map(Cpu::new).collect();
        let topology = CpuTopology::new(cpus);
        let pair = |[one, other]: [Cpu; 2]| {
            let ns = if one.number < 3 { 40.0 } else { 80.0 };
            PairLatency { cpus: [one.number, other.number], ns, ci95: Some([30.0, 90.0]), trials: 5 }
        };
        let pairs: Vec<_> = topology.pairs().map(pair).collect();
        assert!(CpuMap::new(settings(), &topology, pairs).findings.is_empty());
    }

    #[test]
    fn kinds_of_cores_are_separate_relations() {
        let kind = |number| Some(if number < 2 { CoreKind::Performance } else { CoreKind::Efficiency });
        let cpu = |number| Cpu { kind: kind(number), ..Cpu::new(number) };
        let topology = CpuTopology::new((0..4).map(cpu).collect());
        // Slow efficiency cores contradict nothing.
        let pair = |[one, other]: [Cpu; 2]| PairLatency {
            cpus: [one.number, other.number],
            ns: if other.number < 2 { 40.0 } else { 120.0 },
            ci95: Some([30.0, 130.0]),
            trials: 5,
        };
        let map = CpuMap::new(settings(), &topology, topology.pairs().map(pair).collect());
        let pairs: Vec<_> = map.relations.iter().map(|row| row.pairs).collect();
        assert_eq!((pairs, map.findings.len()), (vec![1, 4, 1], 0));
    }

    #[test]
    fn figures_that_cannot_be_true_are_left_out() {
        let bad = [0.0, -1.0, f64::NAN, f64::INFINITY];
        let map = map(|_, [one, other]| bad[(one + other) % 4]);
        assert_eq!((map.pairs.len(), map.findings.len()), (0, 0));
        assert!(map.relations.iter().all(|row| row.median_ns.is_none() && row.all_pairs > 0));
    }
}

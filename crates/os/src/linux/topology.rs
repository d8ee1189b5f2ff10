//! The CPU topology that the kernel describes in sysfs.

use crate::linux::affinity::parse_list;
use furlong_model::{CoreKind, Cpu, CpuTopology};
use std::fs::read_to_string;
use std::path::Path;

/// Returns the topology of these CPUs.
pub fn read(allowed: &[usize]) -> CpuTopology {
    read_at(Path::new("/sys"), allowed)
}

/// Returns the topology of these CPUs from the tree at `root`, which is usually `/sys`. Offline CPUs are left out. A CPU
/// without files is a core of the first node.
pub fn read_at(root: &Path, allowed: &[usize]) -> CpuTopology {
    let tree = Tree { system: &root.join("devices/system") };
    let kinds = [
        ("cpu_core", CoreKind::Performance),
        ("cpu_atom", CoreKind::Efficiency),
        ("cpu_lowpower", CoreKind::LowPower),
    ]
    .map(|(name, kind)| (list(&root.join("devices").join(name).join("cpus")), kind));
    let nodes: Vec<(usize, Vec<usize>)> = list(&tree.system.join("node/online"))
        .into_iter()
        .map(|node| (node, list(&tree.system.join(format!("node/node{node}/cpulist")))))
        .collect();
    let online = list(&tree.system.join("cpu/online"));
    let cpu = |number: usize| {
        let kind = kinds.iter().find(|(cpus, _)| cpus.contains(&number)).map(|(_, kind)| *kind);
        let node = nodes.iter().find(|(_, cpus)| cpus.contains(&number)).map_or(0, |(node, _)| *node);
        Cpu { node, kind: kind.or_else(|| tree.capacity(number)), ..tree.cpu(number) }
    };
    let is_online = |number: &&usize| online.is_empty() || online.contains(number);
    let mut cpus: Vec<Cpu> = allowed.iter().filter(is_online).map(|number| cpu(*number)).collect();
    if cpus.iter().all(|cpu| cpu.kind == cpus[0].kind) {
        cpus.iter_mut().for_each(|cpu| cpu.kind = None);
    }
    CpuTopology::new(cpus)
}

/// The directory `devices/system` of a sysfs tree.
struct Tree<'a> {
    system: &'a Path,
}

impl Tree<'_> {
    /// Returns the parts of the machine that a CPU belongs to, except its node and its kind.
    fn cpu(&self, number: usize) -> Cpu {
        let folder = self.system.join(format!("cpu/cpu{number}"));
        let first = |file: &str| list(&folder.join(file)).into_iter().min();
        let mut cpu = Cpu {
            core: first("topology/thread_siblings_list").unwrap_or(number),
            socket: first("topology/core_siblings_list").unwrap_or(0),
            ..Cpu::new(number)
        };
        for index in 0.. {
            let cache = format!("cache/index{index}");
            let Ok(level) = read_to_string(folder.join(&cache).join("level")) else { break };
            let shared = || first(&format!("{cache}/shared_cpu_list"));
            match level.trim() {
                "2" => cpu.l2 = shared(),
                "3" => cpu.l3 = shared(),
                _ => {}
            }
        }
        cpu
    }

    /// Returns the computing capacity of a CPU, which only kernels for machines with several kinds of cores report.
    fn capacity(&self, number: usize) -> Option<CoreKind> {
        let text = read_to_string(self.system.join(format!("cpu/cpu{number}/cpu_capacity"))).ok()?;
        text.trim().parse().ok().map(CoreKind::Capacity)
    }
}

/// Returns the numbers in a file, such as `0-2,5`; none if the file does not exist.
fn list(path: &Path) -> Vec<usize> {
    read_to_string(path).map(|text| parse_list(text.trim())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_fixture::topology::{TREES, write_tree};
    use furlong_model::{CpuRelation, RelatedPair};

    /// Returns the topology of a synthetic machine.
    fn topology(name: &str) -> CpuTopology {
        let folder = tempfile::tempdir().unwrap();
        let allowed = write_tree(name, folder.path());
        read_at(folder.path(), &allowed)
    }

    /// Returns the number of pairs of each relation, then the CPUs of each named pair.
    fn described(topology: &CpuTopology) -> String {
        let pairs = |relation: CpuRelation| {
            topology.pairs().filter(|[one, other]| one.relation(other) == relation).count()
        };
        let count =
            |relation: CpuRelation| (pairs(relation) > 0).then(|| format!("{} {relation}", pairs(relation)));
        let place =
            |pair: RelatedPair| topology.pair(pair).map(|[one, other]| format!("{pair}={one}:{other}"));
        let counts = CpuRelation::ALL.into_iter().filter_map(count);
        counts.chain(RelatedPair::ALL.into_iter().filter_map(place)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn synthetic_machines_have_their_relations_and_named_pairs() {
        let expected = [
            "4 smt-sibling, 24 same-l3, smt=0:4, l3=0:1",
            "8 smt-sibling, 48 same-l3, 64 other-socket, smt=0:8, l3=0:2, far=0:1",
            "16 smt-sibling, 32 same-l3, 64 same-node, 384 other-node, smt=0:16, l3=0:1, node=0:2, far=0:4",
            "12 smt-sibling, 48 same-l3, 216 same-node, smt=0:12, l3=0:1, node=0:3",
            "6 smt-sibling, 6 same-l2, 108 same-l3, smt=0:1, l3=0:2",
            "7 same-l2, 8 same-node, node=0:4",
            "6 same-l3, l3=0:1",
            "2 smt-sibling, 13 same-l3, smt=0:4, l3=0:1",
            "1 smt-sibling, 2 other-socket, smt=2:10, far=2:3",
            "",
        ];
        for ((name, _), expected) in TREES.into_iter().zip(expected) {
            assert_eq!(described(&topology(name)), expected, "{name}");
        }
    }

    #[test]
    fn neighbours_are_next_to_each_other() {
        let numbers = |name| topology(name).cpus().iter().map(|cpu| cpu.number).collect::<Vec<_>>();
        assert_eq!(numbers("two-sockets"), [0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15]);
        assert_eq!(numbers("zen-ccx")[..8], [0, 12, 1, 13, 2, 14, 3, 15]);
        assert_eq!(numbers("offline"), [0, 4, 1, 3, 7, 6]);
        assert_eq!(numbers("container"), [2, 10, 3]);
    }

    #[test]
    fn kinds_of_cores_are_known_where_cores_differ() {
        let kinds = |name| {
            let kinds = topology(name).cpus().iter().filter_map(|cpu| cpu.kind).collect::<Vec<_>>();
            kinds
                .chunk_by(|one, next| one == next)
                .map(|kind| format!("{} {}", kind.len(), kind[0]))
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds("hybrid"), ["12 P", "4 E"]);
        assert_eq!(kinds("big-little"), ["4 capacity 485", "2 capacity 1024"]);
        assert!(kinds("two-sockets").is_empty());
    }

    #[test]
    fn topology_of_this_machine_has_every_allowed_cpu() {
        let allowed = crate::linux::affinity::allowed().unwrap();
        let mut numbers: Vec<_> = read(&allowed).cpus().iter().map(|cpu| cpu.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, allowed);
        // A sandbox may have no sysfs.
        let nowhere = read_at(Path::new("/nonexistent"), &[4, 7]);
        assert_eq!(nowhere.cpus(), [Cpu::new(4), Cpu::new(7)]);
    }
}

//! The CPUs of a machine, and how near they are to each other.

use crate::named_enum::named_enum;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

named_enum! {
    /// Relation of two CPUs, the nearest first.
    CpuRelation {
        /// Two threads of one core.
        SmtSibling = "smt-sibling",
        /// Two cores that share an L2 cache.
        SameL2 = "same-l2",
        /// Two cores that share an L3 cache.
        SameL3 = "same-l3",
        /// Two cores of one NUMA node that share neither cache.
        SameNode = "same-node",
        /// Two NUMA nodes of one socket.
        OtherNode = "other-node",
        /// Two sockets.
        OtherSocket = "other-socket",
    }
}

named_enum! {
    /// Pair of CPUs that is named by its relation.
    RelatedPair, "placement" {
        /// Two threads of one core.
        Smt = "smt",
        /// Two cores that share an L3 cache.
        L3 = "l3",
        /// Two cores of one NUMA node that share no L3 cache.
        Node = "node",
        /// Two cores of different NUMA nodes or sockets.
        Far = "far",
    }
}

impl RelatedPair {
    /// Describes the two CPUs, as a noun.
    pub const fn description(self) -> &'static str {
        match self {
            RelatedPair::Smt => "two threads of one core",
            RelatedPair::L3 => "two cores that share an L3 cache",
            RelatedPair::Node => "two cores of one NUMA node without a common L3 cache",
            RelatedPair::Far => "two cores of different NUMA nodes or sockets",
        }
    }
}

/// Kind of a core, on a machine whose cores differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoreKind {
    /// Performance core.
    Performance,
    /// Efficiency core.
    Efficiency,
    /// Efficiency core with low power.
    LowPower,
    /// Core with this computing capacity. The largest capacity of a machine is 1024.
    Capacity(u32),
}

impl fmt::Display for CoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoreKind::Performance => f.pad("P"),
            CoreKind::Efficiency => f.pad("E"),
            CoreKind::LowPower => f.pad("LP"),
            CoreKind::Capacity(capacity) => f.pad(&format!("capacity {capacity}")),
        }
    }
}

impl Serialize for CoreKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// CPU with the parts of the machine that it belongs to. A core, a cache and a socket have the number of their first CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Kernel's number of the CPU.
    pub number: usize,
    /// Core.
    pub core: usize,
    /// L2 cache, if it is known.
    pub l2: Option<usize>,
    /// L3 cache, if there is one.
    pub l3: Option<usize>,
    /// NUMA node, by the kernel's number.
    pub node: usize,
    /// Socket.
    pub socket: usize,
    /// Kind of the core; `None` if all cores are of one kind.
    pub kind: Option<CoreKind>,
}

impl Cpu {
    /// Returns a CPU of which only the number is known: a core of the first node.
    pub fn new(number: usize) -> Cpu {
        Cpu { number, core: number, l2: None, l3: None, node: 0, socket: 0, kind: None }
    }

    /// Returns the relation to another CPU.
    pub fn relation(&self, other: &Cpu) -> CpuRelation {
        let is_shared = |one: Option<usize>, other: Option<usize>| one.is_some() && one == other;
        if self.core == other.core {
            CpuRelation::SmtSibling
        } else if self.socket != other.socket {
            CpuRelation::OtherSocket
        } else if self.node != other.node {
            // Sub-NUMA clusters divide an L3 cache, so the node comes first.
            CpuRelation::OtherNode
        } else if is_shared(self.l2, other.l2) {
            CpuRelation::SameL2
        } else if is_shared(self.l3, other.l3) {
            CpuRelation::SameL3
        } else {
            CpuRelation::SameNode
        }
    }

    /// Returns the smallest shared part that a drawing separates: socket, node and L3 cache.
    pub fn cluster(&self) -> (usize, usize, Option<usize>) {
        (self.socket, self.node, self.l3)
    }
}

/// Relation of two CPUs, with the kinds of their cores if cores differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PairGroup {
    /// Relation of the CPUs.
    pub relation: CpuRelation,
    /// Kinds of the two cores; `None` if all cores are of one kind.
    pub kinds: Option<[CoreKind; 2]>,
}

impl PairGroup {
    /// Returns the relation and the kinds of two CPUs.
    pub fn new(one: &Cpu, other: &Cpu) -> PairGroup {
        let kinds = one.kind.zip(other.kind).map(|(one, other)| [one.min(other), one.max(other)]);
        PairGroup { relation: one.relation(other), kinds }
    }
}

/// CPUs that a process may use. CPUs that share parts are next to each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTopology {
    cpus: Vec<Cpu>,
}

impl CpuTopology {
    /// Sorts the CPUs by the parts that they share.
    pub fn new(mut cpus: Vec<Cpu>) -> CpuTopology {
        cpus.sort_unstable_by_key(|cpu| (cpu.cluster(), cpu.l2, cpu.core, cpu.number));
        CpuTopology { cpus }
    }

    /// Returns the CPUs.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// Returns all pairs; the first CPU has the lower number.
    pub fn pairs(&self) -> impl Iterator<Item = [Cpu; 2]> {
        let pair = |one: Cpu, other: Cpu| if one.number < other.number { [one, other] } else { [other, one] };
        self.cpus
            .iter()
            .enumerate()
            .flat_map(move |(at, one)| self.cpus[at + 1..].iter().map(move |other| pair(*one, *other)))
    }

    /// Returns the CPUs of this pair: the farthest that qualify, and of those the ones with the lowest numbers.
    pub fn pair(&self, wanted: RelatedPair) -> Option<[usize; 2]> {
        let qualifies = |relation: CpuRelation, pair: &[Cpu; 2]| match wanted {
            RelatedPair::Smt => relation == CpuRelation::SmtSibling,
            // Cores that share an L2 cache share an L3 cache too, if there is one.
            RelatedPair::L3 => {
                relation == CpuRelation::SameL3 || (relation == CpuRelation::SameL2 && pair[0].l3.is_some())
            }
            RelatedPair::Node => relation == CpuRelation::SameNode,
            RelatedPair::Far => relation >= CpuRelation::OtherNode,
        };
        let related = self.pairs().map(|pair| (pair[0].relation(&pair[1]), pair));
        let found = related.filter(|(relation, pair)| qualifies(*relation, pair)).map(|(relation, pair)| {
            let numbers = pair.map(|cpu| cpu.number);
            (std::cmp::Reverse(relation), numbers)
        });
        found.min().map(|(_, numbers)| numbers)
    }
}

/// Numbers of CPUs, in the form `0-3,8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |range: &[usize]| match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range[0].to_string(),
        };
        let ranges = self.0.chunk_by(|one, next| one + 1 == *next).map(range);
        f.pad(&ranges.collect::<Vec<_>>().join(","))
    }
}

/// Text that is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected numbers and ranges up to 65535, such as 0-3,8")]
pub struct InvalidCpuList;

impl FromStr for CpuList {
    type Err = InvalidCpuList;

    fn from_str(text: &str) -> Result<Self, InvalidCpuList> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let [first, last] = [first, last].map(str::parse::<u16>);
            match (first, last) {
                (Ok(first), Ok(last)) if first <= last => Ok(usize::from(first)..=usize::from(last)),
                _ => Err(InvalidCpuList),
            }
        };
        let mut numbers = Vec::new();
        for part in text.split(',') {
            numbers.extend(range(part)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(CpuList(numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        let read = |text: &str| text.parse::<CpuList>().map(|list| list.0);
        assert_eq!(read("0-2,5"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(read("5,3,3-4"), Ok(vec![3, 4, 5]));
        assert_eq!(CpuList(vec![0, 1, 2, 5, 7, 8]).to_string(), "0-2,5,7-8");
        for text in ["", "a", "1-", "-1", "3-1", "1,,2", "0-99999999999", "70000", "1 2"] {
            assert_eq!(read(text), Err(InvalidCpuList), "{text}");
        }
    }

    #[test]
    fn nodes_that_divide_an_l3_cache_are_other_nodes() {
        let cpus = [0, 1].map(|node| Cpu { l3: Some(0), node, ..Cpu::new(node) });
        assert_eq!(cpus[0].relation(&cpus[1]), CpuRelation::OtherNode);
        let topology = CpuTopology::new(cpus.into());
        assert_eq!(RelatedPair::ALL.map(|pair| topology.pair(pair)), [None, None, None, Some([0, 1])]);
    }

    #[test]
    fn cores_of_which_nothing_is_known_are_cores_of_one_node() {
        let topology = CpuTopology::new([3, 1].map(Cpu::new).into());
        assert_eq!(RelatedPair::ALL.map(|pair| topology.pair(pair)), [None, None, Some([1, 3]), None]);
    }

    #[test]
    fn far_pair_is_on_two_sockets_if_there_are_two() {
        let cpu = |number, node, socket| Cpu { node, socket, ..Cpu::new(number) };
        let topology = CpuTopology::new(vec![cpu(0, 0, 0), cpu(1, 1, 0), cpu(2, 2, 2)]);
        assert_eq!(topology.pair(RelatedPair::Far), Some([0, 2]));
    }
}

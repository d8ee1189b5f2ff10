//! Requested NUMA node of the memory of a benchmark.

use super::{ConditionKind, RequestedCondition};

/// NUMA nodes of memory.
pub(super) static MEMORY_NODE: ConditionKind = ConditionKind {
    name: "memory-node",
    placeholder: "N",
    help: "Take the memory of messages and of both roles from this NUMA node. Can be repeated",
    read: |text| {
        let node = text.parse().ok().filter(|node| *node < 1024)?;
        Some(RequestedCondition::MemoryNode(node))
    },
    valid: "write the number of a NUMA node, from 0 to 1023",
    applies: |_, _| true,
    candidates: &[],
    neutral: None,
    permanent: |condition| format!("systemd unit: NUMAPolicy=bind NUMAMask={}", condition.value()),
};

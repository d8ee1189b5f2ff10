//! Requested neighbour of a benchmark: processes of known kind and place that run next to the roles.

use super::{ConditionKind, RequestedCondition};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Largest number of busy loops.
const MOST_LOOPS: u8 = 64;

/// Work of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbour {
    /// Busy loops on the CPUs of the roles, in turn.
    BusyLoops(u8),
    /// A process that rewrites a buffer as large as the last-level cache.
    CacheWriter,
    /// A process that rewrites a buffer several times larger than the last-level cache.
    MemoryWriter,
    /// A process that writes to a file and waits for the disk.
    FileWriter,
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Neighbour::BusyLoops(loops) => write!(f, "cpu:{loops}"),
            Neighbour::CacheWriter => f.write_str("cache"),
            Neighbour::MemoryWriter => f.write_str("memory"),
            Neighbour::FileWriter => f.write_str("io"),
        }
    }
}

impl Neighbour {
    fn parse(text: &str) -> Option<Neighbour> {
        match text {
            "cache" => Some(Neighbour::CacheWriter),
            "memory" => Some(Neighbour::MemoryWriter),
            "io" => Some(Neighbour::FileWriter),
            _ => {
                let digits = text.strip_prefix("cpu:")?;
                let loops = digits.parse().ok().filter(|loops| (1..=MOST_LOOPS).contains(loops))?;
                digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(Neighbour::BusyLoops(loops))
            }
        }
    }
}

/// Neighbours.
pub(super) static BESIDE: ConditionKind = ConditionKind {
    name: "beside",
    placeholder: "NEIGHBOUR",
    help: "Run a neighbour during each trial, such as cpu:1 or cache. The others are cpu:N (N busy loops on the CPUs of the roles), \
           memory, io and none. Can be repeated",
    read: |text| match text {
        "none" => Some(RequestedCondition::Beside(None)),
        _ => Neighbour::parse(text).map(|neighbour| RequestedCondition::Beside(Some(neighbour))),
    },
    valid: "choose none, cpu:N with N from 1 to 64, cache, memory or io",
    applies: |_, _| true,
    candidates: &[],
    neutral: Some("none"),
    permanent: |condition| format!("no setting: {} is another process", condition.value()),
};

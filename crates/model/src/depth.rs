//! How many messages a link holds in one direction while nobody receives.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How many messages a link holds in one direction while nobody receives: a sender gets so far before it waits or,
/// where nothing holds it back, before a message is lost.
///
/// In JSON a number, or `"unbounded"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Depth {
    /// At least so many.
    Messages(u64),
    /// As many as there is memory for.
    Unbounded(NoBound),
}

/// The word for no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoBound {
    /// There is none.
    Unbounded,
}

impl Depth {
    /// At least so many messages.
    pub fn of(messages: usize) -> Depth {
        Depth::Messages(messages as u64)
    }

    /// As many as there is memory for.
    pub const UNBOUNDED: Depth = Depth::Unbounded(NoBound::Unbounded);

    /// The number of messages, if there is one.
    pub fn messages(self) -> Option<u64> {
        match self {
            Depth::Messages(messages) => Some(messages),
            Depth::Unbounded(_) => None,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Depth::Messages(messages) => messages.fmt(f),
            Depth::Unbounded(_) => f.pad("unbounded"),
        }
    }
}

/// What one direction of a link holds, when its sender begins to wait and as long as it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Messages that a sender gets ahead by.
    pub depth: Depth,
    /// The fewest messages that may still be there while a sender waits: a kernel may wake it only when much of a buffer is
    /// free again.
    pub while_waiting: Depth,
}

impl From<Depth> for Room {
    /// Where a sender goes on as soon as there is room for a message.
    fn from(depth: Depth) -> Room {
        Room { depth, while_waiting: depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_reads_back_as_written() {
        for (depth, text) in [(Depth::of(12), "12"), (Depth::UNBOUNDED, "\"unbounded\"")] {
            assert_eq!(serde_json::to_string(&depth).unwrap(), text);
            assert_eq!(serde_json::from_str::<Depth>(text).unwrap(), depth);
        }
        assert!(serde_json::from_str::<Depth>("\"deep\"").is_err());
        assert!(Depth::of(usize::MAX) < Depth::UNBOUNDED);
    }
}

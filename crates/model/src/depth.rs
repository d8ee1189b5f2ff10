//! The number of messages that a link holds in one direction while no message is received.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of messages that a link holds in one direction while no message is received. A sender that sends more
/// waits, or a message is lost.
///
/// JSON: a number, or `"unbounded"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Depth {
    /// At least this number of messages.
    Messages(u64),
    /// Limited only by memory.
    Unbounded(NoBound),
}

/// The JSON value of an unlimited depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoBound {
    /// Limited only by memory.
    Unbounded,
}

impl Depth {
    /// Returns a depth of at least this number of messages.
    pub fn of(messages: usize) -> Depth {
        Depth::Messages(messages as u64)
    }

    /// Limited only by memory.
    pub const UNBOUNDED: Depth = Depth::Unbounded(NoBound::Unbounded);

    /// Returns the number of messages, if there is a limit.
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

/// The capacity of one direction of a link, at the start of the sender's wait and during it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Messages that a sender can send before it waits.
    pub depth: Depth,
    /// Minimum number of messages that remain while a sender waits. A kernel may wake the sender only when a large part
    /// of the buffer is free.
    pub while_waiting: Depth,
}

impl From<Depth> for Room {
    /// Returns the room of a direction whose sender continues as soon as there is room for a message.
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

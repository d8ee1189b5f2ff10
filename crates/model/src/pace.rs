//! When the initiator sends the next message.

use crate::format_ns;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The initiator's pace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// As soon as the answer to the last one is there.
    #[default]
    Closed,
    /// At fixed times, this far apart in nanoseconds, whatever became of the last one. A round trip then lasts
    /// from the time at which its message was due, also when it was sent late.
    Every(u64),
    /// After this time of doing nothing, in nanoseconds, from the answer to the last one. The round trip itself
    /// is timed from its send.
    Gap(u64),
}

impl Pace {
    /// The longest that nothing is sent because of it, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        match *self {
            Pace::Closed => 0,
            Pace::Every(pause_ns) | Pace::Gap(pause_ns) => pause_ns,
        }
    }

    /// Whether the next message follows the last answer at once.
    pub fn is_closed(&self) -> bool {
        *self == Pace::Closed
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Pace::Closed => f.pad("closed"),
            Pace::Every(interval_ns) => f.pad(&format!("every {}", format_ns(interval_ns as f64))),
            Pace::Gap(gap_ns) => f.pad(&format!("gap {}", format_ns(gap_ns as f64))),
        }
    }
}

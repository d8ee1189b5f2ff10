//! When the initiator sends the next message.

use crate::format_ns;
use serde::{Deserialize, Serialize};
use std::fmt;

/// When messages arrive at the mechanism. There is one initiator with one message outstanding, whatever the arrival.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// As soon as the response to the last message has come.
    #[default]
    ClosedLoop,
    /// At fixed times, this far apart in nanoseconds. A message that is due while the last one is still outstanding is
    /// sent late, and its time counts from when it was due: corrected for coordinated omission.
    Interval(u64),
    /// This many nanoseconds after the response to the last message. The round trip is timed from its send.
    ThinkTime(u64),
}

impl Arrival {
    /// The longest that nothing is sent because of it, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        match *self {
            Arrival::ClosedLoop => 0,
            Arrival::Interval(pause_ns) | Arrival::ThinkTime(pause_ns) => pause_ns,
        }
    }

    /// Returns the option of `furlong run` that sets this pace; `None` for a closed loop.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Arrival::ClosedLoop => None,
            Arrival::Interval(_) => Some("--rate"),
            Arrival::ThinkTime(_) => Some("--think-time"),
        }
    }

    /// Whether the next message follows the last response at once.
    pub fn is_closed_loop(&self) -> bool {
        *self == Arrival::ClosedLoop
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Arrival::ClosedLoop => f.pad("closed-loop"),
            Arrival::Interval(interval_ns) => f.pad(&format!("every {}", format_ns(interval_ns as f64))),
            Arrival::ThinkTime(think_time_ns) => {
                f.pad(&format!("think time {}", format_ns(think_time_ns as f64)))
            }
        }
    }
}

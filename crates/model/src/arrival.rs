//! The pace of the initiator's messages.

use crate::format_ns;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The pace of the messages. There is always one initiator with one message in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Closed loop: each message is sent as soon as the response to the last one has arrived.
    #[default]
    ClosedLoop,
    /// Fixed times with this interval in nanoseconds. If a message is due while the last one is in flight, it is sent
    /// late, and its time counts from its due time. This corrects for coordinated omission.
    Interval(u64),
    /// This number of nanoseconds after the response to the last message. The round trip is timed from its send.
    ThinkTime(u64),
}

impl Arrival {
    /// Returns the longest time in which nothing is sent because of the pace, in nanoseconds.
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

    /// Returns whether the next message follows the last response immediately.
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

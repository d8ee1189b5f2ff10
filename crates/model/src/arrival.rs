//! The pace of the initiator's messages.

use crate::{InvalidQuantity, Time, format_exact_ns, format_ns};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The pace of the messages of one initiator. In round trips, one message is in flight.
///
/// If a message is due while the initiator is not ready to send, it is sent late, and its time counts from its due time. This
/// corrects for coordinated omission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Closed loop: each message is sent as soon as the response to the last one has arrived.
    #[default]
    ClosedLoop,
    /// Fixed times with this interval in nanoseconds.
    Interval(u64),
    /// This number of nanoseconds after the response to the last message. The round trip is timed from its send.
    ThinkTime(u64),
    /// Independent times, whose intervals have an exponential distribution with this mean in nanoseconds.
    Poisson(u64),
    /// Several messages at the same time, and the bursts at fixed times.
    Burst {
        /// Mean nanoseconds per message.
        interval_ns: u64,
        /// Messages of a burst.
        messages: NonZeroU32,
    },
    /// Fixed times in one part of each period, and no message in the other.
    OnOff {
        /// Mean nanoseconds per message of the whole period.
        interval_ns: u64,
        /// Nanoseconds of the part with messages.
        on_ns: u64,
        /// Nanoseconds of the part without messages.
        off_ns: u64,
    },
    /// Times of a trace, which the condition `trace` identifies.
    Trace {
        /// Mean nanoseconds per message of the replayed part.
        interval_ns: u64,
        /// Longest nanoseconds between two messages.
        longest_ns: u64,
    },
}

impl Arrival {
    /// Returns the longest time in which usually nothing is sent because of the pace, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        /// An exponential interval exceeds this multiple of its mean once in 22,000 times.
        const LONGEST: u64 = 10;
        match *self {
            Arrival::ClosedLoop => 0,
            Arrival::Interval(pause_ns) | Arrival::ThinkTime(pause_ns) => pause_ns,
            Arrival::Poisson(mean_ns) => mean_ns.saturating_mul(LONGEST),
            Arrival::Burst { interval_ns, messages } => interval_ns.saturating_mul(messages.get().into()),
            Arrival::OnOff { off_ns, .. } => off_ns.saturating_add(self.interval_in_on_ns()),
            Arrival::Trace { longest_ns, .. } => longest_ns,
        }
    }

    /// Returns the time after which the due times repeat, in nanoseconds; `None` if they have no such period beyond an interval.
    pub fn period_ns(self) -> Option<u64> {
        match self {
            Arrival::Burst { interval_ns, messages } => {
                Some(interval_ns.saturating_mul(messages.get().into()))
            }
            Arrival::OnOff { on_ns, off_ns, .. } => Some(on_ns.saturating_add(off_ns)),
            _ => None,
        }
    }

    /// Returns the mean interval in nanoseconds between the due times of messages; `None` if messages have no due time.
    pub const fn interval_ns(self) -> Option<u64> {
        match self {
            Arrival::ClosedLoop | Arrival::ThinkTime(_) => None,
            Arrival::Interval(interval_ns)
            | Arrival::Poisson(interval_ns)
            | Arrival::Burst { interval_ns, .. }
            | Arrival::OnOff { interval_ns, .. }
            | Arrival::Trace { interval_ns, .. } => Some(interval_ns),
        }
    }

    /// Returns the same pace at another mean interval in nanoseconds. A pace without due times stays as it is.
    #[must_use]
    pub const fn with_interval(self, interval_ns: u64) -> Arrival {
        match self {
            Arrival::Interval(_) => Arrival::Interval(interval_ns),
            Arrival::Poisson(_) => Arrival::Poisson(interval_ns),
            Arrival::Burst { messages, .. } => Arrival::Burst { interval_ns, messages },
            Arrival::OnOff { on_ns, off_ns, .. } => Arrival::OnOff { interval_ns, on_ns, off_ns },
            Arrival::ClosedLoop | Arrival::ThinkTime(_) | Arrival::Trace { .. } => self,
        }
    }

    /// Returns the interval in nanoseconds between two messages of one part with messages; for another pace the mean interval.
    pub fn interval_in_on_ns(self) -> u64 {
        match self {
            Arrival::OnOff { interval_ns, on_ns, off_ns } => {
                let share = on_ns as f64 / (on_ns as f64 + off_ns as f64);
                ((interval_ns as f64 * share).round() as u64).max(1)
            }
            other => other.interval_ns().unwrap_or_default(),
        }
    }

    /// Returns the largest usual relative error of the mean interval of `messages` messages.
    pub fn mean_error(self, messages: f64) -> f64 {
        /// Standard deviations of the mean that are usual.
        const DEVIATIONS: f64 = 5.0;
        match self {
            Arrival::ClosedLoop | Arrival::Interval(_) | Arrival::ThinkTime(_) => 0.0,
            // The standard deviation of an exponential interval is its mean.
            Arrival::Poisson(_) => DEVIATIONS / messages.sqrt(),
            Arrival::Burst { messages: in_burst, .. } => f64::from(in_burst.get()) / messages,
            Arrival::OnOff { interval_ns, on_ns, off_ns } => {
                (on_ns as f64 + off_ns as f64) / interval_ns as f64 / messages
            }
            // The mean is that of the replayed messages, but the last one may be sent after the end of the trial.
            Arrival::Trace { .. } => 1.0 / messages,
        }
    }

    /// Returns the option of `furlong run` that sets this pace; `None` for a closed loop.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Arrival::ClosedLoop => None,
            Arrival::ThinkTime(_) => Some("--think-time"),
            _ => Some("--rate"),
        }
    }

    /// Returns the pace with this think time in nanoseconds: a closed loop without one.
    pub const fn with_think_time(ns: u64) -> Arrival {
        if ns == 0 { Arrival::ClosedLoop } else { Arrival::ThinkTime(ns) }
    }

    /// Returns the closed loop instead of a think time.
    #[must_use]
    pub const fn without_think_time(self) -> Arrival {
        if matches!(self, Arrival::ThinkTime(_)) { Arrival::ClosedLoop } else { self }
    }

    /// Returns the distribution of the due times around their mean rate; `None` if messages have no due time, or those of a trace.
    pub const fn process(self) -> Option<ArrivalProcess> {
        match self {
            Arrival::ClosedLoop | Arrival::ThinkTime(_) | Arrival::Trace { .. } => None,
            process => Some(ArrivalProcess(process.with_interval(1))),
        }
    }

    /// Returns the pace with fixed times at the same mean rate instead of those of another process.
    #[must_use]
    pub const fn at_fixed_times(self) -> Arrival {
        match (self.process(), self.interval_ns()) {
            (Some(_), Some(interval_ns)) => Arrival::Interval(interval_ns),
            _ => self,
        }
    }

    /// Returns whether the next message follows the last response immediately.
    pub fn is_closed_loop(&self) -> bool {
        *self == Arrival::ClosedLoop
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every = |interval_ns: u64| format!("every {}", format_ns(interval_ns as f64));
        match *self {
            Arrival::ClosedLoop => f.pad("closed-loop"),
            Arrival::Interval(interval_ns) => f.pad(&every(interval_ns)),
            Arrival::ThinkTime(think_time_ns) => {
                f.pad(&format!("think time {}", format_ns(think_time_ns as f64)))
            }
            Arrival::Trace { interval_ns, .. } => f.pad(&format!("{} on average", every(interval_ns))),
            Arrival::Poisson(ns)
            | Arrival::Burst { interval_ns: ns, .. }
            | Arrival::OnOff { interval_ns: ns, .. } => {
                f.pad(&format!("{} {}", every(ns), ArrivalProcess(*self)))
            }
        }
    }
}

/// The distribution of the due times of messages around their mean rate, written `fixed`, `poisson`, `burst:16` or
/// `on-off:10ms,40ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrivalProcess(Arrival);

impl ArrivalProcess {
    /// Fixed times.
    pub const FIXED: ArrivalProcess = ArrivalProcess(Arrival::Interval(1));

    /// Returns the pace of this process at a mean interval in nanoseconds.
    pub const fn at(self, interval_ns: u64) -> Arrival {
        self.0.with_interval(interval_ns)
    }
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Arrival::Poisson(_) => f.write_str("poisson"),
            Arrival::Burst { messages, .. } => write!(f, "burst:{messages}"),
            Arrival::OnOff { on_ns, off_ns, .. } => {
                write!(f, "on-off:{},{}", format_exact_ns(on_ns), format_exact_ns(off_ns))
            }
            _ => f.write_str("fixed"),
        }
    }
}

impl FromStr for ArrivalProcess {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        /// Most messages of a burst.
        const MOST: u32 = 1 << 16;
        let ns = |text: &str| Some(text.parse::<Time>().ok()?.0.as_nanos() as u64);
        let process = match text.split_once(':') {
            None if text == "fixed" => Some(ArrivalProcess::FIXED.0),
            None if text == "poisson" => Some(Arrival::Poisson(1)),
            Some(("burst", number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => number
                .parse()
                .ok()
                .filter(|number: &NonZeroU32| (2..=MOST).contains(&number.get()))
                .map(|messages| Arrival::Burst { interval_ns: 1, messages }),
            Some(("on-off", times)) => times.split_once(',').and_then(|(on, off)| {
                Some(Arrival::OnOff { interval_ns: 1, on_ns: ns(on)?, off_ns: ns(off)? })
            }),
            _ => None,
        };
        process.map(ArrivalProcess).ok_or_else(|| {
            InvalidQuantity::new(
                text,
                "not a valid arrival",
                "choose fixed, poisson, burst:N with N from 2 to 65536, on-off:ON,OFF with two times as in on-off:10ms,40ms, or trace:FILE",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_read_and_printed() {
        for (text, printed, pause_ns) in [
            ("fixed", "every 10.0 us", 10_000),
            ("poisson", "every 10.0 us poisson", 100_000),
            ("burst:16", "every 10.0 us burst:16", 160_000),
            ("on-off:10ms,40ms", "every 10.0 us on-off:10ms,40ms", 40_002_000),
        ] {
            let arrival = text.parse::<ArrivalProcess>().unwrap().at(10_000);
            assert_eq!((arrival.to_string(), arrival.pause_ns()), (printed.to_owned(), pause_ns));
            assert_eq!((arrival.interval_ns(), arrival.option()), (Some(10_000), Some("--rate")));
            let json = serde_json::to_string(&arrival).unwrap();
            assert_eq!(serde_json::from_str::<Arrival>(&json).unwrap(), arrival, "{json}");
        }
    }

    #[test]
    fn invalid_arrivals_are_rejected_with_the_valid_ones() {
        for text in [
            "",
            "random",
            "burst",
            "burst:1",
            "burst:+4",
            "burst:65537",
            "on-off:1ms",
            "on-off:1ms,0s",
            "poisson:3",
        ] {
            let error = text.parse::<ArrivalProcess>().unwrap_err().to_string();
            assert!(error.contains("choose fixed, poisson, burst:N"), "{error}");
        }
    }
}

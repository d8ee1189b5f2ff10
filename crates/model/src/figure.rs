//! The figures that published comparisons are made of, each with its unit.

use crate::InvalidName;
use crate::name::named;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A figure of a row. Its name ends in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Wall time of all exchanges or repetitions, in seconds.
    RealS,
    /// Processor time of both processes in user mode, in seconds.
    UserS,
    /// Processor time of both processes in the kernel, in seconds.
    SystemS,
    /// Times that the processor was taken from one of the processes.
    ForcedSwitches,
    /// Times that one of the processes gave up the processor to wait.
    VoluntarySwitches,
    /// Wall time of the first repetition of a handover, in milliseconds: every page is touched for the first time.
    FirstTouchMs,
    /// The median wall time of the other repetitions of a handover, in milliseconds.
    SteadyMs,
    /// Wall time of all exchanges, in milliseconds.
    TotalMs,
    /// Bytes of one direction by wall time, in 10^9 a second.
    GigabytesPerSecond,
    /// The mean time of one exchange, in microseconds.
    MeanUs,
    /// The median time of one exchange, in microseconds.
    MedianUs,
    /// Exchanges in a second.
    MessagesPerSecond,
}

impl Figure {
    /// All of them, in the order of tables.
    pub const ALL: [Figure; 12] = [
        Figure::RealS,
        Figure::UserS,
        Figure::SystemS,
        Figure::ForcedSwitches,
        Figure::VoluntarySwitches,
        Figure::FirstTouchMs,
        Figure::SteadyMs,
        Figure::TotalMs,
        Figure::GigabytesPerSecond,
        Figure::MeanUs,
        Figure::MedianUs,
        Figure::MessagesPerSecond,
    ];

    /// The name in experiments and records.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::RealS => "real_s",
            Figure::UserS => "user_s",
            Figure::SystemS => "system_s",
            Figure::ForcedSwitches => "forced_switches",
            Figure::VoluntarySwitches => "voluntary_switches",
            Figure::FirstTouchMs => "first_touch_ms",
            Figure::SteadyMs => "steady_ms",
            Figure::TotalMs => "total_ms",
            Figure::GigabytesPerSecond => "gigabytes_per_second",
            Figure::MeanUs => "mean_us",
            Figure::MedianUs => "median_us",
            Figure::MessagesPerSecond => "messages_per_second",
        }
    }

    /// The name and unit for people, short enough to stand above a column.
    pub const fn label(self) -> &'static str {
        match self {
            Figure::RealS => "real s",
            Figure::UserS => "user s",
            Figure::SystemS => "system s",
            Figure::ForcedSwitches => "forced switches",
            Figure::VoluntarySwitches => "voluntary switches",
            Figure::FirstTouchMs => "first touch ms",
            Figure::SteadyMs => "steady ms",
            Figure::TotalMs => "total ms",
            Figure::GigabytesPerSecond => "GB/s",
            Figure::MeanUs => "mean us",
            Figure::MedianUs => "median us",
            Figure::MessagesPerSecond => "messages/s",
        }
    }

    /// Whether more of it is faster.
    pub const fn is_rate(self) -> bool {
        matches!(self, Figure::GigabytesPerSecond | Figure::MessagesPerSecond)
    }

    /// Whether a handover has it.
    pub const fn is_of_handovers(self) -> bool {
        !matches!(
            self,
            Figure::TotalMs
                | Figure::GigabytesPerSecond
                | Figure::MeanUs
                | Figure::MedianUs
                | Figure::MessagesPerSecond
        )
    }

    /// Whether an exchange of messages has it.
    pub const fn is_of_exchanges(self) -> bool {
        !matches!(self, Figure::FirstTouchMs | Figure::SteadyMs)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Figure {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        named("figure", text, Figure::ALL, Figure::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_written() {
        for figure in Figure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
            assert_eq!(serde_json::to_value(figure).unwrap(), figure.name());
            assert!(figure.is_of_exchanges() || figure.is_of_handovers());
        }
        assert!("real".parse::<Figure>().is_err());
    }
}

//! The figures that published comparisons are made of, each with its unit.

use crate::named_enum::named_enum;

named_enum! {
    /// A figure of a row. Its name ends in its unit.
    Figure, "figure" {
        /// Wall time of all exchanges or repetitions, in seconds.
        RealS = "real_s",
        /// Processor time of both processes in user mode, in seconds.
        UserS = "user_s",
        /// Processor time of both processes in the kernel, in seconds.
        SystemS = "system_s",
        /// Times that the processor was taken from one of the processes.
        ForcedSwitches = "forced_switches",
        /// Times that one of the processes gave up the processor to wait.
        VoluntarySwitches = "voluntary_switches",
        /// Wall time of the first repetition of a handover, in milliseconds: every page is touched for the first time.
        FirstTouchMs = "first_touch_ms",
        /// The median wall time of the other repetitions of a handover, in milliseconds.
        SteadyMs = "steady_ms",
        /// Wall time of all exchanges, in milliseconds.
        TotalMs = "total_ms",
        /// Bytes of one direction by wall time, in 10^9 a second.
        GigabytesPerSecond = "gigabytes_per_second",
        /// The mean time of one exchange, in microseconds.
        MeanUs = "mean_us",
        /// The median time of one exchange, in microseconds.
        MedianUs = "median_us",
        /// Exchanges in a second.
        MessagesPerSecond = "messages_per_second",
    }
}

impl Figure {
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

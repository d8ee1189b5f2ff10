//! The figures of published comparisons, each with its unit.

use crate::named_enum::named_enum;

named_enum! {
    /// A figure of a benchmark. Its name ends with its unit.
    Figure, "figure" {
        /// Wall time of all exchanges or repetitions, in seconds.
        RealS = "real_s",
        /// CPU time of both processes in user mode, in seconds.
        UserS = "user_s",
        /// CPU time of both processes in the kernel, in seconds.
        SystemS = "system_s",
        /// Number of preemptions of the processes.
        ForcedSwitches = "forced_switches",
        /// Number of times that one of the processes gave up the CPU to wait.
        VoluntarySwitches = "voluntary_switches",
        /// Wall time of the first repetition of a handover, in milliseconds. Every page is accessed for the first time.
        FirstTouchMs = "first_touch_ms",
        /// Median wall time of the other repetitions of a handover, in milliseconds.
        SteadyMs = "steady_ms",
        /// Wall time of all exchanges, in milliseconds.
        TotalMs = "total_ms",
        /// Bytes of one direction per wall time, in 10^9 per second.
        GigabytesPerSecond = "gigabytes_per_second",
        /// Bytes of one direction per wall time, in 10^6 per second.
        MegabytesPerSecond = "megabytes_per_second",
        /// Mean time of one exchange, in microseconds.
        MeanUs = "mean_us",
        /// Shortest time of one exchange, in microseconds.
        MinUs = "min_us",
        /// Median time of one exchange, in microseconds.
        MedianUs = "median_us",
        /// 90th percentile of the times of exchanges, in microseconds.
        P90Us = "p90_us",
        /// 95th percentile of the times of exchanges, in microseconds.
        P95Us = "p95_us",
        /// 99th percentile of the times of exchanges, in microseconds.
        P99Us = "p99_us",
        /// 99.9th percentile of the times of exchanges, in microseconds.
        P999Us = "p999_us",
        /// Longest time of an exchange, in microseconds.
        MaxUs = "max_us",
        /// Exchanges per second.
        MessagesPerSecond = "messages_per_second",
    }
}

impl Figure {
    /// Returns the name and unit as a short column heading.
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
            Figure::MegabytesPerSecond => "MB/s",
            Figure::MeanUs => "mean us",
            Figure::MinUs => "min us",
            Figure::MedianUs => "median us",
            Figure::P90Us => "p90 us",
            Figure::P95Us => "p95 us",
            Figure::P99Us => "p99 us",
            Figure::P999Us => "p99.9 us",
            Figure::MaxUs => "max us",
            Figure::MessagesPerSecond => "messages/s",
        }
    }

    /// Returns whether a larger value is faster.
    pub const fn is_rate(self) -> bool {
        matches!(self, Figure::GigabytesPerSecond | Figure::MegabytesPerSecond | Figure::MessagesPerSecond)
    }

    /// Returns whether it is a time of one exchange.
    pub const fn is_of_one_exchange(self) -> bool {
        matches!(
            self,
            Figure::MeanUs
                | Figure::MinUs
                | Figure::MedianUs
                | Figure::P90Us
                | Figure::P95Us
                | Figure::P99Us
                | Figure::P999Us
                | Figure::MaxUs
        )
    }

    /// Returns whether a handover has this figure.
    pub const fn is_of_handovers(self) -> bool {
        !(matches!(self, Figure::TotalMs) || self.is_rate() || self.is_of_one_exchange())
    }

    /// Returns whether an exchange of messages has this figure.
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

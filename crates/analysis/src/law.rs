//! Laws that a benchmark must obey before its speed is shown. A benchmark that breaks one is void.

use serde::Serialize;

/// Law that correct figures cannot break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The record contains every figure that a speed needs.
    CompleteRecord,
    /// Messages were checked byte by byte.
    Verified,
    /// Both roles received the same number of messages.
    BothRolesCountTheSame,
    /// The counts and times of each role are possible in the time of the trial.
    RoleFigures,
    /// The roles ran on the requested CPUs.
    Placement,
    /// The roles accessed messages as requested.
    Access,
    /// Several pairs were measured in parallel.
    SameTime,
    /// The roles kept no more CPUs busy than they ran on.
    CpusBusy,
    /// Rate times mean latency is the number of messages in flight. With a fixed rate, rate and latency fit that rate.
    LittlesLaw,
    /// The median is at least one step of the clock.
    ClockTick,
    /// A message to another core takes at least as long as a cache line.
    CacheLineFloor,
    /// The mechanism made the system calls that it declares, as often as it declares.
    DeclaredCalls,
}

impl Law {
    /// Returns the name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Law::CompleteRecord => "complete-record",
            Law::Verified => "verified",
            Law::BothRolesCountTheSame => "both-roles-count-the-same",
            Law::RoleFigures => "role-figures",
            Law::Placement => "placement",
            Law::Access => "access",
            Law::SameTime => "same-time",
            Law::CpusBusy => "cpus-busy",
            Law::LittlesLaw => "littles-law",
            Law::ClockTick => "clock-tick",
            Law::CacheLineFloor => "cache-line-floor",
            Law::DeclaredCalls => "declared-calls",
        }
    }
}

/// Broken law with the details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    /// The law.
    pub law: Law,
    /// Description with figures, in words that need no context.
    pub reason: String,
}

impl Breach {
    /// Creates the breach of `law` with a `reason`.
    pub(crate) fn new(law: Law, reason: impl Into<String>) -> Self {
        Breach { law, reason: reason.into() }
    }

    /// Adds the number of the trial, counted from 0, to the reason.
    pub(crate) fn in_trial(self, number: u32) -> Self {
        Breach { reason: format!("trial {}: {}", u64::from(number) + 1, self.reason), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_records() {
        use Law::*;
        for law in [
            CompleteRecord,
            Verified,
            BothRolesCountTheSame,
            RoleFigures,
            Placement,
            Access,
            SameTime,
            CpusBusy,
            LittlesLaw,
            ClockTick,
            CacheLineFloor,
            DeclaredCalls,
        ] {
            assert_eq!(serde_json::to_value(law).unwrap(), law.name());
        }
    }
}

//! The laws that a row must obey before its speed may be shown. A row that breaks one is void.

use serde::Serialize;

/// What no true figure can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The record holds every figure that a speed needs.
    CompleteRecord,
    /// Messages were checked byte by byte.
    Verified,
    /// Both roles received the same number of messages.
    BothRolesCountTheSame,
    /// The counts and times of each role are possible in the time of the trial.
    RoleFigures,
    /// The roles ran on the processors that were asked for.
    Placement,
    /// The roles wrote and read messages where it was asked.
    Access,
    /// Several pairs were measured at the same moment.
    SameTime,
    /// The roles kept no more CPUs busy than they ran on.
    CpusBusy,
    /// Rate times mean latency is the number of messages in flight; for a paced row, rate and latency fit the pace.
    LittlesLaw,
    /// The median is a step of the clock or more.
    ClockTick,
    /// A message to another core takes no less than a cache line does.
    CacheLineFloor,
    /// The mechanism made the system calls that it declares, as often as it declares.
    DeclaredCalls,
}

impl Law {
    /// The name in records.
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

/// A law broken, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    /// Which.
    pub law: Law,
    /// With figures, in words that need no context.
    pub reason: String,
}

impl Breach {
    /// `law` is broken because of `reason`.
    pub(crate) fn new(law: Law, reason: impl Into<String>) -> Self {
        Breach { law, reason: reason.into() }
    }

    /// Says in which trial, counted from 0, it happened.
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

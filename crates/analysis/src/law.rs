//! Laws that a benchmark must obey before its speed is shown. A benchmark that breaks one is void.

use furlong_model::named_enum;

named_enum! {
    /// Law that correct figures cannot break.
    Law {
        /// The record contains every figure that a speed needs.
        CompleteRecord = "complete-record",
        /// Messages were checked byte by byte.
        Verified = "verified",
        /// Both roles received the same number of messages.
        BothRolesCountTheSame = "both-roles-count-the-same",
        /// The counts and times of each role are possible in the time of the trial.
        RoleFigures = "role-figures",
        /// The roles ran on the requested CPUs.
        Placement = "placement",
        /// The roles accessed messages as requested.
        Access = "access",
        /// Several pairs were measured in parallel.
        SameTime = "same-time",
        /// The roles kept no more CPUs busy than they ran on.
        CpusBusy = "cpus-busy",
        /// Rate times mean latency is the number of messages in flight. With a fixed rate, rate and latency fit that rate.
        LittlesLaw = "littles-law",
        /// The median is at least one step of the clock.
        ClockTick = "clock-tick",
        /// A message to another core takes at least as long as a cache line.
        CacheLineFloor = "cache-line-floor",
        /// The mechanism made the system calls that it declares, as often as it declares.
        DeclaredCalls = "declared-calls",
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

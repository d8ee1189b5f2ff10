//! Resources that a process has used so far.

use std::ops::{Add, Sub};

pub use crate::platform::usage::now;
#[cfg(target_os = "linux")]
pub use crate::platform::usage::{count_this_thread_alone, ended_children_usage};

/// Counters of the calling process since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Number of times that it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Number of times that it was preempted.
    pub involuntary_switches: u64,
    /// Page faults served without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that had to read from a disk.
    pub major_faults: u64,
}

impl Sub for Usage {
    type Output = Usage;

    /// Saturates, because the kernel scales the split into user and system time, and a part may decrease a little.
    fn sub(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
        }
    }
}

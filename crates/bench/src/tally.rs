//! The tally of a role in a trial, from any source of its resource usage.

use furlong_loops::schedule::IdleResources;
use furlong_model::{Access, Party, RoleTally};
use furlong_os::usage::Usage;

/// Returns the tally of a party with this usage in this number of round trips. `idle` is the part of the usage in which
/// it waited for messages to be due.
pub(crate) fn role_tally(
    party: Party,
    processor: usize,
    messages_received: u64,
    round_trips: u64,
    usage: Usage,
    idle: IdleResources,
) -> RoleTally {
    RoleTally {
        party,
        processor,
        access: Access::Copy,
        messages_received,
        round_trips,
        batches: None,
        window_ns: None,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        idle_ns: idle.ns,
        idle_switches: idle.switches,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
    }
}

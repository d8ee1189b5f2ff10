//! What is recorded of a role's part in a trial, however its usage was read.

use furlong_loops::schedule::Idle;
use furlong_model::{Access, Party, RoleTally};
use furlong_os::usage::Usage;

/// The tally of a party that used so much in so many round trips, some of it to wait for messages to be due.
pub(crate) fn role_tally(
    party: Party,
    processor: usize,
    messages_received: u64,
    round_trips: u64,
    usage: Usage,
    idle: Idle,
) -> RoleTally {
    RoleTally {
        party,
        processor,
        access: Access::Copy,
        messages_received,
        round_trips,
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

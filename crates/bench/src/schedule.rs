//! When a message is due that is not sent as soon as it can be, and how a role waits for that moment.

use furlong_model::{Arrival, Wait, WaitKind};
use furlong_os::{clock, cpu};

/// A message that leaves no later than this after it was due is on time: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// A timer may wake so much later than it was set to.
const TIMER_SLACK_NS: u64 = 100_000;

/// When messages are due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    pub(crate) arrival: Arrival,
    /// How the row waits, and so how a role waits for a message to be due.
    pub(crate) wait: Wait,
}

impl Schedule {
    /// When the next message is due: the last one was due at `due_ns`, and its answer was there at `last_ns`.
    #[inline(always)]
    pub(crate) fn next_ns(self, due_ns: u64, last_ns: u64) -> u64 {
        match self.arrival {
            Arrival::ClosedLoop => last_ns,
            Arrival::Interval(interval_ns) => due_ns + interval_ns,
            Arrival::ThinkTime(think_time_ns) => last_ns + think_time_ns,
        }
    }

    /// From when a message is timed that was sent at `sent_ns`: at an interval, from when it was due.
    #[inline(always)]
    pub(crate) fn timed_from_ns(self, due_ns: u64, sent_ns: u64) -> u64 {
        if matches!(self.arrival, Arrival::Interval(_)) { due_ns } else { sent_ns }
    }

    /// Waits for a message to be due, as the row waits, and gives the processor time that it took, in nanoseconds.
    pub(crate) fn idle_until(self, due_ns: u64) -> u64 {
        if self.wait.kind() == WaitKind::Sleeping {
            // Sleeps until shortly before and spins for the rest: how late a timer wakes is no part of the mechanism.
            clock::sleep_until(due_ns.saturating_sub(TIMER_SLACK_NS));
        }
        spin_until(due_ns)
    }
}

/// Whether a message was sent later than it was due.
#[inline(always)]
pub(crate) fn is_late(sent_ns: u64, due_ns: u64) -> bool {
    sent_ns > due_ns + PUNCTUAL_NS
}

/// Keeps the processor busy until `due_ns`, and says for how long, in nanoseconds.
fn spin_until(due_ns: u64) -> u64 {
    let begin = clock::now_ns();
    let mut now = begin;
    while now < due_ns {
        cpu::pause();
        now = clock::now_ns();
    }
    now - begin
}

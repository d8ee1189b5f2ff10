//! When a message is due that is not sent as soon as it can be, and how a role waits for that moment.

use furlong_model::{Arrival, Wait};
use furlong_os::{clock, cpu};
use std::ops::Add;

/// A message that leaves no later than this after it was due is on time: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// A timer may wake so much later than it was set to.
const TIMER_SLACK_NS: u64 = 100_000;

/// When messages are due.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// How one follows the other.
    pub arrival: Arrival,
    /// How the row waits, and so how a role waits for a message to be due.
    pub wait: Wait,
}

impl Schedule {
    /// When the next message is due: the last one was due at `due_ns`, and its answer was there at `last_ns`.
    #[inline(always)]
    pub fn next_ns(self, due_ns: u64, last_ns: u64) -> u64 {
        match self.arrival {
            Arrival::ClosedLoop => last_ns,
            Arrival::Interval(interval_ns) => due_ns + interval_ns,
            Arrival::ThinkTime(think_time_ns) => last_ns + think_time_ns,
        }
    }

    /// From when a message is timed that was sent at `sent_ns`: at an interval, from when it was due.
    #[inline(always)]
    pub fn timed_from_ns(self, due_ns: u64, sent_ns: u64) -> u64 {
        if matches!(self.arrival, Arrival::Interval(_)) { due_ns } else { sent_ns }
    }

    /// Waits for a message to be due, as the row waits, and gives what that took.
    pub fn idle_until(self, due_ns: u64) -> Idle {
        let mut idle = Idle::default();
        // Sleeps until shortly before and spins for the rest: how late a timer wakes is no part of the mechanism.
        let wake_ns = due_ns.saturating_sub(TIMER_SLACK_NS);
        if self.wait.sleeps_in_the_end() && clock::now_ns() < wake_ns {
            let before = clock::thread_processor_ns();
            clock::sleep_until(wake_ns);
            idle = Idle { ns: clock::thread_processor_ns() - before, switches: 1 };
        }
        idle + Idle { ns: spin_until(due_ns), switches: 0 }
    }
}

/// What a role used to wait for messages to be due, which is no part of the mechanism.
#[derive(Debug, Clone, Copy, Default)]
pub struct Idle {
    /// Processor time, in nanoseconds.
    pub ns: u64,
    /// Times that it gave up the processor.
    pub switches: u64,
}

impl Add for Idle {
    type Output = Idle;

    fn add(self, other: Idle) -> Idle {
        Idle { ns: self.ns + other.ns, switches: self.switches + other.switches }
    }
}

/// Whether a message was sent later than it was due.
#[inline(always)]
pub fn is_late(sent_ns: u64, due_ns: u64) -> bool {
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

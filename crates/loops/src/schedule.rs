//! The schedule of messages that are not sent as soon as possible, and how a role waits until a message is due.

use furlong_model::{Arrival, TimerLateness, Wait};
use furlong_os::{clock, cpu};
use std::ops::Add;

/// Maximum delay of a message that counts as punctual, in nanoseconds: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// Maximum delay with which a timer is expected to wake, in nanoseconds.
const TIMER_SLACK_NS: u64 = 100_000;

/// The times at which messages are due.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Rule for the time of the next message.
    pub arrival: Arrival,
    /// Wait strategy of the benchmark, with which a role also waits until a message is due.
    pub wait: Wait,
}

impl Schedule {
    /// Returns when the next message is due, if the last one was due at `due_ns` and answered at `last_ns`.
    #[inline(always)]
    pub fn next_ns(self, due_ns: u64, last_ns: u64) -> u64 {
        match self.arrival {
            Arrival::ClosedLoop => last_ns,
            Arrival::Interval(interval_ns) => due_ns + interval_ns,
            Arrival::ThinkTime(think_time_ns) => last_ns + think_time_ns,
        }
    }

    /// Returns the time from which a message is timed that was due at `due_ns` and sent at `sent_ns`, by a sender that was free
    /// for it at `free_ns`. Counts the message in `late` if it was late.
    ///
    /// At an interval, that is the time at which it was due, so that a message that waited for the one before it counts for all
    /// of that time. If no message delayed it, the sender's timer woke it late, and the message is timed from its send.
    #[inline(always)]
    pub fn timed_from_ns(self, [due_ns, free_ns, sent_ns]: [u64; 3], late: &mut LateSends) -> u64 {
        if !matches!(self.arrival, Arrival::Interval(_)) {
            return sent_ns;
        }
        let late_ns = sent_ns.saturating_sub(due_ns);
        if late_ns <= PUNCTUAL_NS {
            return due_ns;
        }
        late.all += 1;
        if free_ns > due_ns {
            return due_ns;
        }
        late.by_timer = late.by_timer.and(TimerLateness { sends: 1, total_ns: late_ns, longest_ns: late_ns });
        sent_ns
    }

    /// Returns the late sends to report, if messages were due at fixed times.
    pub fn reported(self, late: LateSends) -> Option<LateSends> {
        matches!(self.arrival, Arrival::Interval(_)).then_some(late)
    }

    /// Waits until a message is due, with the wait strategy of the benchmark, and returns the resources that this used.
    pub fn idle_until(self, due_ns: u64) -> IdleResources {
        let mut idle = IdleResources::default();
        // Sleeps until shortly before the message is due and busy-waits for the rest, because the delay of the timer is not a
        // property of the mechanism.
        let wake_ns = due_ns.saturating_sub(TIMER_SLACK_NS);
        if self.wait.sleeps_in_the_end() && clock::now_ns() < wake_ns {
            let before = clock::thread_processor_ns();
            clock::sleep_until(wake_ns);
            idle = IdleResources { ns: clock::thread_processor_ns() - before, switches: 1 };
        }
        idle + IdleResources { ns: spin_until(due_ns), switches: 0 }
    }
}

/// Resources that a role used to wait for messages to be due, which are not part of the mechanism's cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdleResources {
    /// CPU time in nanoseconds.
    pub ns: u64,
    /// Voluntary context switches.
    pub switches: u64,
}

impl Add for IdleResources {
    type Output = IdleResources;

    fn add(self, other: IdleResources) -> IdleResources {
        IdleResources { ns: self.ns + other.ns, switches: self.switches + other.switches }
    }
}

/// Numbers of messages that were sent later than they were due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LateSends {
    /// All late messages.
    pub all: u64,
    /// Late messages that waited for no other message.
    pub by_timer: TimerLateness,
}

/// Busy-waits until `due_ns`, and returns for how long, in nanoseconds.
fn spin_until(due_ns: u64) -> u64 {
    let begin = clock::now_ns();
    let mut now = begin;
    while now < due_ns {
        cpu::pause();
        now = clock::now_ns();
    }
    now - begin
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed_from(arrival: Arrival, times_ns: [u64; 3]) -> (u64, LateSends) {
        let mut late = LateSends::default();
        let schedule = Schedule { arrival, wait: Wait::Block };
        (schedule.timed_from_ns(times_ns, &mut late), late)
    }

    #[test]
    fn a_message_that_waited_for_another_is_timed_from_when_it_was_due() {
        let every = Arrival::Interval(100_000);
        let late = |all, sends, ns| LateSends {
            all,
            by_timer: TimerLateness { sends, total_ns: ns, longest_ns: ns },
        };
        // Due at 1 ms. The sender was free before, and its timer woke it 90 us late.
        assert_eq!(timed_from(every, [1_000_000, 900_000, 1_090_000]), (1_090_000, late(1, 1, 90_000)));
        // The previous message was answered 5 ms after this one was due.
        assert_eq!(timed_from(every, [1_000_000, 6_000_000, 6_000_100]), (1_000_000, late(1, 0, 0)));
        assert_eq!(timed_from(every, [1_000_000, 900_000, 1_000_900]), (1_000_000, late(0, 0, 0)));
        let gap = Arrival::ThinkTime(100_000);
        assert_eq!(timed_from(gap, [1_000_000, 900_000, 1_090_000]), (1_090_000, late(0, 0, 0)));
    }

    #[test]
    fn a_stall_is_in_the_time_of_every_message_that_it_delayed() {
        // A message every 100 us. Each takes 10 us, except the third, which takes 1 ms.
        let schedule = Schedule { arrival: Arrival::Interval(100_000), wait: Wait::Block };
        let (mut late, mut last, mut due, mut times) = (LateSends::default(), 0, 0, Vec::new());
        for message in 0..20 {
            due = schedule.next_ns(due, last);
            let sent = due.max(last);
            let from = schedule.timed_from_ns([due, last, sent], &mut late);
            last = sent + if message == 2 { 1_000_000 } else { 10_000 };
            times.push((last - from) / 1_000);
        }
        assert_eq!(times[..6], [10, 10, 1_000, 910, 820, 730]);
        assert_eq!((late.all, late.by_timer.sends), (10, 0));
    }
}

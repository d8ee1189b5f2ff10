//! The schedule of messages that are not sent as soon as possible, and how a role waits until a message is due.

use crate::random::exponential;
use crate::replay::ReplayedMessages;
use furlong_model::{Arrival, TimerLateness, Wait};
use furlong_os::{clock, cpu};
use std::ops::Add;
use std::sync::Arc;

/// Maximum delay of a message that counts as punctual, in nanoseconds: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// Maximum delay with which a timer is expected to wake, in nanoseconds.
const TIMER_SLACK_NS: u64 = 100_000;

/// The times at which messages are due. Two schedules with the same key have the same times, so that a receiver knows those of
/// its sender.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrival: Arrival,
    /// Wait strategy of the benchmark, with which a role also waits until a message is due.
    wait: Wait,
    key: u64,
    /// Number of the next message, from 0.
    number: u64,
    /// Interval between two messages of one part with messages, in nanoseconds.
    interval_in_on_ns: u64,
    /// Time since the part with messages began, in nanoseconds.
    on_ns: u64,
    /// Messages of the trace, if the times are those of a trace.
    replay: Option<Arc<ReplayedMessages>>,
}

impl Schedule {
    /// Creates a schedule at this pace. `key` selects the random times.
    pub fn new(arrival: Arrival, wait: Wait, key: u64) -> Schedule {
        let interval_in_on_ns = arrival.interval_in_on_ns();
        Schedule { arrival, wait, key, number: 0, interval_in_on_ns, on_ns: 0, replay: None }
    }

    /// Returns the schedule with the messages of a trace.
    #[must_use]
    pub fn replaying(self, replay: Option<Arc<ReplayedMessages>>) -> Schedule {
        Schedule { replay, ..self }
    }

    /// Returns when the next message is due, if the last one was due at `due_ns` and answered at `last_ns`.
    #[inline(always)]
    pub fn next_ns(&mut self, due_ns: u64, last_ns: u64) -> u64 {
        match self.arrival {
            Arrival::ClosedLoop => last_ns,
            Arrival::Interval(interval_ns) => due_ns + interval_ns,
            Arrival::ThinkTime(think_time_ns) => last_ns + think_time_ns,
            _ => due_ns + self.varying_interval_ns(),
        }
    }

    /// Returns the time between the last message and the next one, for a pace that varies.
    #[inline(never)]
    fn varying_interval_ns(&mut self) -> u64 {
        let number = self.number;
        self.number += 1;
        match self.arrival {
            Arrival::Poisson(mean_ns) => (exponential(self.key, number) * mean_ns as f64).round() as u64,
            Arrival::Burst { interval_ns, messages } => {
                let messages = u64::from(messages.get());
                if number.is_multiple_of(messages) { interval_ns * messages } else { 0 }
            }
            Arrival::OnOff { on_ns, off_ns, .. } => {
                self.on_ns += self.interval_in_on_ns;
                let periods = self.on_ns / on_ns;
                self.on_ns -= periods * on_ns;
                self.interval_in_on_ns + periods * off_ns
            }
            Arrival::Trace { .. } => self.replay.as_ref().map_or(0, |replay| replay.interval_ns(number)),
            Arrival::ClosedLoop | Arrival::Interval(_) | Arrival::ThinkTime(_) => 0,
        }
    }

    /// Returns the time from which a message is timed that was due at `due_ns` and sent at `sent_ns`, by a sender that was free
    /// for it at `free_ns`. Counts the message in `late` if it was late.
    ///
    /// At an interval, that is the time at which it was due, so that a message that waited for the one before it counts for all
    /// of that time. If no message delayed it, the sender's timer woke it late, and the message is timed from its send.
    #[inline(always)]
    pub fn timed_from_ns(&self, [due_ns, free_ns, sent_ns]: [u64; 3], late: &mut LateSends) -> u64 {
        if !self.is_open_loop() {
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

    /// Returns whether a loop of `budget_ns` ends that began at `start_ns`, after a message that was due at `due_ns`. A late sender
    /// still sends each message of a trace, for up to twice the time.
    #[inline(always)]
    pub fn is_over(&self, [start_ns, due_ns, now_ns]: [u64; 3], budget_ns: u64) -> bool {
        let elapsed_ns = now_ns.saturating_sub(start_ns);
        if self.is_trace() {
            return due_ns.saturating_sub(start_ns) >= budget_ns || elapsed_ns / 2 >= budget_ns;
        }
        elapsed_ns >= budget_ns
    }

    /// Returns whether messages are due at times that do not depend on the answers.
    #[inline(always)]
    pub fn is_open_loop(&self) -> bool {
        self.arrival.interval_ns().is_some()
    }

    /// Returns whether the messages are those of a trace.
    pub fn is_trace(&self) -> bool {
        matches!(self.arrival, Arrival::Trace { .. })
    }

    /// Returns the late sends to report, if messages were due at fixed times.
    pub fn reported(&self, late: LateSends) -> Option<LateSends> {
        self.is_open_loop().then_some(late)
    }

    /// Passes the time between two attempts to receive. Yields unless the benchmark busy-waits, because the responder may need this
    /// CPU.
    pub fn pass_attempt(&self) {
        if self.wait == Wait::Spin { cpu::pause() } else { cpu::yield_now() }
    }

    /// Waits until a message is due, with the wait strategy of the benchmark, and returns the resources that this used.
    pub fn idle_until(&self, due_ns: u64) -> IdleResources {
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
pub(crate) fn spin_until(due_ns: u64) -> u64 {
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

    #[test]
    fn a_late_sender_sends_all_messages_of_a_trace() {
        let of = |arrival| Schedule::new(arrival, Wait::Block, 0);
        let trace = of(Arrival::Trace { interval_ns: 10, longest_ns: 10 });
        assert!(!trace.is_over([1000, 1090, 1150], 100), "the message that is due after 100 ns is missing");
        assert!(trace.is_over([1000, 1100, 1150], 100) && trace.is_over([1000, 1090, 1200], 100));
        assert!(of(Arrival::Interval(10)).is_over([1000, 1090, 1150], 100));
    }

    fn timed_from(arrival: Arrival, times_ns: [u64; 3]) -> (u64, LateSends) {
        let mut late = LateSends::default();
        let schedule = Schedule::new(arrival, Wait::Block, 0);
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
        let mut schedule = Schedule::new(Arrival::Interval(100_000), Wait::Block, 0);
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

    /// Returns the intervals of the first `count` messages in nanoseconds.
    fn intervals(arrival: Arrival, key: u64, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(arrival, Wait::Block, key);
        (0..count).map(|_| schedule.next_ns(0, 0)).collect()
    }

    /// The largest distance between the distribution of the intervals and the exponential one (Kolmogorov, Smirnov) is below
    /// its 99.99 % quantile, 2.23 / sqrt(n).
    #[test]
    fn poisson_intervals_have_an_exponential_distribution() {
        for key in 0..20 {
            let mut intervals = intervals(Arrival::Poisson(10_000), key, 20_000);
            intervals.sort_unstable();
            let count = intervals.len() as f64;
            let distances = intervals.iter().enumerate().map(|(place, interval_ns)| {
                let expected = 1.0 - (-(*interval_ns as f64) / 10_000.0).exp();
                (expected - (place as f64 + 0.5) / count).abs()
            });
            assert!(distances.fold(0.0, f64::max) < 2.23 / count.sqrt(), "key {key}");
        }
        // Successive intervals are not correlated.
        let intervals = intervals(Arrival::Poisson(10_000), 7, 20_000);
        let product = |pair: &[u64]| (pair[0] as f64 / 10_000.0 - 1.0) * (pair[1] as f64 / 10_000.0 - 1.0);
        let correlation = intervals.windows(2).map(product).sum::<f64>() / intervals.len() as f64;
        assert!(correlation.abs() < 4.0 / (intervals.len() as f64).sqrt(), "{correlation}");
    }

    #[test]
    fn bursts_and_parts_without_messages_keep_the_mean_rate() {
        let messages = std::num::NonZeroU32::new(3).unwrap();
        let burst = Arrival::Burst { interval_ns: 100, messages };
        assert_eq!(intervals(burst, 1, 7), [300, 0, 0, 300, 0, 0, 300]);
        // Ten messages per 1 us, all in the first 200 ns.
        let parts = Arrival::OnOff { interval_ns: 100, on_ns: 200, off_ns: 800 };
        let intervals = intervals(parts, 1, 1000);
        assert_eq!(intervals[..10], [20, 20, 20, 20, 20, 20, 20, 20, 20, 820]);
        assert_eq!(intervals.iter().sum::<u64>(), 100 * 1000);
    }
}

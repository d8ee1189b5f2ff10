//! Messages to every one of several receivers: over a separate link each, written in turn, or over one link that
//! broadcasts.
//!
//! The message rate is measured as with one receiver: the receiver with the least room holds the sender back. The times
//! until the first, the median and the last receiver has a message are measured with one message in flight, or with up to
//! [`FAN_OUT_BOUND`] if messages are due at certain times. Each receiver writes the times of arrival to the control page. The sender
//! reads them, and sends the next message when fewer are in flight. While it waits for that it yields its CPU, and the CPU time of the
//! wait is reported separately.

use crate::channel::Channel;
use crate::messages::{LoopResult, Messages};
use crate::one_way::{begin_receiving, begin_sending};
use crate::recorder::{Recorder, Timing};
use crate::role_error::{RoleError, step};
use crate::schedule::{IdleResources, LateSends, Schedule};
use furlong_mechanism::Message;
use furlong_model::{Access, FAN_OUT_BOUND, Fault, OpenLoop, Phase, Stall};
use furlong_os::{clock, cpu};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

/// The sender's ends of the links to all receivers.
#[derive(Debug)]
pub struct FanOut<C>(pub Vec<C>);

impl<C: Channel> Channel for FanOut<C> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        for end in &mut self.0 {
            end.send(message)?;
        }
        Ok(())
    }

    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        Err(io::Error::other("a sender to several receivers gets no answer"))
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.0.iter().map(|end| end.unread_buffers(size_bytes)).max().unwrap_or_default()
    }

    fn access(&self) -> Access {
        self.0.first().map(Channel::access).unwrap_or_default()
    }
}

/// Times until the first, the median and the last receiver had a message.
pub struct ReachTimes {
    times: [Recorder; 3],
}

impl ReachTimes {
    /// Creates empty histograms.
    pub fn new() -> Result<ReachTimes, RoleError> {
        let recorder = || Recorder::for_samples(0, None);
        Ok(ReachTimes { times: [recorder()?, recorder()?, recorder()?] })
    }

    /// Records the times of a message that all receivers have, in order.
    pub fn keep(&mut self, from_ns: u64, arrivals_ns: &[u64]) {
        let last = arrivals_ns.len() - 1;
        for (times, place) in self.times.iter_mut().zip([0, last / 2, last]) {
            times.keep(arrivals_ns[place].saturating_sub(from_ns), 1);
        }
    }

    /// Returns the times of this number of messages that another program's loop sent in this time.
    pub fn timing_of(self, messages: u64, elapsed_ns: u64) -> Result<Timing, RoleError> {
        self.timing(&LoopResult::seen_from_outside(messages, elapsed_ns))
    }

    /// Returns the times of a loop that took `result`: until the last receiver had a message, and also until the first
    /// and the median had it.
    pub fn timing(self, result: &LoopResult) -> Result<Timing, RoleError> {
        let none = || step::<Timing, _>(Phase::Finish, "keep times", Err("none were kept"));
        let timing = |times: Recorder| times.timing(result, 1)?.map_or_else(none, Ok);
        let [first, median, last] = self.times;
        let reached = [timing(first)?.histogram, timing(median)?.histogram];
        Ok(Timing { reached: Some(reached), ..timing(last)? })
    }
}

/// Messages in flight to all receivers: those that some receiver does not have yet.
struct InFlight<'a> {
    /// Times from which they are timed, the oldest first.
    from_ns: VecDeque<u64>,
    arrivals_ns: Vec<u64>,
    reached: &'a mut ReachTimes,
    tally: OpenLoop,
}

impl InFlight<'_> {
    /// Keeps the times of the messages that all receivers have.
    fn settle(&mut self, messages: &Messages<'_>) {
        let page = messages.control_page;
        while let Some(from_ns) = self.from_ns.front() {
            let oldest = messages.done + 1 - self.from_ns.len() as u64;
            if page.arrivals(oldest, &mut self.arrivals_ns).is_none() {
                return;
            }
            self.reached.keep(*from_ns, &self.arrivals_ns);
            self.from_ns.pop_front();
        }
    }

    /// Adds the message that was sent last.
    fn add(&mut self, from_ns: u64) {
        self.from_ns.push_back(from_ns);
        self.tally.most_in_flight = self.tally.most_in_flight.max(self.from_ns.len() as u32);
    }

    /// Waits until at most this number is in flight, and returns the resources that this used.
    fn wait_for(&mut self, most: usize, messages: &Messages<'_>) -> IdleResources {
        self.settle(messages);
        if self.from_ns.len() <= most {
            return IdleResources::default();
        }
        let used_before_ns = clock::thread_processor_ns();
        while self.from_ns.len() > most {
            cpu::yield_now();
            self.settle(messages);
        }
        IdleResources { ns: clock::thread_processor_ns() - used_before_ns, switches: 0 }
    }
}

/// Sends messages for at least `budget_ns`, each when it is due and few enough are in flight, and records the times until
/// the receivers had them.
pub fn send_in_turn(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    mut schedule: Schedule,
    reached: &mut ReachTimes,
) -> Result<LoopResult, RoleError> {
    let before = begin_sending(channel, messages)?;
    // The time of a lost message would be that of an older one.
    let is_open = schedule.is_open_loop() && !messages.may_lose;
    let bound = if is_open { FAN_OUT_BOUND as usize } else { 1 };
    let (from_ns, arrivals_ns) = (VecDeque::with_capacity(bound), messages.control_page.room_for_arrivals());
    let mut in_flight = InFlight { from_ns, arrivals_ns, reached, tally: OpenLoop::default() };
    let start = clock::now_ns();
    messages.control_page.announce_start(start);
    let (mut last, mut due, mut late, mut idle) =
        (start, start, LateSends::default(), IdleResources::default());
    loop {
        due = schedule.next_ns(due, last);
        messages.prepare_next();
        idle = idle + schedule.idle_until(due);
        in_flight.settle(messages);
        if in_flight.from_ns.len() == bound {
            in_flight.tally.sends_at_bound += 1;
            idle = idle + in_flight.wait_for(bound - 1, messages);
            last = clock::now_ns();
        }
        let sent = clock::now_ns();
        let from = schedule.timed_from_ns([due, last, sent], &mut late);
        let ends = sent.max(due) - start >= budget_ns;
        if ends {
            messages.control_page.announce_last(messages.done + 1);
        }
        messages.send(channel)?;
        messages.done += 1;
        in_flight.add(from);
        if ends || !is_open {
            idle = idle + in_flight.wait_for(0, messages);
        }
        last = clock::now_ns();
        if ends {
            let (late, open_loop) = (schedule.reported(late), is_open.then_some(in_flight.tally));
            return Ok(LoopResult { idle, late, open_loop, ..messages.since(before, last - start)? });
        }
    }
}

/// Receives messages until the sender has announced the end, but sleeps for half of `budget_ns` once a quarter of it is
/// over. Returns how many messages the other receivers got in that time, as they note on their lines of the control
/// page.
pub fn receive_with_a_stall(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    budget_ns: u64,
) -> Result<Stall, RoleError> {
    begin_receiving(channel, messages)?;
    let (start, first) = (clock::now_ns(), messages.received_by_others());
    let mut stall = None;
    loop {
        let length = messages.receive(channel)?;
        messages.took(length)?;
        messages.note_taken();
        let asleep_at = clock::now_ns();
        if stall.is_none() && asleep_at.saturating_sub(start) >= budget_ns / 4 {
            let before = messages.received_by_others();
            std::thread::sleep(Duration::from_nanos(budget_ns / 2));
            stall = Some(Stall {
                awake_ns: asleep_at.saturating_sub(start),
                awake_messages: before - first,
                asleep_ns: clock::now_ns().saturating_sub(asleep_at),
                asleep_messages: messages.received_by_others() - before,
            });
        }
        if messages.control_page.is_last(messages.done) {
            let too_few =
                || RoleError::new(Fault::Error, "too few messages for a stall: use a longer --budget");
            return stall.ok_or_else(too_few);
        }
    }
}

/// Receives messages until the sender has announced the end, and notes when each message arrived.
pub fn receive_in_turn(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
) -> Result<LoopResult, RoleError> {
    let before = begin_receiving(channel, messages)?;
    loop {
        let length = messages.receive(channel)?;
        let now = clock::now_ns();
        messages.took(length)?;
        messages.note_arrival(now);
        if messages.control_page.is_last(messages.done) {
            return messages.since(before, now.saturating_sub(messages.control_page.start()));
        }
    }
}

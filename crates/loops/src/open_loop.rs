//! The measured loop of round trips in an open loop: each message is sent when it is due, up to a bound of messages in flight.
//!
//! One thread sends and receives. While a message is in flight, it never blocks: it asks for a response repeatedly until the next
//! message is due. So the wait strategy is that of the responder, and the time of a message has no wake-up of the initiator.
//! The responder's loop is that of other round trips. Responses arrive in the order of their messages, so the time of the oldest
//! message in flight is recorded, from when it was due.

use crate::channel::Channel;
use crate::messages::{LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::round_trip::{begin, end};
use crate::schedule::{IdleResources, LateSends, Schedule};
use furlong_model::OpenLoop;
use furlong_os::clock;

/// Longest time between two attempts to receive that is counted as waiting, in nanoseconds. In a longer one, other processes used the
/// CPU.
const LONGEST_ATTEMPT_NS: u64 = 5_000;

/// Makes round trips for at least `budget_ns`, each started when it is due if fewer than `window` are in flight. Passes the time of each
/// to the recorder.
pub fn initiate_open_loop(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    (schedule, window): (Schedule, u32),
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let before = begin(channel, messages)?;
    messages.settle()?;
    let start = clock::now_ns();
    let first = messages.done;
    let mut sender = DueSender::new(schedule, window, first, start);
    let (mut idle, mut last, mut last_attempt, mut go_on) = (IdleResources::default(), start, None, true);
    loop {
        let now = clock::now_ns();
        if let Some(attempt) = last_attempt.take() {
            idle.ns += Some(now - attempt).filter(|ns| *ns <= LONGEST_ATTEMPT_NS).unwrap_or_default();
        }
        // One message is sent even if it is due after the end.
        go_on &=
            sender.sent == first || !sender.schedule.is_over([start, sender.last_due_ns, now], budget_ns);
        if go_on && now >= sender.due_ns {
            sender.send(channel, messages, now)?;
        }
        if sender.sent == messages.done {
            if !go_on {
                break;
            }
            let is_first = sender.sent == first;
            let is_trace = sender.schedule.is_trace();
            let end_ns = if is_first || is_trace { u64::MAX } else { start.saturating_add(budget_ns) };
            let until_ns = sender.due_ns.min(end_ns);
            idle = idle + sender.schedule.idle_until(until_ns);
        } else if let Some(length) = messages.try_receive(channel)? {
            last = clock::now_ns();
            go_on &= recorder.keep(last.wrapping_sub(sender.timed_from_ns(messages.done + 1)), 1);
            messages.took(length)?;
            sender.free_ns = last;
        } else {
            last_attempt = Some(now);
            sender.schedule.pass_attempt();
        }
    }
    let late = sender.schedule.reported(sender.late);
    let result = end(channel, messages, before, last.wrapping_sub(start))?;
    Ok(LoopResult { idle, late, open_loop: Some(sender.tally), ..result })
}

/// The sending half of the loop.
struct DueSender {
    schedule: Schedule,
    window: u32,
    /// Number of the last message that was sent.
    sent: u64,
    /// Time at which the next message is due.
    due_ns: u64,
    /// Time at which the last message was due.
    last_due_ns: u64,
    /// Whether the next message was due while the window was full.
    is_held: bool,
    /// End of the last send or receive.
    free_ns: u64,
    /// Time from which each message in flight is timed: a ring buffer, whose length is a power of two.
    from_ns: Vec<u64>,
    late: LateSends,
    tally: OpenLoop,
}

impl DueSender {
    fn new(mut schedule: Schedule, window: u32, sent: u64, start_ns: u64) -> DueSender {
        let due_ns = schedule.next_ns(start_ns, start_ns);
        let from_ns = vec![0; (window as usize).next_power_of_two()];
        let (late, tally) = (LateSends::default(), OpenLoop::default());
        let (last_due_ns, free_ns, is_held) = (start_ns, start_ns, false);
        DueSender { schedule, window, sent, due_ns, last_due_ns, is_held, free_ns, from_ns, late, tally }
    }

    /// Returns the time from which a message in flight is timed.
    fn timed_from_ns(&self, number: u64) -> u64 {
        self.from_ns[self.place(number)]
    }

    fn place(&self, number: u64) -> usize {
        number as usize & (self.from_ns.len() - 1)
    }

    /// Sends the next message, which is due, unless the window is full.
    fn send(
        &mut self,
        channel: &mut dyn Channel,
        messages: &mut Messages<'_>,
        now_ns: u64,
    ) -> Result<(), RoleError> {
        let in_flight = (self.sent - messages.done) as u32;
        if in_flight == self.window {
            self.tally.sends_at_bound += u64::from(!std::mem::replace(&mut self.is_held, true));
            return Ok(());
        }
        let number = self.sent + 1;
        let place = self.place(number);
        self.from_ns[place] =
            self.schedule.timed_from_ns([self.due_ns, self.free_ns, now_ns], &mut self.late);
        messages.send_number(channel, number)?;
        messages.prepare(number + 1);
        self.tally.most_in_flight = self.tally.most_in_flight.max(in_flight + 1);
        (self.sent, self.is_held) = (number, false);
        self.last_due_ns = self.due_ns;
        self.due_ns = self.schedule.next_ns(self.due_ns, now_ns);
        self.free_ns = clock::now_ns();
        Ok(())
    }
}

//! The measured loop of round trips: one message there and one back, with one message in flight.
//!
//! The initiator sends, and the responder answers with another message. All work that is not the mechanism's (writing the next
//! stamp, checking the last message, counting) is done while a message is in flight, so that it does not lengthen the round
//! trip. Only the clock is read between a receive and the next send.

use crate::channel::Channel;
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::{IdleResources, LateSends, Schedule};
use furlong_os::clock;

/// The loop of round trips that follow each other at once, compiled for each type of channel.
pub trait Initiate: Channel {
    /// Makes round trips for at least `budget_ns`, `batch` per reading of the clock. Passes the time of each batch to the
    /// recorder, which may end the loop early.
    fn initiate(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError>;
}

/// The loop that answers, compiled for each type of channel.
pub trait Respond: Channel {
    /// Answers until the initiator has announced the end.
    fn respond(&mut self, messages: &mut Messages<'_>) -> Result<LoopResult, RoleError>;
}

impl<C: Channel> Initiate for C {
    fn initiate(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        let before = begin(self, messages)?;
        let start = clock::now_ns();
        let (mut last, mut sample, mut go_on) = (start, None, true);
        while go_on && last.wrapping_sub(start) < budget_ns {
            for _ in 0..batch {
                trip(self, messages, || {
                    if let Some(sample_ns) = sample.take() {
                        go_on = recorder.keep(sample_ns, batch);
                    }
                })?;
            }
            let now = clock::now_ns();
            sample = Some(now.wrapping_sub(last));
            last = now;
        }
        let result = end(self, messages, before, last.wrapping_sub(start))?;
        if let Some(sample_ns) = sample {
            recorder.keep(sample_ns, batch);
        }
        Ok(result)
    }
}

impl<C: Channel> Respond for C {
    fn respond(&mut self, messages: &mut Messages<'_>) -> Result<LoopResult, RoleError> {
        messages.prepare_next();
        let before = messages.baseline()?;
        loop {
            let length = messages.receive(self)?;
            messages.send(self)?;
            messages.done += 1;
            messages.note(messages.done, messages.done);
            messages.prepare_next();
            messages.unchecked = Some(length);
            messages.settle()?;
            if messages.control_page.is_last(messages.done) {
                return messages.since(before, 0);
            }
        }
    }
}

/// Makes round trips for at least `budget_ns`, each started when it is due, and passes the time of each to the recorder.
pub fn initiate_when_due(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    mut schedule: Schedule,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let before = begin(channel, messages)?;
    let start = clock::now_ns();
    let (mut last, mut due, mut late, mut idle) =
        (start, start, LateSends::default(), IdleResources::default());
    while !schedule.is_over([start, due, last], budget_ns) {
        due = schedule.next_ns(due, last);
        idle = idle + schedule.idle_until(due);
        let sent = clock::now_ns();
        let from = schedule.timed_from_ns([due, last, sent], &mut late);
        trip(channel, messages, || {})?;
        last = clock::now_ns();
        recorder.keep(last.wrapping_sub(from), 1);
    }
    let late = schedule.reported(late);
    Ok(LoopResult { idle, late, ..end(channel, messages, before, last.wrapping_sub(start))? })
}

/// Begins a loop after an untimed round trip that synchronises both roles.
#[inline(never)]
pub(crate) fn begin(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<Baseline, RoleError> {
    line_up(channel, messages)?;
    messages.baseline()
}

/// Synchronises both roles with an untimed round trip. The message that it receives is not checked yet.
pub fn line_up(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    messages.prepare_next();
    trip(channel, messages, || {})
}

/// Ends a loop that took `elapsed_ns`. The last round trip tells the responder to stop and is not timed.
pub(crate) fn end(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    before: Baseline,
    elapsed_ns: u64,
) -> Result<LoopResult, RoleError> {
    let result = messages.since(before, elapsed_ns)?;
    messages.control_page.announce_last(messages.done + 1);
    trip(channel, messages, || {})?;
    messages.settle()?;
    Ok(result)
}

/// Makes one round trip, and runs the closure while the message is in flight.
#[inline(always)]
fn trip<C: Channel + ?Sized>(
    channel: &mut C,
    messages: &mut Messages<'_>,
    meanwhile: impl FnOnce(),
) -> Result<(), RoleError> {
    messages.send(channel)?;
    meanwhile();
    messages.settle()?;
    messages.done += 1;
    messages.prepare_next();
    let length = messages.receive(channel)?;
    messages.unchecked = Some(length);
    Ok(())
}

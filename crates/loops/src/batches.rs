//! The measured loops of messages one way with several messages per call. They make one virtual call per batch.
//!
//! A sender that is not paced sends full batches. If messages are due at fixed times, a batch contains the messages that are due,
//! so no message waits for others. A receiver takes the messages that one call returns, up to a full batch.

use crate::channel::Channel;
use crate::in_batches::{Amount, Arrivals};
use crate::message_loop::MessageLoop;
use crate::messages::{LoopResult, Messages};
use crate::one_way::{begin_receiving, begin_sending, receive_stream_when_due, send_stream_when_due};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::{IdleResources, LateSends, Schedule};
use furlong_mechanism::MessageBatch;
use furlong_os::clock;

/// Sends messages for at least `budget_ns`, several per call if requested, and reads the clock after `per_reading` messages.
pub fn send_stream(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    per_reading: u32,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    match messages.batch.take() {
        None => message_loop.sender()?.send_stream(messages, budget_ns, per_reading, recorder),
        Some(batch) => Batches { channel: message_loop.channel(), messages, batch, number: 0 }
            .send(Amount { budget_ns, batch: per_reading }, recorder),
    }
}

/// Receives messages until the initiator has announced the end, several per call if requested. Passes the time of each
/// `per_sample` messages to the recorder.
pub fn receive_stream(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    per_sample: u32,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    match messages.batch.take() {
        None => message_loop.one_end()?.receive_stream(messages, per_sample, recorder),
        Some(batch) => Batches { channel: message_loop.channel(), messages, batch, number: 0 }
            .receive(Amount { budget_ns: u64::MAX, batch: per_sample }, recorder),
    }
}

/// Sends messages for at least `budget_ns`, each when it is due, and those that are due together in one call if requested.
pub fn send_when_due(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    schedule: Schedule,
) -> Result<LoopResult, RoleError> {
    let channel = message_loop.channel();
    match messages.batch.take() {
        None => send_stream_when_due(channel, messages, budget_ns, schedule),
        Some(batch) => Batches { channel, messages, batch, number: 0 }.send_when_due(budget_ns, schedule),
    }
}

/// Receives messages that are due at fixed times until the initiator has announced the end, several per call if requested.
/// Passes the time of each to the recorder.
pub fn receive_when_due(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    schedule: Schedule,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let channel = message_loop.channel();
    match messages.batch.take() {
        None => receive_stream_when_due(channel, messages, schedule, recorder),
        Some(batch) => Batches { channel, messages, batch, number: 0 }.receive_when_due(schedule, recorder),
    }
}

/// The batches of a role in one part.
struct Batches<'a, 'm> {
    channel: &'a mut dyn Channel,
    messages: &'a mut Messages<'m>,
    batch: MessageBatch,
    /// Number of batches so far.
    number: u64,
}

impl Batches<'_, '_> {
    fn send(mut self, amount: Amount, recorder: &mut Recorder) -> Result<LoopResult, RoleError> {
        let before = begin_sending(self.channel, self.messages)?;
        let start = clock::now_ns();
        self.messages.control_page.announce_start(start);
        let most = self.batch.most();
        let batches = (amount.batch as usize).div_ceil(most);
        let (mut last, mut go_on) = (start, true);
        while go_on && last.wrapping_sub(start) < amount.budget_ns {
            for _ in 0..batches {
                (0..most).for_each(|place| self.stamp(place));
                self.send_first(most)?;
            }
            let now = clock::now_ns();
            go_on = recorder.keep(now.wrapping_sub(last), (batches * most) as u32);
            last = now;
        }
        self.messages.control_page.announce_last(self.messages.done + 1);
        self.stamp(0);
        self.send_first(1)?;
        let result = self.messages.since(before, 0)?;
        Ok(self.ended(result))
    }

    fn send_when_due(mut self, budget_ns: u64, mut schedule: Schedule) -> Result<LoopResult, RoleError> {
        let before = begin_sending(self.channel, self.messages)?;
        let start = clock::now_ns();
        let page = self.messages.control_page;
        page.announce_start(start);
        let (mut free, mut late, mut idle) = (start, LateSends::default(), IdleResources::default());
        let (mut due, mut ends) = (schedule.next_ns(start, start), false);
        while !ends {
            idle = idle + schedule.idle_until(due);
            let sent = clock::now_ns();
            let mut count = 0;
            while count == 0 || (count < self.batch.most() && due <= sent && !ends) {
                self.stamp(count);
                count += 1;
                let from = schedule.timed_from_ns([due, free, sent], &mut late);
                if from != due {
                    page.announce_sent(self.messages.done + count as u64, from);
                }
                // The others waited for the first.
                free = sent;
                ends = sent.max(due).wrapping_sub(start) >= budget_ns;
                due = schedule.next_ns(due, due);
            }
            if ends {
                page.announce_late(late);
                page.announce_last(self.messages.done + count as u64);
            }
            self.send_first(count)?;
            free = clock::now_ns();
        }
        let result = self.messages.since(before, 0)?;
        Ok(self.ended(LoopResult { idle, ..result }))
    }

    fn receive(mut self, amount: Amount, recorder: &mut Recorder) -> Result<LoopResult, RoleError> {
        let before = begin_receiving(self.channel, self.messages)?;
        let page = self.messages.control_page;
        let mut count = self.receive_some()?;
        let mut arrivals = Arrivals::new(page.start(), amount, recorder);
        loop {
            for place in 0..count {
                self.check(place)?;
                let ended = page.is_last(self.messages.done);
                // Between hosts the last message has waited for its announcement, so its sample is not timed.
                if !ended || !page.is_of_one_host() || arrivals.elapsed_ns() == 0 {
                    arrivals.add(ended);
                }
                if ended {
                    let result = self.messages.since(before, arrivals.elapsed_ns())?;
                    return Ok(self.ended(result));
                }
            }
            count = self.receive_some()?;
        }
    }

    fn receive_when_due(
        mut self,
        mut schedule: Schedule,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        let before = begin_receiving(self.channel, self.messages)?;
        let page = self.messages.control_page;
        let mut due = 0;
        loop {
            let count = self.receive_some()?;
            let now = clock::now_ns();
            if due == 0 {
                due = page.start();
            }
            for place in 0..count {
                due = schedule.next_ns(due, due);
                let from = page.sent(self.messages.done + 1).unwrap_or(due);
                recorder.keep(now.saturating_sub(from), 1);
                self.check(place)?;
                if page.is_last(self.messages.done) {
                    let result = self.messages.since(before, now.saturating_sub(page.start()))?;
                    return Ok(self.ended(LoopResult { late: page.late(), ..result }));
                }
            }
        }
    }

    /// Stamps the message of the next batch at this place.
    #[inline(always)]
    fn stamp(&mut self, place: usize) {
        let number = self.messages.done + 1 + place as u64;
        self.messages.own.write(self.batch.message_mut(place), number as u32);
    }

    /// Sends the first messages of the batch.
    #[inline(always)]
    fn send_first(&mut self, count: usize) -> Result<(), RoleError> {
        let sent = self.channel.send_batch(&self.batch, count);
        sent.map_err(|error| RoleError::from_call("send", error))?;
        self.messages.done += count as u64;
        self.number += 1;
        Ok(())
    }

    /// Receives the next messages, and returns their number.
    #[inline(always)]
    fn receive_some(&mut self) -> Result<usize, RoleError> {
        self.number += 1;
        self.channel.recv_batch(&mut self.batch).map_err(|error| RoleError::from_call("receive", error))
    }

    /// Counts and checks a received message.
    #[inline(always)]
    fn check(&mut self, place: usize) -> Result<(), RoleError> {
        let (message, length) = (self.batch.message(place), self.batch.lengths[place]);
        self.messages.done += 1;
        let number = self.messages.done as u32;
        if !self.messages.other.holds(message, length, number) {
            return Err(self.messages.other.explain(message, length, number).into());
        }
        self.messages.note_taken();
        Ok(())
    }

    /// Puts the batch back for the next part, and adds the number of batches to the result.
    fn ended(self, result: LoopResult) -> LoopResult {
        self.messages.batch = Some(self.batch);
        LoopResult { batches: Some(self.number), ..result }
    }
}
